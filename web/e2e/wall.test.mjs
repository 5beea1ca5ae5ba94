// One person: logs in, creates a session, drives it, ends it.

import assert from "node:assert/strict";
import { after, before } from "node:test";
import { Agent, Desk, feelingPage } from "./agent.mjs";
import { coloursOf, openBrowser, Person } from "./browser.mjs";
import { password, Server } from "./server.mjs";
import { story } from "./story.mjs";
import { until } from "./until.mjs";

const step = story();
let server, browser, person, agent, desk;
before(async () => {
  server = await Server.start();
  browser = await openBrowser();
  person = await Person.arrive(browser, server);
  agent = await Agent.of(server);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

step("a wrong password is refused with a message, the right one leads to an empty wall", async () => {
  const { page } = person;
  person.forgive(/401/);
  await page.goto("/");
  await page.getByLabel("User name").fill("admin");
  await page.getByLabel("Password").fill("wrong");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("User name or password is wrong").waitFor();
  assert.equal(new URL(page.url()).pathname, "/login");

  await page.getByLabel("Password").fill(password);
  await page.keyboard.press("Enter");
  await page.getByText("No session is running").waitFor();
  assert.equal(new URL(page.url()).pathname, "/");
  assert.deepEqual(await page.evaluate(() => Object.keys(localStorage)), [], "no token is stored where scripts can read it");
  assert.equal(await page.evaluate(() => document.cookie), "", "the cookie is not for scripts");
});

step("an admin's setting survives a reload", async () => {
  const { page } = person;
  const name = "Watch browsers that agents start themselves";
  const choose = async (on) => {
    const button = page.getByRole("switch", { name, checked: !on });
    await button.focus();
    await page.keyboard.press("Space");
    await page.getByRole("status").getByText(on ? "On for new sessions" : "Off for new sessions").waitFor();
    await page.reload();
    await page.getByRole("switch", { name, checked: on }).waitFor();
    assert.equal((await agent.get("settings")).browser_passthrough.enabled, on);
  };
  await person.goTo("Settings");
  await page.getByRole("heading", { name: "Settings" }).waitFor();
  await choose(true);
  const described = await page.getByRole("switch").getAttribute("aria-describedby");
  await page.locator(`#${described}`).getByText("In new sessions").waitFor();
  await choose(false);
  await person.goTo("Sessions");
  await page.getByText("No session is running").waitFor();
});

step("a session created in the dialog opens its start page and has a tile with a live picture", async () => {
  const { page } = person;
  await page.locator(".bar").getByRole("button", { name: "New session" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Label").fill("invoices");
  await dialog.getByLabel("Start page").fill(`data:text/html,${encodeURIComponent("<title>first page</title>")}`);
  await dialog.getByRole("combobox", { name: /^Screen/ }).selectOption("1024x768");
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.waitForURL(/\/sessions\/sess-/);
  await person.seesPicture();
  await person.strip.getByText("No agent has acted yet").waitFor();
  const log = page.getByRole("log").locator(".action", { hasText: "Go to data:" });
  await log.getByText("Person", { exact: true }).waitFor();
  await page.getByRole("link", { name: "All sessions" }).click();

  const tile = page.locator(".tile", { hasText: "invoices" });
  await tile.waitFor();
  await tile.locator('[data-status="running"]').waitFor();
  await until("the thumbnail is painted", async () => (await coloursOf(tile.locator("canvas"))) > 8);

  const [session] = (await agent.get("sessions")).sessions;
  assert.equal(session.spec.label, "invoices");
  assert.equal(session.spec.geometry, "1024x768");
  desk = new Desk(agent, session.id);
  assert.ok((await desk.titles()).some((title) => title.includes("first page")), "it started there");
});

step("before an idle session ends, its tile warns and can keep it alive; afterwards its last picture stays", async () => {
  const { page } = person;
  const idle = await agent.headless("looked away", { idle_timeout_s: 4 });
  const tile = page.locator(".tile", { hasText: "looked away" });
  await until("its page is painted", async () => (await coloursOf(tile.locator("canvas"))) > 0);
  const before = (await idle.show()).idle_ends_at;
  await tile.getByRole("alert").getByRole("button", { name: "Keep alive" }).click();
  await until("its end is postponed", async () => (await idle.show()).idle_ends_at > before);
  await tile.getByText("Nothing used it for too long.").waitFor();
  await page.reload();
  await until("its last picture is there", () => tile.locator("img").evaluate((image) => image.naturalWidth > 0));
  await tile.getByRole("button", { name: "Dismiss looked away" }).click();
});

step("a session without a desktop has a live picture, too, of any shape", async () => {
  const { page } = person;
  const alone = await agent.headless("no screen", { geometry: "640x960" });
  await alone.inBrowser("navigate", { url: "data:text/html,<body style='background:linear-gradient(red,blue)'>" });
  const tile = page.locator(".tile", { hasText: "no screen" });
  const canvas = tile.locator("canvas");
  await until("its page is painted", async () => (await coloursOf(canvas)) > 8);
  assert.equal((await alone.show()).browser_view.status, "ready", "it has no viewers");
  await alone.inBrowser("execute", { script: "document.body.style.background = '#00a000'" });
  const green = () =>
    canvas.evaluate((canvas) => {
      const [r, g, b] = canvas.getContext("2d").getImageData(canvas.width / 2, canvas.height / 2, 1, 1).data;
      return g > 100 && r < 60 && b < 60;
    });
  await until("a change is seen", green);
  const { width, height } = await canvas.evaluate(({ width, height }) => ({ width, height }));
  assert.ok(height > width, `the page is higher than wide: ${width}x${height}`);
  const shape = async (name) => {
    const box = await page.locator(".tile", { hasText: name }).locator(".thumbnail").boundingBox();
    return (box.width / box.height).toFixed(2);
  };
  assert.deepEqual([await shape("no screen"), await shape("invoices")], ["1.60", "1.60"]);
  await alone.end();
  await tile.waitFor({ state: "detached" });
});

step("typed text arrives in the session after taking control", async () => {
  const { page } = person;
  await desk.browse(feelingPage, "felt 0 clicks");
  await page.getByRole("link", { name: "invoices", exact: true }).click();
  await person.seesPicture();
  assert.deepEqual(
    await person.picture.evaluate(({ width, height }) => ({ width, height })),
    { width: 1024, height: 768 },
  );

  await person.strip.getByText("The agent drives").waitFor();
  await person.takeControl();
  await person.strip.getByText("Keyboard goes to the desktop").waitFor();
  await page.keyboard.type("Typed by hand: 100 (%) / a_b?");
  await until(
    async () => `the field holds it: ${await desk.titles()}`,
    async () => (await desk.titles()).some((title) => title.includes("[Typed by hand: 100 (%) / a_b?]")),
  );

  // The middle of the picture is the middle of the session's screen.
  await person.picture.click();
  await desk.titled("felt 1 clicks");
  await person.handBack();
});

step("ending asks first, shows the result on the page, and removes the tile", async () => {
  const { page } = person;
  await page.getByRole("button", { name: "End session" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  assert.equal((await desk.show()).status, "running");

  await page.getByRole("button", { name: "End session" }).click();
  await dialog.getByRole("button", { name: "End session" }).click();
  await page.getByText("The session has ended").waitFor();
  await page.getByText("It was ended").first().waitFor();

  // A person who ends a session is done with it: neither the server nor the wall keeps it.
  await page.getByRole("link", { name: "All sessions" }).first().click();
  await page.getByText("No session is running").waitFor();
  assert.deepEqual((await agent.get("sessions")).sessions.filter(({ status }) => status === "running"), []);

  // It is listed among the recent sessions.
  await page.getByRole("button", { name: "Recent" }).click();
  await page.getByLabel("Search sessions").fill("voices");
  const tiles = page.locator(".tile");
  await tiles.filter({ hasText: "invoices" }).waitFor();
  assert.equal(await tiles.count(), 1);
  await page.getByRole("link", { name: "invoices", exact: true }).click();
  await page.getByText("It was ended on request.").waitFor();
  await page.getByAltText("The last picture of the session").waitFor();
  await page.getByRole("log").locator(".action", { hasText: "Hand back" }).waitFor();
  await page.reload();
  await page.getByRole("log").locator(".action", { hasText: "Hand back" }).waitFor();
  await page.getByRole("link", { name: "All sessions" }).first().click();

  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByRole("button", { name: "Log in" }).waitFor();
  await person.leave();
});
