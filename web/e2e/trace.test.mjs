// An agent acts, and a person sees what its actions changed.

import assert from "node:assert/strict";
import { after, before } from "node:test";
import { Agent } from "./agent.mjs";
import { openBrowser, Person } from "./browser.mjs";
import { Server } from "./server.mjs";
import { story } from "./story.mjs";
import { until } from "./until.mjs";

const step = story();
let server, browser, person, desk;
before(async () => {
  server = await Server.start();
  browser = await openBrowser();
  desk = await (await Agent.of(server)).desktop("traced");
  // Red, and green after the first click. Short, because the agent types it.
  await desk.browse("<title>plain</title><body bgcolor=d00000 onclick=\"document.body.bgColor='00a000'\">", "plain");
  person = await Person.arrive(browser, server);
  await person.watch(desk);
  await person.page.getByRole("tab", { name: "Trace" }).click();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** The last action with this text. */
const action = (text) => person.page.getByRole("log", { name: "Trace" }).locator(".trace-action", { hasText: text }).last();

step("without observed actions, the trace says how to get them", async () => {
  await action("Type").waitFor();
  await person.page.getByText('"observe": "auto"').waitFor();
});

step("an action appears with its effect, and its place before and after", async () => {
  await desk.act("click", { x: 500, y: 500, observe: "auto" });
  const row = action("500, 500");
  await row.getByText("Changed", { exact: true }).waitFor();
  const colours = () => row.locator("img").evaluateAll(mainColours);
  await until(async () => `red became green: ${await colours()}`, async () => String(await colours()) === "red,green");

  await desk.act("click", { x: 501, y: 501, observe: "auto" });
  await action("501, 501").getByText("No visible change").waitFor();
});

step("pointing at an action shows its place in the picture, and the keyboard enlarges its pictures", async () => {
  const { page } = person;
  const crops = action("500, 500").getByRole("button", { name: "Enlarge" });
  await crops.focus();
  const [picture, point] = [await person.picture.boundingBox(), await page.locator(".spot-point:visible").boundingBox()];
  const x = ((point.x + point.width / 2 - picture.x) / picture.width) * 1024;
  assert.ok(Math.abs(x - 500) < 3, `the point is at ${x}`);

  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Click" });
  assert.equal(await dialog.getByRole("img").count(), 2);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  assert.equal(await crops.evaluate((button) => button === document.activeElement), true);
});

step("windows are listed in between, and the trace stays when the session ends", async () => {
  const { page } = person;
  await desk.act("launch", { command: "xterm", observe: "auto", settle: { quiet_ms: 1000 } });
  await action("Launch xterm").getByText("Opened a window").waitFor();
  await page.locator(".trace-event", { hasText: "Opened “" }).last().waitFor();
  // Pictures that were not read before the end are gone with the session.
  const read = () => action("Launch xterm").locator("img").evaluateAll((images) => images.every((image) => image.naturalWidth > 0));
  await until("its pictures are shown", read);
  // The last read may come too late.
  person.forgive(/\/trace\?/);
  await desk.end();
  await page.getByText("The session has ended").waitFor();
  assert.equal(await action("500, 500").count(), 1);
  await person.leave();
});

/** Runs in the page: whether pictures are rather red or green. */
function mainColours(images) {
  return images.map((image) => {
    if (image.naturalWidth === 0) return "none";
    const context = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d");
    context.drawImage(image, 0, 0, 1, 1);
    const [red, green] = context.getImageData(0, 0, 1, 1).data;
    return red > green ? "red" : "green";
  });
}
