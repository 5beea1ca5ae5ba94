// Watching and controlling a session's browser in the page: alone, with two people, on a desktop, and with failures.

import assert from "node:assert/strict";
import { after, before } from "node:test";
import { Agent, Desk } from "./agent.mjs";
import { openBrowser, Person } from "./browser.mjs";
import { Server } from "./server.mjs";
import { story } from "./story.mjs";
import { until } from "./until.mjs";

// A page that reports its input in its title. It is red, and green after an odd number of clicks.
const feeling = dataUrl(`<body style="background:#d00000;margin:0;height:4000px">
  <textarea autofocus style="position:fixed;top:10px;left:10px;width:300px;height:60px"></textarea>
  <button style="position:fixed;top:10px;left:400px;width:200px;height:60px">Ask</button>
  <select onmousedown="event.stopPropagation()" style="position:fixed;top:10px;left:700px;width:100px;height:60px"><option>one<option>two</select><script>
  let [c, d, r, t, y, a] = [0, 0, 0, 0, 0, ""], f = document.querySelector("textarea");
  let tell = () => document.title = \`felt \${c} clicks \${d} doubles \${r} rights \${t} touches \${y > 0 ? "scrolled" : "top"} [\${f.value}] \${a}\`;
  onmousedown = (e) => { if (e.button === 0) document.body.style.background = ++c % 2 ? "#00a000" : "#d00000"; tell(); };
  ondblclick = () => { d++; tell() }; oncontextmenu = () => { r++; tell(); return false };
  addEventListener("touchstart", () => { t++; tell() }); onscroll = () => { y = scrollY; tell() }; oninput = tell;
  document.querySelector("select").onchange = (e) => { a = "chose " + e.target.value; tell() };
  document.querySelector("button").onclick = () => { a = prompt("How many?", "1"); tell() }; tell()
</script>`);
const red = ([r, g]) => r > 150 && g < 80;
const green = ([r, g]) => g > 100 && r < 80;

const step = story();
let server, browser, agent, session, person, phone;
before(async () => {
  server = await Server.start();
  browser = await openBrowser();
  agent = await Agent.of(server);
  session = new Desk(agent, (await agent.post("sessions", { mode: "headless", label: "alone", idle_timeout_s: 0 })).id);
  await act("navigate", { url: feeling });
  person = await Person.arrive(browser, server, { permissions: ["clipboard-read", "clipboard-write"] });
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

step("a headless session shows its browser: picture, tab and address", async () => {
  await person.watch(session);
  await until("the page is red", async () => red(await person.colourAt(600, 400)));
  assert.equal(await person.picture.evaluate(({ width }) => width), 1280);
  await tab("felt 0 clicks").getByText("Agent").waitFor();
  assert.match(await person.page.getByLabel("Address").inputValue(), /^data:text\/html/);
  await person.strip.getByText("The agent drives").waitFor();
});

step("a watcher changes nothing, and sees the agent's click", async () => {
  const { page } = person;
  await clickAt(700, 500);
  await page.keyboard.type("zzz");
  assert.ok(await page.getByRole("button", { name: "Reload" }).isDisabled());
  assert.equal(await page.getByRole("button", { name: "New tab" }).count(), 0);
  await act("click", { selector: "textarea" });
  await until("the page is green", async () => green(await person.colourAt(600, 400)));
  await tab("felt 1 clicks 0 doubles 0 rights 0 touches top []").waitFor();
});

step("the driver clicks, double-clicks, scrolls and types, including characters without a key", async () => {
  const { page } = person;
  await person.takeControl();
  await person.strip.getByText("Keyboard goes to the page").waitFor();
  await page.keyboard.type("Hi ü🎉");
  await page.evaluate(() => navigator.clipboard.writeText(" pasted"));
  await page.keyboard.press("Control+v");
  await tab("felt 1 clicks 0 doubles 0 rights 0 touches top [Hi ü🎉 pasted]").waitFor();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Backspace");
  await page.keyboard.type("ab\nc");
  await clickAt(700, 500, { clickCount: 2 });
  await clickAt(700, 500, { button: "right" });
  await page.mouse.wheel(0, 600);
  await tab("felt 3 clicks 1 doubles 1 rights 0 touches scrolled [ab c]").waitFor();

  // The same keys as on the desktop give the keyboard back.
  await clickAt(100, 40);
  await page.keyboard.press("Control+Alt+Shift");
  await person.strip.getByText("Click the picture to type there").waitFor();
});

step("an option of an open list is chosen with keys", async () => {
  const { page } = person;
  await clickAt(750, 40);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await tab("chose two").waitFor();
});

step("the driver answers a dialog of the page", async () => {
  await clickAt(500, 40);
  const dialog = person.page.getByRole("dialog");
  await dialog.getByText("How many?").waitFor();
  await dialog.getByLabel("Answer").fill("12");
  await dialog.getByRole("button", { name: "OK" }).click();
  await dialog.waitFor({ state: "detached" });
  await tab("12").waitFor();
});

step("a second viewer, on a phone, sees the same, takes over and touches it", async () => {
  phone = await Person.arrive(browser, server, { viewport: { width: 390, height: 844 }, hasTouch: true });
  await phone.watch(session);
  // Another person has control: the browser logs the refusal as an error.
  phone.forgive(/409.*control\/take/);
  await phone.page.getByRole("button", { name: "Take control", exact: true }).click();
  await phone.page.getByRole("button", { name: "Take over anyway" }).click();
  await phone.strip.getByText("You are driving").waitFor();
  await person.strip.getByText("admin is driving by hand").waitFor();
  const other = green(await person.colourAt(600, 400)) ? red : green;
  const at = await pointOf(phone, 700, 500);
  await phone.page.touchscreen.tap(at.x, at.y);
  await tab("1 touches").waitFor();
  for (const each of [person, phone]) {
    await until("both see what the tap did", async () => other(await each.colourAt(600, 400)));
  }
  await phone.handBack();
  await phone.leave();
  await person.takeControl();
});

step("tabs are opened, navigated, watched and closed", async () => {
  const { page } = person;
  await page.getByRole("button", { name: "New tab" }).click();
  await until("there are two tabs", async () => (await page.locator(".browser-tab").count()) === 2);
  const address = page.getByLabel("Address");
  await until("the address is to be typed", () => address.evaluate((field) => field === document.activeElement));
  await page.keyboard.type("what is the weather");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("This is not an address").waitFor();
  assert.equal(await address.inputValue(), "what is the weather");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("127.0.0.1:60999");
  person.forgive(/browser\/navigate/);
  await page.keyboard.press("Enter");
  const told = page.getByRole("alert").getByText(/^http:\/\/127\.0\.0\.1:60999\/? could not be loaded: nothing listens on port 60999/);
  await told.waitFor();
  const [buttons, message] = await Promise.all([person.strip.boundingBox(), told.boundingBox()]);
  assert.ok(message.y > buttons.y + buttons.height + 100, "the error is shown below the buttons and tabs");
  await page.getByRole("button", { name: "Dismiss" }).click();

  await address.click();
  await page.keyboard.insertText(dataUrl("<title>second</title><body style='background:#0000c0'>"));
  await page.keyboard.press("Enter");
  await person.strip.getByText("Keyboard goes to the page").waitFor();
  await tab("second").getByText("Agent").waitFor();
  const blue = async () => (await person.colourAt(600, 400))[2] > 120;
  await until("the second tab is shown", blue);

  await tab("felt").locator("button").first().click();
  await until("the first tab is shown", async () => red(await person.colourAt(600, 400)));
  await tab("second").getByText("Agent").waitFor();
  await page.getByRole("button", { name: "Follow the agent" }).click();
  await until("the agent's tab is shown", blue);
  await page.getByRole("button", { name: "Close second" }).click();
  await until("there is one tab", async () => (await page.locator(".browser-tab").count()) === 1);
  await until("the first tab is shown", async () => red(await person.colourAt(600, 400)));
});

step("a lower quality makes the picture smaller, without another connection", async () => {
  const { page } = person;
  const opened = [];
  page.on("websocket", (socket) => opened.push(socket.url()));
  await page.getByRole("button", { name: "Picture quality" }).click();
  await page.getByRole("radio", { name: "Low" }).check();
  await until("the picture is smaller", () => person.picture.evaluate(({ width }) => width === 960));
  await page.getByRole("radio", { name: "Balanced" }).check();
  await until("it is as before", () => person.picture.evaluate(({ width }) => width === 1280));
  await page.keyboard.press("Escape");
  assert.deepEqual(opened, []);
  await person.handBack();
});

step("private sign-in: only the driver sees it, and the agent gets the page but not the typed text", async () => {
  const { page } = person;
  await act("navigate", { url: feeling });
  const other = await Person.arrive(browser, server);
  await other.page.goto((await session.ticket("view", { reusable: true })).url);
  await other.seesPicture();
  await person.takeControl();
  await page.getByRole("button", { name: "Private sign-in" }).click();
  const bar = page.locator('.private-bar[data-on="true"]');
  await bar.getByText("Only you see this tab").waitFor();
  await other.page.locator(".stage").getByText("Private sign-in").waitFor();
  await tab("felt 0 clicks").waitFor();
  await clickAt(100, 40);
  await page.keyboard.type("secret");
  await tab("[secret]").waitFor();
  const refused = await agent.ask("POST", "browser/execute", { session_id: session.id, script: "document.title" });
  assert.equal(refused.status, 409, JSON.stringify(refused.body));
  assert.equal(await other.page.locator(".browser-tab", { hasText: "secret" }).count(), 0);
  await bar.getByRole("button", { name: "Leave" }).click();
  await bar.waitFor({ state: "detached" });
  await person.handBack();
  await other.seesPicture();
  const { tabs } = await act("tabs", { action: "list" });
  assert.ok(tabs.every(({ title }) => !title.includes("secret")), JSON.stringify(tabs));
  await other.leave();
});

step("the browser is killed: the page shows it, and the picture returns by itself", async () => {
  const { page } = person;
  const [{ pid }] = (await server.processes()).filter(
    ({ command }) => /\/chromium$/.test(command.split(" ")[0]) && !command.includes("--type="),
  );
  process.kill(pid, "SIGKILL");
  await page.locator(".stage-state").getByText("The browser is not running").waitFor();
  await page.locator('.stage[data-connected="true"]').waitFor();
  await act("navigate", { url: feeling });
  await until("the page is red", async () => red(await person.colourAt(600, 400)));
});

step("the server is killed: the last picture stays, and is live again with the server", async () => {
  const { page } = person;
  person.forgive(/./);
  await server.kill();
  await page.locator(".stage-state").getByText("The connection to the server is lost").waitFor();
  assert.equal(await page.getByText(/Reconnecting|does not answer/).count(), 1, "one message");
  assert.ok(red(await person.colourAt(600, 400)), "the last picture is there");
  await server.restart();
  await page.locator('.stage[data-connected="true"]').waitFor();
  await act("click", { selector: "textarea" });
  await until("the page is green", async () => green(await person.colourAt(600, 400)));
  await session.end();
  await page.getByText("The session has ended").waitFor();
  await person.leave();
});

step("a desktop has both views, and each is kept while the other is shown", async () => {
  session = await agent.desktop("both");
  await act("navigate", { url: feeling });
  person = await Person.arrive(browser, server);
  await person.watch(session);
  const { page } = person;
  const opened = [];
  page.on("websocket", (socket) => opened.push(socket.url()));
  await page.getByRole("tab", { name: "Browser" }).click();
  await person.seesPicture();
  await until("the page is red", async () => red(await person.colourAt(600, 400)));
  await person.takeControl();
  await clickAt(700, 500);
  await tab("felt 1 clicks").waitFor();
  assert.equal(opened.length, 1, `${opened}`);
  await person.picture.evaluate((canvas) => (window.kept = canvas));

  await page.getByRole("tab", { name: "Desktop" }).click();
  await person.strip.getByText("You are driving").waitFor();
  await person.seesPicture();
  await until("the desktop shows it too", async () => green(await person.colourAt(500, 600)));
  await page.getByRole("tab", { name: "Browser" }).click();
  assert.ok(await person.picture.evaluate((canvas) => canvas === window.kept && canvas.width > 0));
  await clickAt(700, 500);
  await until("the page is red", async () => red(await person.colourAt(600, 400)));
  assert.equal(opened.length, 1, `${opened}`);
  await person.leave();
});

/** Performs a browser action of the agent. */
async function act(action, body) {
  return agent.post(`browser/${action}`, { session_id: session.id, ...body });
}

/** The tab in the page's tab strip whose title contains this. */
function tab(title) {
  return person.page.locator(".browser-tab", { hasText: title });
}

/** The position in the window of a point on the session's page. */
async function pointOf(someone, x, y) {
  const box = await someone.picture.boundingBox();
  const { width, height } = await someone.picture.evaluate(({ width, height }) => ({ width, height }));
  const scale = Math.min(box.width / width, box.height / height);
  return {
    x: box.x + (box.width - width * scale) / 2 + x * scale,
    y: box.y + (box.height - height * scale) / 2 + y * scale,
  };
}

async function clickAt(x, y, options = {}) {
  const at = await pointOf(person, x, y);
  await person.page.mouse.click(at.x, at.y, options);
}

function dataUrl(html) {
  return `data:text/html;charset=utf-8,${encodeURIComponent(html)}`;
}
