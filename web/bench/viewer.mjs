// A viewer in a browser, and what is seen on its canvas.

import { patience, until } from "../e2e/until.mjs";
import { bits, block } from "./content.mjs";

/** One open page with the picture. */
export class Viewer {
  /** Opens a page; with `places`, it also notes when the picture was there for the first time. */
  static async open(context, url, places = null) {
    const viewer = new Viewer();
    viewer.page = await context.newPage();
    await viewer.page.addInitScript(observe, { places, bits, block, patience });
    viewer.asked = Date.now();
    await viewer.page.goto(url);
    return viewer;
  }

  /** Milliseconds from asking for the page to its first picture. */
  async firstPicture() {
    return (await this.page.evaluate(() => window.bench.first)) - this.asked;
  }

  /** Where on the screen the page's boxes and bars are. */
  places() {
    return until("the page is seen", () => this.page.evaluate(() => window.bench.find()));
  }

  /** Milliseconds from just before `click` to the changed pixel, and to the end of the click itself. */
  async timeClick(places, click) {
    await this.page.evaluate((place) => window.bench.arm(place), places.watched);
    const clicked = Date.now();
    const [seen, answered] = await Promise.all([
      this.page.evaluate(() => window.bench.changed),
      click(...places.flip).then(() => Date.now()),
    ]);
    return { seen: seen - clicked, answered: answered - clicked };
  }

  /** What is seen of the scrolling page in some milliseconds. */
  count(places, duration) {
    return this.page.evaluate(([places, duration]) => window.bench.count(places, duration), [places, duration]);
  }

  async close() {
    await this.page.close();
  }
}

/** Runs in the page before its own scripts. */
function observe({ places, bits, block, patience }) {
  const bench = { bytes: 0 };
  window.bench = bench;

  // noVNC looks closely at its socket, so it gets a real one.
  window.WebSocket = new Proxy(WebSocket, {
    construct(target, args) {
      const socket = new target(...args);
      socket.addEventListener("message", ({ data }) => (bench.bytes += data.byteLength ?? data.size ?? data.length));
      return socket;
    },
  });

  const read = (x, y, width, height) => {
    const canvas = document.querySelector(".screen canvas");
    if (!canvas || canvas.width === 0) return null;
    return canvas.getContext("2d").getImageData(x, y, width, height).data;
  };
  const isRed = (data, at) => data[at] > 150 && data[at + 1] < 60 && data[at + 2] < 60;
  const isGreen = (data, at) => data[at] < 60 && data[at + 1] > 110 && data[at + 2] < 60;
  const isBlue = (data, at) => data[at] < 60 && data[at + 1] < 60 && data[at + 2] > 150;
  const isMagenta = (data, at) => data[at] > 190 && data[at + 1] < 80 && data[at + 2] > 190;

  /** Once per animation frame, until the answer is true; returns when that was. */
  const eachFrame = (ask) =>
    new Promise((resolve, reject) => {
      const end = Date.now() + patience;
      const look = () => {
        if (ask()) resolve(Date.now());
        else if (Date.now() > end) reject(new Error("what was waited for was not seen"));
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    });

  if (places) {
    bench.first = eachFrame(() => {
      const box = read(...places.watched, 1, 1);
      const end = box && read(places.bottom[0], places.bottom[1], 1, 1);
      return end && (isRed(box, 0) || isGreen(box, 0)) && isMagenta(end, 0);
    });
  }

  bench.find = () => {
    const canvas = document.querySelector(".screen canvas");
    if (!canvas || canvas.width === 0) return null;
    const { width, height } = canvas;
    const data = read(0, 0, width, height);
    // The rows where that many pixels in a row have the colour, and where they begin.
    const runs = (has, least) => {
      const found = [];
      for (let y = 0; y < height; y += 1) {
        for (let x = 0, run = 0; x < width; x += 1) {
          run = has(data, (y * width + x) * 4) ? run + 1 : 0;
          if (run === least) {
            found.push({ x: x - least + 1, y });
            break;
          }
        }
      }
      return found;
    };
    const flip = runs((data, at) => isRed(data, at) || isGreen(data, at), 200);
    const go = runs(isBlue, 200);
    const bars = runs(isMagenta, block - 2);
    const [top, bottom] = [bars.filter(({ y }) => y < height / 2), bars.filter(({ y }) => y >= height / 2)];
    if ([flip, go].some(({ length }) => length < 50) || [top, bottom].some(({ length }) => length < 6)) return null;
    const middle = (rows, dx, dy = 0) => [rows[0].x + dx, rows[Math.floor(rows.length / 2)].y + dy];
    return {
      // The pointer is in the picture, so what is watched is away from where is clicked.
      flip: middle(flip, 40),
      watched: middle(flip, 190, -12),
      go: middle(go, 40),
      top: middle(top, block / 2),
      bottom: middle(bottom, block / 2),
      screen: [width, height],
    };
  };

  bench.arm = (place) => {
    const green = isGreen(read(...place, 1, 1), 0);
    bench.changed = eachFrame(() => (green ? isRed : isGreen)(read(...place, 1, 1), 0));
  };

  /** The two numbers of a bar; null if it has no beginning. */
  const decode = ([x, y]) => {
    const data = read(x, y, block * (bits + 1), 1);
    if (!isMagenta(data, 0)) return null;
    let [time, number] = [0, 0];
    for (let bit = 0; bit < bits; bit += 1) {
      const set = data[(bit + 1) * block * 4 + 1] > 127 ? 1 : 0;
      if (bit < 16) time |= set << bit;
      else number |= set << (bit - 16);
    }
    return { time, number };
  };

  bench.count = async (places, duration) => {
    const [begin, bytes] = [Date.now(), bench.bytes];
    const [seen, ages] = [new Set(), []];
    let [looks, torn, shown] = [0, 0, null];
    let [first, last] = [null, null];
    await eachFrame(() => {
      const now = Date.now();
      const [top, bottom] = [decode(places.top), decode(places.bottom)];
      looks += 1;
      if (!top || !bottom || top.number !== bottom.number || top.time !== bottom.time) torn += 1;
      else if (top.number !== shown) {
        shown = top.number;
        seen.add(shown);
        ages.push((now - top.time) & 0xffff);
        first ??= top;
        last = top;
      }
      return now - begin >= duration;
    });
    const seconds = (Date.now() - begin) / 1000;
    const drawn = last && last !== first ? ((last.number - first.number) & 0xffff) * 1000 : 0;
    return {
      fps: seen.size / seconds,
      ages,
      torn: torn / looks,
      looks: looks / seconds,
      drawn: drawn ? drawn / ((last.time - first.time) & 0xffff) : 0,
      mbits: ((bench.bytes - bytes) * 8) / seconds / 1e6,
    };
  };
}
