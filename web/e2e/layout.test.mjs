// Every page on a phone and on a desktop, in both themes: nothing overflows, and there are no errors.
// HELMDECK_SHOTS names a directory for the pictures.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Agent, feelingPage } from "./agent.mjs";
import { coloursOf, openBrowser, Person } from "./browser.mjs";
import { Server } from "./server.mjs";
import { until } from "./until.mjs";

const shots = process.env.HELMDECK_SHOTS;
const screens = { phone: { width: 390, height: 844 }, desk: { width: 1440, height: 900 } };

let server, browser, agent, desk, alone;
before(async () => {
  server = await Server.start();
  browser = await openBrowser();
  agent = await Agent.of(server);
  desk = await agent.desktop("invoices of October, from the accountant's portal");
  await desk.browse(feelingPage, "felt 0 clicks");
  await desk.act("scroll", { x: 300, y: 400, direction: "down", amount: 3 });
  await desk.act("click", { x: 300, y: 400 });
  await desk.act("agent_status", { status: "Downloading the invoice of October and comparing it with the order" });
  await desk.putFile("Invoices/2026/October/Telephone and Internet, second half of the month.pdf", "x".repeat(82_345));
  await desk.putFile("Invoices/2026/October/overview.csv", "a,b\n");
  alone = await agent.headless("prices of flights");
  await alone.inBrowser("navigate", { url: `data:text/html,${encodeURIComponent(feelingPage)}` });
  if (shots) await mkdir(shots, { recursive: true });
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

for (const [name, viewport] of Object.entries(screens)) {
  test(`on a ${name}`, async () => {
    const person = await Person.arrive(browser, server, { viewport, hasTouch: name === "phone" });
    const { page } = person;
    const look = async (what) => {
      for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        const path = join(shots ?? "", `${what}-${name}-${colorScheme}.png`);
        if (shots) await page.screenshot({ path, animations: "disabled" });
        assert.deepEqual(await page.evaluate(sticksOut), [], `${what} is wider than the window`);
      }
    };

    person.forgive(/401.*auth\/me/);
    await page.goto("/login");
    await page.getByRole("button", { name: "Log in" }).waitFor();
    await look("login");
    await page.route("**/api/v1/sessions", (route) => route.fulfill({ json: { sessions: [] } }));
    await person.logIn();
    await page.getByText("No session is running").waitFor();
    await look("empty");
    await page.unroute("**/api/v1/sessions");
    await page.goto("/");
    for (const name of ["invoices", "prices"]) {
      const canvas = page.locator(".tile", { hasText: name }).locator("canvas");
      await until("the thumbnail is painted", async () => (await coloursOf(canvas)) > 8);
    }
    await look("wall");
    const counted = page.locator(".bar").getByText("2 sessions");
    assert.ok(await counted.evaluate((text) => text.scrollWidth <= text.clientWidth), "the count is not cut off");
    await page.locator(".bar").getByRole("button", { name: "New session" }).click();
    await page.getByRole("dialog").waitFor();
    await look("new");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });

    await person.goTo("Settings");
    await page.getByRole("switch").waitFor();
    await look("settings");
    await person.goTo("Sessions");

    await page.locator(".tile h2 a", { hasText: "invoices" }).click();
    await person.seesPicture();
    await page.locator(".agent-banner").getByText("Downloading").waitFor();
    if (name === "phone") {
      assert.deepEqual(await page.evaluate(tooSmall), [], "fingers can hit every button");
      const [picture, stage] = [await person.picture.boundingBox(), await page.locator(".stage:visible").boundingBox()];
      assert.deepEqual([picture.width, Math.round(stage.height)], [390, Math.round(picture.height)], "no bars around it");
      await pinchesAndPans(person);
      await page.setViewportSize({ width: 844, height: 390 });
      await look("turned");
      const turned = await person.picture.boundingBox();
      assert.ok(turned.width > 200 && turned.width <= 844 && turned.height <= 390, JSON.stringify(turned));
      await page.setViewportSize(viewport);
      await page.getByRole("button", { name: "Hide the panel" }).click();
      await look("picture");
      await page.getByRole("button", { name: "Show the panel" }).click();
    }
    await page.getByRole("log").locator(".action", { hasText: "300, 400" }).first().waitFor();
    await look("session");
    await page.getByRole("tab", { name: "Trace" }).click();
    await page.getByRole("log").locator(".trace-action", { hasText: "300, 400" }).first().waitFor();
    await look("trace");
    const crop = async () => {
      if (name === "desk") return page.getByRole("button", { name: "Show only the browser window" }).click();
      await page.getByRole("button", { name: "More" }).click();
      await look("more");
      await page.getByLabel("Show only the browser window").click();
      await page.keyboard.press("Escape");
    };
    await crop();
    await page.locator('.stage[data-cropped="true"]').waitFor();
    await look("cropped");
    await crop();
    await page.getByRole("button", { name: "Share" }).click();
    await page.getByRole("button", { name: "Link to watch", exact: true }).click();
    await page.getByText("one hour").waitFor();
    await look("share");
    await page.keyboard.press("Escape");
    await page.getByRole("tab", { name: "Files" }).click();
    await page.getByRole("button", { name: "Show hidden files" }).click();
    for (const folder of ["Invoices", "2026", "October"]) {
      await page.getByRole("button", { name: folder }).click();
      if (folder === "Invoices") await look("folder");
    }
    await page.getByRole("link", { name: "overview.csv" }).waitFor();
    await look("files");
    await page.getByLabel("Files for October").setInputFiles([
      { name: "overview.csv", mimeType: "text/csv", buffer: Buffer.from("c,d\n") },
    ]);
    await page.getByText("In October").waitFor();
    await look("uploaded");
    await page.getByRole("button", { name: "Dismiss all uploads" }).click();
    const held = await page.evaluateHandle(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([], "held"));
      return transfer;
    });
    for (const [what, over] of Object.entries({ screen: ".screen", list: ".files" })) {
      await page.locator(over).dispatchEvent("dragover", { dataTransfer: held });
      await look(`drop-${what}`);
      await page.locator(over).dispatchEvent("dragleave", { dataTransfer: held });
    }
    await page.getByRole("tab", { name: "Details" }).click();
    await page.getByText("From a shell").waitFor();
    await look("details");
    await page.getByRole("tab", { name: "Logs" }).click();
    await page.locator(".logs .line").first().waitFor();
    await look("logs");
    await page.getByRole("tab", { name: "Browser" }).click();
    await person.seesPicture();
    await look("browser");
    await person.takeControl();
    await look("driving-browser");
    person.forgive(/browser\/navigate/);
    await page.getByLabel("Address").fill("127.0.0.1:60999");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("could not be loaded").waitFor();
    await look("failed-browser");
    await page.getByRole("button", { name: "Dismiss" }).click();
    await page.getByRole("tab", { name: "Desktop" }).click();
    await look("driving");
    await person.handBack();

    const { url } = await agent.get(`desktop/vnc-url?session_id=${desk.id}`);
    await page.goto(url);
    await person.seesPicture();
    await look("link");
    await page.goto((await alone.ticket("control")).url);
    await person.seesPicture();
    await look("link-browser");
    await person.leave();
  });
}

/** Two fingers enlarge the picture around them, and one moves it. */
async function pinchesAndPans({ page, picture }) {
  const devtools = await page.context().newCDPSession(page);
  const touch = (type, ...touchPoints) => devtools.send("Input.dispatchTouchEvent", { type, touchPoints });
  const whole = await picture.boundingBox();
  const [x, y] = [whole.x + whole.width / 2, whole.y + whole.height / 2];
  const fingers = (apart) => [{ x: x - apart, y, id: 0 }, { x: x + apart, y, id: 1 }];
  await touch("touchStart", ...fingers(30));
  for (const apart of [40, 50, 60]) await touch("touchMove", ...fingers(apart));
  await touch("touchEnd");
  await page.locator('.stage[data-cropped="true"]').waitFor();
  const near = (a, b) => Math.abs(a - b) < 5;
  // The page draws after the last touch.
  await until("twice as far apart is twice as large", async () => near((await picture.boundingBox()).width, 2 * whole.width));
  const large = await picture.boundingBox();
  assert.ok(near(large.x + large.width / 2, x), "the point between the fingers stays");
  await touch("touchStart", { x, y, id: 0 });
  for (const by of [20, 40]) await touch("touchMove", { x: x + by, y, id: 0 });
  await touch("touchEnd");
  await until("the picture follows", async () => near((await picture.boundingBox()).x, large.x + 40));
  await page.getByRole("button", { name: "Show the whole picture" }).click();
  await page.locator('.stage[data-cropped="false"]').waitFor();
  await devtools.detach();
}

/** Runs in the page: buttons that are too small for touch. */
function tooSmall() {
  const shown = [...document.querySelectorAll("button, .button")].map((button) => [button, button.getBoundingClientRect()]);
  return shown
    .filter(([, { width, height }]) => width > 0 && (width < 44 || height < 44))
    .map(([button, { width, height }]) => `${button.textContent || button.ariaLabel} ${width}x${height}`);
}

/** Runs in the page: elements wider than the window. */
function sticksOut() {
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth <= clientWidth) return [];
  return [...document.querySelectorAll("body *")]
    .filter((element) => element.getBoundingClientRect().right > clientWidth)
    .map((element) => `${element.tagName} ${element.className} ${element.getBoundingClientRect().right}`);
}
