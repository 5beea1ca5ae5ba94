// A script of the agent starts a browser inside the session with stock Playwright: people see it, and browser calls
// go to it.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Agent } from "./agent.mjs";
import { openBrowser, Person } from "./browser.mjs";
import { Server } from "./server.mjs";
import { story } from "./story.mjs";
import { until } from "./until.mjs";

const script = `
  import { existsSync } from "node:fs";
  import { chromium } from "playwright-core";
  const browser = await chromium.launch({ channel: "chrome", headless: false });
  const page = await browser.newPage();
  await page.setContent("<title>by a script</title><button onclick=\\"document.title='pressed'\\">Press</button>");
  await page.waitForFunction("document.title === 'pressed'", null, { timeout: 60_000 });
  await page.evaluate("document.title = 'heard'");
  while (!existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 50));
  await browser.close();
  console.log("the script is done");
`;

// A session sees only /usr of the machine; a Node elsewhere cannot run in it.
const here = process.execPath.startsWith("/usr/");
const step = story();
let server, browser, agent, desk;

before(async () => {
  server = await Server.start({ HELMDECK_BROWSER_PASSTHROUGH: "true" });
  agent = await Agent.of(server);
  desk = await agent.desktop("scripts");
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

// A call while a browser is ending gets an error.
const snapshot = async () => (await agent.ask("POST", "browser/snapshot", { session_id: desk.id })).body;
const shown = (title) =>
  until(
    async () => `a page ${title}: ${JSON.stringify(await snapshot())} ${await agent.get(`sessions/${desk.id}/logs`)}`,
    async () => (await snapshot()).title === title,
  );

step("a script's browser is the session's", async (context) => {
  if (!here) return context.skip(`${process.execPath} is not in a session`);
  const modules = fileURLToPath(new URL("../node_modules", import.meta.url));
  const bundle = { encoding: "buffer", maxBuffer: 256 << 20 };
  const { stdout } = await promisify(execFile)("tar", ["-C", modules, "-cf", "-", "playwright-core"], bundle);
  await desk.putFile("bundle.tar", stdout);
  await desk.putFile("script.mjs", script);
  const run = `mkdir node_modules && tar -C node_modules -xf bundle.tar && ${process.execPath} script.mjs`;
  await desk.act("launch", { command: "bash", args: ["-c", run] });
  await shown("by a script");
  await desk.titled("by a script");
});

step("the script gets events of API calls", async (context) => {
  if (!here) return context.skip("no script runs");
  assert.match((await snapshot()).snapshot, /button "Press"/);
  await agent.post("browser/click", { session_id: desk.id, selector: "text=Press" });
  await shown("heard");
});

step("when it is closed, the session's own browser is current again", async (context) => {
  if (!here) return context.skip("no script runs");
  await desk.putFile("go", "");
  await shown("");
  await until("the script is done", async () =>
    (await agent.get(`sessions/${desk.id}/logs`)).includes("the script is done"),
  );
});

step("clicks in the cropped browser window hit what is visible", async () => {
  const html = `<title>ready</title><script>let who = "agent";
    const next = { agent: "focus", focus: "person" };
    onmousedown = (e) => { document.title = who + " at " + e.clientX + "," + e.clientY; who = next[who]; }</script>`;
  const url = `data:text/html,${encodeURIComponent(html)}`;
  await agent.post("browser/navigate", { session_id: desk.id, url });
  await desk.titled("ready");
  browser = await openBrowser();
  const person = await Person.arrive(browser, server);
  const { page } = person;
  await person.watch(desk);
  const toggle = page.getByRole("button", { name: "Show only the browser window" });
  await toggle.click();
  assert.equal(await toggle.getAttribute("aria-pressed"), "true");
  await page.locator('.stage[data-cropped="true"]').waitFor();

  // A new window may still be moved by the window manager.
  let seen;
  const shape = async () => {
    const { x, y, width, height } = (await desk.show()).browser_window;
    // Only a part of it may be on the screen.
    const [left, top] = [Math.max(x, 0), Math.max(y, 0)];
    const [right, bottom] = [Math.min(x + width, 1024), Math.min(y + height, 768)];
    const box = await page.locator(".crop:visible").boundingBox();
    const picture = await person.picture.boundingBox();
    const scale = box.width / (right - left);
    seen = { left, top, right, bottom, box, picture, scale };
    return Math.abs(box.height - (bottom - top) * scale) < 2 && Math.abs(picture.width - 1024 * scale) < 2;
  };
  await until(() => `the picture has the window's shape: ${JSON.stringify(seen)}`, shape);
  const { left, top, box, scale } = seen;

  const aim = { x: left + 300, y: top + 400 };
  const hit = async (who) => (await desk.titled(`${who} at `)).match(/-?\d+/g).map(Number);
  await agent.post("desktop/click", { session_id: desk.id, ...aim });
  const [aimX, aimY] = await hit("agent");

  await person.takeControl();
  await page.locator(".crop:visible").click();
  await hit("focus");
  assert.deepEqual(await page.locator(".crop:visible").boundingBox(), box, "taking control does not move the picture");
  await page.mouse.click(box.x + (aim.x + 0.5 - left) * scale, box.y + (aim.y + 0.5 - top) * scale);
  const [hitX, hitY] = await hit("person");
  assert.ok(Math.abs(hitX - aimX) <= 1 && Math.abs(hitY - aimY) <= 1, `${hitX},${hitY}, not ${aimX},${aimY}`);

  await toggle.click();
  await page.locator('.stage[data-cropped="false"]').waitFor();
  await person.handBack();
  await person.leave();
});
