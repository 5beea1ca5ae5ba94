// What watching costs and how late the picture is: helmdeck beside the usual stack, in one run on this machine.
//
//   HELMDECK_BIN=../target/release/helmdeck npm run bench
//
// Needs root or unprivileged user namespaces, as helmdeck does, and besides chromium the Debian packages xvfb,
// x11vnc, websockify and xdotool, which are no part of helmdeck. BENCH_QUICK=1 takes few samples, to try the
// bench itself. The table goes to standard output, all else to standard error.

import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { chromium } from "playwright-core";
import { measure } from "./cpu.mjs";
import { Ours } from "./ours.mjs";
import { Peers } from "./peers.mjs";
import { costs, spread } from "./table.mjs";
import { Viewer } from "./viewer.mjs";
import { Watcher } from "./watcher.mjs";

const quick = Boolean(process.env.BENCH_QUICK);
const opens = quick ? 2 : 8;
const clicks = quick ? 3 : 30;
const crowd = 10;
const duration = quick ? 2000 : 10_000;
/** How long things may calm down before something is measured. */
const rest = quick ? 1000 : 3000;
const geometry = "1280x800";
const viewport = { width: 1280, height: 800 };

const undo = [];
let interrupted = false;
let cleaning = Promise.resolve();
/** Notes how to end what was just started. */
function cleanup(act) {
  undo.push(act);
  if (interrupted) throw new Error("interrupted");
}
function cleanUp() {
  cleaning = cleaning.then(async () => {
    while (undo.length > 0) {
      try {
        await undo.pop()();
      } catch (error) {
        console.error(error);
        process.exitCode = 1;
      }
    }
  });
  return cleaning;
}
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  // What goes on fails for want of what was ended, and that ends the bench.
  process.on(signal, () => {
    interrupted = true;
    void cleanUp();
  });
}

const results = new Map();
try {
  const load = loadavg();
  say("starting both desktops");
  const sides = [await Ours.start(geometry, cleanup), await Peers.start(geometry, cleanup)];
  const browser = await openBrowser();
  cleanup(() => browser.close());
  for (const side of sides) {
    results.set(side, { cold: [], warm: [], clicks: [], calls: [] });
    side.context = await browser.newContext({ viewport });
    const viewer = await Viewer.open(side.context, await side.page());
    side.places = await viewer.places();
    say(`${side.name}: ${JSON.stringify(side.places)}`);
    await viewer.close();
  }
  await sleep(rest);

  // The two take turns, so that whatever else this machine does hits both.
  say("opening the viewer");
  for (let round = 0; round < opens; round += 1) {
    for (const side of sides) {
      const fresh = await browser.newContext({ viewport });
      results.get(side).cold.push(await timeOpening(side, fresh));
      await fresh.close();
      results.get(side).warm.push(await timeOpening(side, side.context));
    }
  }
  say("clicking");
  await withViewers(sides, async (viewers) => {
    for (let round = 0; round < clicks; round += 1) {
      for (const [index, side] of sides.entries()) {
        await sleep(250 + Math.random() * 100);
        const time = await viewers[index].timeClick(side.places, (x, y) => side.click(x, y));
        results.get(side).clicks.push(time.seen);
        results.get(side).calls.push(time.answered);
      }
    }
  });
  for (const side of sides) {
    say(`${side.name}: idle, 1 viewer`);
    await withViewers([side], async () => {
      await sleep(rest);
      results.get(side).idle = await measure(side.parts, () => sleep(duration));
    });
  }
  for (const side of sides) {
    say(`${side.name}: idle, ${crowd} viewers`);
    results.get(side).crowd = await measureCrowd(side);
  }
  for (const side of sides) {
    say(`${side.name}: scrolling, 1 viewer`);
    await withViewers([side], async ([viewer]) => {
      await side.click(...side.places.go);
      await sleep(rest);
      results.get(side).scroll = await measure(side.parts, () => viewer.count(side.places, duration));
      await side.click(...side.places.go);
    });
  }
  await printTable(load, sides.map((side) => results.get(side)), sides);
} finally {
  await cleanUp();
}

function openBrowser() {
  // Chromium's sandbox refuses to be started by root; these two pages are all it shows.
  const args = process.getuid() === 0 ? ["--no-sandbox"] : [];
  const deaf = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false };
  return chromium.launch({ executablePath: "/usr/bin/chromium", args, ...deaf });
}

async function timeOpening(side, context) {
  const viewer = await Viewer.open(context, await side.page(), side.places);
  const time = await viewer.firstPicture();
  await viewer.close();
  await sleep(300);
  return time;
}

/** With a page open on each side. */
async function withViewers(sides, work) {
  const viewers = [];
  for (const side of sides) {
    const viewer = await Viewer.open(side.context, await side.page(), side.places);
    await viewer.firstPicture();
    viewers.push(viewer);
  }
  await sleep(rest);
  const result = await work(viewers);
  for (const viewer of viewers) await viewer.close();
  return result;
}

async function measureCrowd(side) {
  const watchers = [];
  for (let index = 0; index < crowd; index += 1) watchers.push(await Watcher.connect(await side.socket()));
  await sleep(rest);
  const before = watchers.map(({ updates }) => updates);
  const measured = await measure(side.parts, () => sleep(duration));
  const failed = watchers.find(({ failure }) => failure !== null);
  if (failed) throw new Error(`a viewer was lost: ${failed.failure}`);
  measured.updates = watchers.map(({ updates }, index) => updates - before[index]);
  say(`  updates meanwhile: ${measured.updates}`);
  for (const watcher of watchers) await watcher.close();
  return measured;
}

async function printTable(load, results, sides) {
  const rows = [
    ["", ...sides.map(({ name }) => name)],
    ["---", ...sides.map(() => "---")],
  ];
  const row = (name, cell) => rows.push([name, ...results.map(cell)]);
  row(`Open the page → first picture, empty cache, ms, p50 / p95 of ${opens}`, ({ cold }) => spread(cold));
  row(`Open the page → first picture, warm cache, ms, p50 / p95 of ${opens}`, ({ warm }) => spread(warm));
  row(`Click → changed pixel, ms, p50 / p95 of ${clicks}`, ({ clicks }) => spread(clicks));
  row("… and until the click's call has answered, xdotool has ended", ({ calls }) => spread(calls));
  row("CPU idle, 1 viewer", ({ idle }) => costs(idle));
  row(`CPU idle, ${crowd} viewers`, ({ crowd }) => costs(crowd));
  row("CPU scrolling, 1 viewer", ({ scroll }) => costs(scroll));
  row("Scrolling: whole frames seen per second (drawn by the page)", ({ scroll: { result } }) => {
    return `${result.fps.toFixed(1)} (${result.drawn.toFixed(0)})`;
  });
  row("Scrolling: looks at a torn picture", ({ scroll: { result } }) => `${(result.torn * 100).toFixed(0)} %`);
  row("Scrolling: age of a frame when first seen, ms, p50 / p95", ({ scroll: { result } }) => spread(result.ages));
  row("Scrolling: Mbit/s", ({ scroll: { result } }) => result.mbits.toFixed(0));
  row("Not ours: CPU of other programs meanwhile (idle 1, idle 10, scrolling)", ({ idle, crowd, scroll }) =>
    [idle, crowd, scroll].map(({ others }) => `${others.toFixed(0)} %`).join(", "),
  );
  console.log(await circumstances(load));
  console.log();
  for (const cells of rows) console.log(`| ${cells.join(" | ")} |`);
}

async function circumstances(load) {
  const binary = process.env.HELMDECK_BIN;
  const version = async (program, ...args) => {
    const { stdout, stderr } = await promisify(execFile)(program, args).catch((error) => error);
    return /\d+(\.\d+)+/.exec(`${stdout}${stderr}`)?.[0] ?? "?";
  };
  const built = (await stat(binary)).mtime.toISOString().slice(0, 16);
  const versions = [
    `${binary} of ${built}Z`,
    `Xtigervnc ${await version("Xtigervnc", "-version")}`,
    `x11vnc ${await version("x11vnc", "-version")}`,
    `Chromium ${await version("chromium", "--version")}`,
  ];
  const loads = (numbers) => numbers.map((number) => number.toFixed(2)).join(" ");
  return (
    `${new Date().toISOString().slice(0, 16)}Z, ${cpus().length} cores, screen ${geometry}, loopback. ` +
    `Load before: ${loads(load)}; after: ${loads(loadavg())}. ${versions.join(", ")}. ` +
    "CPU is percent of one core, of the serving side only."
  );
}

function say(text) {
  console.error(text);
}
