// What it costs to watch a browser without a screen in the page, and how late its picture is.
//
//   HELMDECK_BIN=../target/release/helmdeck npm run bench:cast
//
// The viewer is our page in its own Chromium, at the usual quality (1280x800, 15 pictures in a second at
// most). BENCH_QUICK=1 takes few samples, to try the bench itself. The table goes to standard output.

import { setTimeout as sleep } from "node:timers/promises";
import { Agent } from "../e2e/agent.mjs";
import { openBrowser, Person } from "../e2e/browser.mjs";
import { Server } from "../e2e/server.mjs";
import { address } from "./content.mjs";
import { allProcesses, measure } from "./cpu.mjs";
import { nameOf } from "./ours.mjs";
import { costs, spread } from "./table.mjs";
import { Viewer } from "./viewer.mjs";

const quick = Boolean(process.env.BENCH_QUICK);
const opens = quick ? 2 : 8;
const clicks = quick ? 5 : 40;
const duration = quick ? 2000 : 10_000;
const rest = quick ? 1000 : 3000;

const server = await Server.start();
let browser;
try {
  const agent = await Agent.of(server);
  const { id } = await agent.post("sessions", { mode: "headless", label: "bench", idle_timeout_s: 0 });
  const act = (action, body) => agent.post(`browser/${action}`, { session_id: id, ...body });
  await act("navigate", { url: address });

  browser = await openBrowser();
  const person = await Person.arrive(browser, server, { viewport: { width: 1640, height: 960 } });
  await person.logIn();
  const url = `${server.url}/sessions/${id}`;
  const first = await Viewer.open(person.context, url);
  const places = await first.places();
  await first.close();
  console.error(JSON.stringify(places));

  const opened = [];
  for (let round = 0; round < opens; round += 1) {
    const viewer = await Viewer.open(person.context, url, places);
    opened.push(await viewer.firstPicture());
    await viewer.close();
    await sleep(300);
  }

  const viewer = await Viewer.open(person.context, url, places);
  await viewer.firstPicture();
  await sleep(rest);
  const idle = await measure(parts, () => sleep(duration));
  await act("click", { selector: "#go" });
  await sleep(rest);
  const scroll = await measure(parts, () => viewer.count(places, duration));
  await act("click", { selector: "#go" });
  await sleep(rest);

  const byAgent = [];
  for (let round = 0; round < clicks; round += 1) {
    await sleep(250 + Math.random() * 100);
    byAgent.push((await viewer.timeClick(places, () => act("click", { selector: "#flip" }))).seen);
  }
  const { page } = viewer;
  await page.getByRole("button", { name: "Take control", exact: true }).click();
  await page.locator(".strip").getByText("You are driving").waitFor();
  const box = await page.locator(".screen canvas").boundingBox();
  const scale = Math.min(box.width / places.screen[0], box.height / places.screen[1]);
  const click = (x, y) =>
    page.mouse.click(
      box.x + (box.width - places.screen[0] * scale) / 2 + x * scale,
      box.y + (box.height - places.screen[1] * scale) / 2 + y * scale,
    );
  const byHand = [];
  for (let round = 0; round < clicks; round += 1) {
    await sleep(250 + Math.random() * 100);
    byHand.push((await viewer.timeClick(places, click)).seen);
  }

  const { result } = scroll;
  const rows = [
    ["Open the page → first picture, warm cache, ms", spread(opened)],
    ["Agent's click by selector → changed pixel, ms", spread(byAgent)],
    ["Person's click on the picture → changed pixel, ms", spread(byHand)],
    ["CPU, still page, 1 viewer", costs(idle)],
    ["CPU, scrolling page, 1 viewer", costs(scroll)],
    ["Scrolling: pictures seen per second (drawn by the page)", `${result.fps.toFixed(1)} (${result.drawn.toFixed(0)})`],
    ["Scrolling: age of a picture when first seen, ms", spread(result.ages)],
    ["Scrolling: Mbit/s", result.mbits.toFixed(1)],
    ["Not ours: CPU of other programs meanwhile", [idle, scroll].map(({ others }) => `${others.toFixed(0)} %`).join(", ")],
  ];
  console.log("| p50 / p95 | |\n|---|---|");
  for (const row of rows) console.log(`| ${row.join(" | ")} |`);
} finally {
  await browser?.close();
  await server.stop();
}

/** The serving side, its browser included: it is what makes the pictures. */
async function parts() {
  const inside = new Map((await server.processes()).map(({ pid, command }) => [pid, command]));
  const all = await allProcesses();
  const within = (wanted) => all.filter(({ pid }) => inside.has(pid) && wanted(nameOf(inside.get(pid))));
  const helpers = ["helmdeck guest", "helmdeck nest", "bwrap"];
  return {
    Chromium: within((name) => name.startsWith("chrom")),
    guest: within((name) => helpers.includes(name)),
    serve: all.filter(({ parent, command }) => parent === process.pid && nameOf(command).endsWith(" serve")),
  };
}
