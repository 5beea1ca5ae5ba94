// Failures while a person watches: of the server, the session's display, and its guest.

import assert from "node:assert/strict";
import { after, before } from "node:test";
import { Agent, feelingPage } from "./agent.mjs";
import { openBrowser, Person } from "./browser.mjs";
import { Server } from "./server.mjs";
import { story } from "./story.mjs";
import { until } from "./until.mjs";

const step = story();
let server, browser, agent, person, desk;
before(async () => {
  server = await Server.start();
  browser = await openBrowser();
  agent = await Agent.of(server);
  desk = await agent.desktop("fragile");
  await desk.browse(feelingPage, "felt 0 clicks");
  person = await Person.arrive(browser, server);
  await person.watch(desk);
  // The browser logs every failed connection, and here they must fail.
  person.forgive(/./);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

step("the server is killed: the page shows it and keeps the last picture", async () => {
  const { page } = person;
  await page.evaluate(() => (window.loadedOnce = true));
  await server.kill();
  await page.locator(".stage-state").getByText("Reconnecting").waitFor();
  assert.ok(await page.locator(".still").evaluate((still) => still.width === 1024 && still.height === 768));
  await page.getByText("The connection to the server is lost").waitFor();
  assert.equal(await page.getByRole("button", { name: /Reconnect|Retry/ }).count(), 1, "one message, one button");
});

step("the server restarts: the picture is live again without a reload", async () => {
  const { page } = person;
  await server.restart();
  await person.seesPicture();
  await page.getByText("The connection to the server is lost").waitFor({ state: "detached" });
  assert.equal(await page.evaluate(() => window.loadedOnce), true);

  await desk.act("click", { x: 700, y: 500 });
  await until("the page is green", async () => {
    const [r, g] = await person.colourAt(300, 600);
    return g > 100 && r < 80;
  });
  await desk.act("agent_status", { status: "still here" });
  await page.locator(".agent-banner").getByText("still here").waitFor();
  await page.getByRole("log").locator(".action", { hasText: "700, 500" }).waitFor();
});

step("the display dies: the page and the wall show the reason", async () => {
  const { page } = person;
  const displays = (await server.processes()).filter(({ command }) => /^\S*Xtigervnc /.test(command));
  assert.equal(displays.length, 1, JSON.stringify(displays));
  process.kill(displays[0].pid, "SIGKILL");

  await page.getByText("The session failed").waitFor();
  await page.locator(".stage").getByText("Its display was lost").waitFor();
  const session = await desk.show();
  assert.equal(session.status, "error");
  assert.equal(session.end_reason, "display_lost");

  await page.getByRole("link", { name: "All sessions" }).first().click();
  const tile = page.locator(".tile", { hasText: "fragile" });
  await tile.locator('[data-status="error"]').waitFor();
  await tile.getByText("Its display was lost").waitFor();
  await tile.getByRole("button", { name: "Dismiss" }).click();
  await tile.waitFor({ state: "detached" });
});

step("the guest dies: people with a login and with a link see the reason and do not wait", async () => {
  const { page } = person;
  desk = await agent.desktop("doomed");
  await page.getByRole("link", { name: "doomed", exact: true }).click();
  await person.seesPicture();
  const other = await Person.arrive(browser, server);
  other.forgive(/./);
  await other.page.goto((await agent.get(`desktop/vnc-url?session_id=${desk.id}`)).url);
  await other.seesPicture();

  const guests = (await server.processes()).filter(({ command }) => /^\S*helmdeck guest /.test(command));
  assert.equal(guests.length, 1, JSON.stringify(guests));
  process.kill(guests[0].pid, "SIGKILL");

  await page.locator(".stage").getByText("The session failed").waitFor();
  await page.locator(".stage").getByText("Its sandbox stopped answering").waitFor();
  assert.equal(await page.getByRole("button", { name: "Take control" }).count(), 0);
  const session = await desk.show();
  assert.equal(session.status, "error");
  assert.equal(session.end_reason, "guest_lost");

  const read = other.page.getByText("The session is over. Its sandbox stopped answering.");
  await read.waitFor();
  await other.page.reload();
  await read.waitFor();
  for (const { page } of [person, other]) assert.equal(await page.getByText("Reconnecting").count(), 0);
  await other.leave();
});

step("its log can still be read, the wall shows it as failed, and a new session is one click away", async () => {
  const { page } = person;
  await page.getByRole("tab", { name: "Logs" }).click();
  await page.locator(".logs .line").first().waitFor();

  await page.getByRole("link", { name: "All sessions" }).first().click();
  const tile = page.locator(".tile", { hasText: "doomed" });
  await tile.locator('[data-status="error"]').waitFor();
  await tile.getByText("Its sandbox stopped answering").waitFor();

  await tile.getByRole("link", { name: "doomed", exact: true }).click();
  await page.locator(".stage").getByRole("button", { name: "New session" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Label").fill("successor");
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { name: "successor" }).waitFor();
  await person.seesPicture();
});
