// A shell in a session, in the page: typing, resizing, its end, refusals while another person has control, and losses.
// HELMDECK_SHOTS names a directory for the pictures.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before } from "node:test";
import { Agent, feelingPage } from "./agent.mjs";
import { openBrowser, Person } from "./browser.mjs";
import { Server } from "./server.mjs";
import { story } from "./story.mjs";
import { until } from "./until.mjs";

const shots = process.env.HELMDECK_SHOTS;
const phone = { width: 390, height: 844 };
const desk = { width: 1440, height: 900 };

const step = story();
let server, browser, agent, session, person;
before(async () => {
  if (shots) await mkdir(shots, { recursive: true });
  server = await Server.start();
  browser = await openBrowser();
  agent = await Agent.of(server);
  session = await agent.headless("with a shell");
  await session.inBrowser("navigate", { url: `data:text/html,${encodeURIComponent(feelingPage)}` });
  person = await Person.arrive(browser, server, {
    viewport: desk,
    permissions: ["clipboard-read", "clipboard-write"],
  });
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

step("the Terminal tab starts a shell that has the keyboard", async () => {
  await person.watch(session);
  await openTerminal(person);
  await prompted(person);
  await person.strip.getByText("Keyboard goes to the terminal").waitFor();
  await run(person, "echo $((6*7))");
  await shows(person, /^42$/m);
});

step("colours of all kinds are shown, in both themes", async () => {
  await run(person, String.raw`clear; printf '\033[32mgreen \033[38;5;208morange \033[38;2;200;30;90mtrue\033[0m \033[1mbold\033[0m\n'; ls -la --color=always /`);
  await shows(person, /green orange true bold/);
  const { page } = person;
  const span = page.locator(".xterm-rows span", { hasText: /^true ?$/ });
  const colours = new Set();
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    const screen = page.locator(".xterm-scrollable-element");
    const background = () => screen.evaluate((element) => getComputedStyle(element).backgroundColor);
    await until(`the terminal is ${colorScheme}`, async () => !colours.has(await background()));
    colours.add(await background());
    const [plain, coloured] = await Promise.all(
      [page.locator(".xterm-rows"), span.first()].map((one) => one.evaluate((element) => getComputedStyle(element).color)),
    );
    assert.notEqual(coloured, plain);
    await look("terminal-desk", colorScheme);
  }
});

step("selected text is copied, and pasted text is typed", async () => {
  const { page } = person;
  await run(person, "clear; echo cop''ied");
  await shows(person, /^copied$/m);
  const box = await page.locator(".xterm-rows > div", { hasText: /^copied/ }).last().boundingBox();
  await page.mouse.dblclick(box.x + 10, box.y + box.height / 2);
  await page.keyboard.press("Control+Shift+C");
  await until("it is in the clipboard", () => page.evaluate(async () => (await navigator.clipboard.readText()) === "copied"));
  await page.evaluate(() => navigator.clipboard.writeText("echo pas''ted"));
  await page.keyboard.press("Control+Shift+V");
  await page.keyboard.press("Enter");
  await shows(person, /^pasted$/m);
  await page.keyboard.type("never");
  // Ctrl+C discards what the shell has not read yet.
  await shows(person, /never/);
  await page.keyboard.press("Control+c");
  await shows(person, /never\^C/);
});

step("the shell gets the terminal's size, at first and when the window changes", async () => {
  const { page } = person;
  const sizes = new Set();
  for (const viewport of [desk, { width: 1000, height: 700 }, phone]) {
    await page.setViewportSize(viewport);
    await until("the shell has the size of the page", async () => {
      await run(person, "clear; stty size");
      const size = await until("stty answers", async () => /^(\d+) (\d+)$/m.exec(await textOf(person)));
      sizes.add(size[0]);
      const fits = await page.locator(".xterm-rows > div").count();
      return Number(size[1]) === fits && size[0];
    });
  }
  assert.ok(sizes.size >= 3, [...sizes].join());
  await run(person, "clear; ls -a --color /usr");
  await shows(person, /share/);
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await look("terminal-phone", colorScheme);
  }
});

step("a shell's end is shown with its exit code, and another can be started", async () => {
  const { page } = person;
  await run(person, "exit 3");
  const notice = page.getByText("The shell has ended with exit code 3.");
  await notice.waitFor();
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await look("terminal-ended-phone", colorScheme);
  }
  await page.setViewportSize(desk);
  await look("terminal-ended-desk", "dark");
  await page.getByRole("button", { name: "Start a new shell" }).click();
  await notice.waitFor({ state: "detached" });
  await prompted(person);
  await run(person, "echo new$((1+1))");
  await shows(person, /^new2$/m);
});

step("Ctrl+Alt+Shift gives the keyboard back; leaving the tab ends the shell", async () => {
  const { page } = person;
  await run(person, "clear; echo $$");
  const [pid] = await until("the shell has a number", async () => /^\d+$/m.exec(await textOf(person)));
  await page.keyboard.press("Control+Alt+Shift");
  await until("a button has the focus", () => page.evaluate(() => document.activeElement.tagName === "BUTTON"));
  await page.getByRole("tab", { name: "Browser" }).click();
  await person.seesPicture();
  assert.equal(await page.locator(".terminal-stage").count(), 0);

  // With the arrow keys, as in all tab lists, which keep the focus.
  await page.keyboard.press("ArrowRight");
  await prompted(person);
  assert.equal(await page.getByRole("tab", { name: "Terminal" }).evaluate((tab) => tab === document.activeElement), true);
  await page.locator(".xterm-screen").click();
  await until("the first shell has ended", async () => {
    await run(person, `clear; kill -0 ${pid} 2>&- && echo alive || echo go''ne`);
    const [found] = await until("it is known", async () => /^(alive|gone)$/m.exec(await textOf(person)));
    return found === "gone";
  });
});

step("while another person has control, input is refused and no shell starts", async () => {
  const { page } = person;
  const other = await Person.arrive(browser, server);
  await other.watch(session);
  await other.takeControl();
  await page.getByText("your input is ignored").waitFor();
  await page.locator(".xterm-screen").click();
  await page.keyboard.type("x");
  // The server's own message.
  await until("the refusal is shown", async () => /control/i.test(await page.locator(".terminal-notice").innerText()));
  await look("terminal-refused-desk", "light");

  person.forgive(/terminal/);
  await page.getByRole("tab", { name: "Browser" }).click();
  await page.getByRole("tab", { name: "Terminal" }).click();
  await page.getByText("A shell starts here when they release control").waitFor();
  await look("terminal-held-desk", "light");
  await other.handBack();
  await prompted(person);
  await run(person, "echo fr''ee");
  await shows(person, /^free$/m);
  await other.leave();
});

step("a lost connection can be reopened; the tab disappears with the session", async () => {
  const { page } = person;
  person.forgive(/./);
  await server.kill();
  await page.getByText("The shell ended with it.").waitFor();
  await look("terminal-lost-desk", "dark");
  await server.restart();
  await page.getByRole("button", { name: "Reconnect with a new shell" }).click();
  await prompted(person);
  await session.end();
  await page.getByText("The session has ended").waitFor();
  assert.equal(await page.getByRole("tab", { name: "Terminal" }).count(), 0);
  await person.leave();
});

async function openTerminal({ page }) {
  await page.getByRole("tab", { name: "Terminal" }).click();
}

/** The text of the terminal, line by line. */
async function textOf({ page }) {
  const lines = await page.locator(".xterm-rows > div").allTextContents();
  return lines.map((line) => line.replaceAll("\u00a0", " ").trimEnd()).join("\n");
}

/** Waits for the shell's prompt. */
async function prompted(someone) {
  await someone.page.locator('.terminal-stage[data-state="connected"]').waitFor();
  await shows(someone, /[$#]\s*$/m);
}

async function shows(someone, pattern) {
  await until(
    async () => `the terminal shows ${pattern}:\n${await textOf(someone)}`,
    async () => pattern.test(await textOf(someone)),
  );
}

async function run({ page }, line) {
  await page.keyboard.type(line);
  await page.keyboard.press("Enter");
}

async function look(what, colorScheme) {
  const { page } = person;
  await page.emulateMedia({ colorScheme });
  if (shots) await page.screenshot({ path: join(shots, `${what}-${colorScheme}.png`), animations: "disabled" });
  const beyond = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(beyond <= 0, `${what} is ${beyond} pixels wider than the window`);
}
