// The usual stack: Xvfb, x11vnc, websockify, and noVNC's core in a small page.

import { execFile, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { connect, createServer as createListener } from "node:net";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { until } from "../e2e/until.mjs";
import { address } from "./content.mjs";
import { families, isAlive } from "./cpu.mjs";

const run = promisify(execFile);
const novnc = fileURLToPath(new URL("../node_modules/@novnc/novnc/", import.meta.url));

/** The flags that helmdeck gives its Chromium. */
const chromium =
  "--no-first-run --no-default-browser-check --password-store=basic --disable-background-networking " +
  "--disable-component-update --disable-sync --disable-breakpad --disable-crash-reporter " +
  "--disable-domain-reliability --no-pings --disable-default-apps --hide-crash-restore-bubble --disable-gpu " +
  "--disable-quic --disable-features=OptimizationHints,OptimizationGuideModelDownloading," +
  "NetworkTimeServiceQuerying,MediaRouter,Translate --window-position=0,0 " +
  "--force-renderer-accessibility";

/** The height of helmdeck's title bar and panel: without them, so that the same area scrolls on both sides. */
const furniture = 52;

export class Peers {
  name = "Xvfb + x11vnc + websockify";

  static async start(geometry, cleanup) {
    const peers = new Peers();
    const home = await mkdtemp(join(tmpdir(), "peers-"));
    cleanup(() => rm(home, { recursive: true, force: true }));
    const start = (program, args, options) => {
      const child = spawn(program, args, { stdio: "ignore", ...options });
      // A program that is not installed has no number, and is noticed by what it does not do.
      child.on("error", (error) => console.error(`${program}: ${error.message}`));
      cleanup(() => end(child));
      return child;
    };

    const screen = ["-screen", "0", `${geometry}x24`, "-nolisten", "tcp", "-displayfd", "3"];
    const xvfb = start("Xvfb", screen, { stdio: ["ignore", "ignore", "ignore", "pipe"] });
    let written = "";
    xvfb.stdio[3].on("data", (chunk) => (written += chunk));
    await until("Xvfb has a display", () => written.endsWith("\n"));
    const env = { ...process.env, DISPLAY: `:${written.trim()}`, HOME: home };
    peers.env = env;

    const rfb = await freePort();
    const display = ["-display", env.DISPLAY, "-rfbport", `${rfb}`, "-localhost"];
    const x11vnc = start("x11vnc", [...display, "-forever", "-shared", "-nopw"], { env });
    await until("x11vnc listens", () => listens(rfb));
    peers.port = await freePort();
    const websockify = start("websockify", [`127.0.0.1:${peers.port}`, `127.0.0.1:${rfb}`], { env });
    await until("websockify listens", () => listens(peers.port));
    peers.pids = { Xvfb: xvfb.pid, x11vnc: x11vnc.pid, websockify: websockify.pid };

    const root = process.getuid() === 0 ? ["--no-sandbox", "--test-type"] : [];
    const [width, height] = geometry.split("x").map(Number);
    const own = [`--user-data-dir=${join(home, "profile")}`, `--window-size=${width},${height - furniture}`];
    start("chromium", [...chromium.split(" "), ...own, ...root, address], { env });

    const server = createServer((request, response) => void peers.#answer(request, response));
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    cleanup(() => {
      server.closeAllConnections();
      server.close();
    });
    peers.url = `http://127.0.0.1:${server.address().port}/`;
    return peers;
  }

  async page() {
    return this.url;
  }

  async socket() {
    return new URL(`ws://127.0.0.1:${this.port}/`);
  }

  click(x, y) {
    return run("xdotool", ["mousemove", `${x}`, `${y}`, "click", "1"], { env: this.env });
  }

  /** The serving side; websockify has a process for each client. */
  parts = async () => {
    const found = Object.entries(this.pids).map(async ([name, pid]) => [name, await families([pid])]);
    return Object.fromEntries(await Promise.all(found));
  };

  async #answer({ url }, response) {
    const { pathname } = new URL(url, this.url);
    if (pathname === "/") {
      response.writeHead(200, { "content-type": "text/html" });
      return response.end(this.#html());
    }
    try {
      const body = await readFile(join(novnc, normalize(pathname)));
      const type = extname(pathname) === ".js" ? "text/javascript" : "application/octet-stream";
      response.writeHead(200, { "content-type": type, "cache-control": "max-age=3600" });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  }

  /** Set up like helmdeck's own viewer. */
  #html() {
    return `<!doctype html><title>noVNC</title>
<style>html,body,.screen{margin:0;height:100%}</style><div class="screen"></div>
<script type="module">
import RFB from "/core/rfb.js";
const rfb = new RFB(document.querySelector(".screen"), "ws://127.0.0.1:${this.port}/", { wsProtocols: ["binary"] });
rfb.viewOnly = true;
rfb.scaleViewport = true;
rfb.qualityLevel = 6;
rfb.compressionLevel = 2;
</script>`;
  }
}

/** Ends a process and all it started. */
async function end(child) {
  if (child.pid === undefined) return;
  const family = await families([child.pid]);
  child.kill("SIGTERM");
  const left = async () => (await Promise.all(family.map(isAlive))).some(Boolean);
  await until("", async () => !(await left()), 5000).catch(() => {});
  for (const one of family) if (await isAlive(one)) process.kill(one.pid, "SIGKILL");
}

function listens(port) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => resolve(true));
    socket.on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });
}

async function freePort() {
  const listener = createListener();
  await new Promise((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { port } = listener.address();
  await new Promise((resolve) => listener.close(resolve));
  return port;
}
