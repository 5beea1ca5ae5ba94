// A person connects an agent with a token, sees it connect, and manages tokens.
// HELMDECK_SHOTS names a directory for the pictures.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before } from "node:test";
import { Agent } from "./agent.mjs";
import { openBrowser, Person } from "./browser.mjs";
import { Server } from "./server.mjs";
import { story } from "./story.mjs";
import { until } from "./until.mjs";

const shots = process.env.HELMDECK_SHOTS;
const screens = { phone: { width: 390, height: 844 }, desk: { width: 1440, height: 900 } };
const permissions = ["clipboard-read", "clipboard-write"];
const step = story();
let server, browser, person, token;

before(async () => {
  server = await Server.start();
  browser = await openBrowser();
  person = await Person.arrive(browser, server, { permissions });
  if (shots) await mkdir(shots, { recursive: true });
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const clipboard = () => person.page.evaluate(() => navigator.clipboard.readText());
const focused = () => person.page.evaluate(() => document.activeElement?.textContent);

/** What an MCP client does first: it introduces itself and lists the tools. */
async function connect(bearer, name, version) {
  const headers = {
    authorization: `Bearer ${bearer}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const send = async (message) => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    const answer = await fetch(`${server.url}/mcp`, { method: "POST", headers, body });
    const text = await answer.text();
    assert.ok(answer.ok, `${message.method}: ${answer.status} ${text}`);
    return { answer, text };
  };
  const protocolVersion = "2025-06-18";
  const params = { protocolVersion, capabilities: {}, clientInfo: { name, version } };
  const { answer } = await send({ id: 1, method: "initialize", params });
  headers["mcp-protocol-version"] = protocolVersion;
  const session = answer.headers.get("mcp-session-id");
  if (session) headers["mcp-session-id"] = session;
  await send({ method: "notifications/initialized" });
  assert.match((await send({ id: 2, method: "tools/list" })).text, /"tools"/);
}

step("the empty wall leads to the agents, and the keyboard chooses one", async () => {
  const { page } = person;
  await person.logIn();
  await page.locator(".empty").getByRole("link", { name: "Connect an agent" }).click();
  await page.getByRole("heading", { name: "Connect an agent" }).waitFor();
  const cards = page.locator(".client-card");
  await cards.first().waitFor();
  const { clients } = await (await Agent.of(server)).get("connect");
  assert.equal(await cards.count(), clients.length);

  const claude = page.getByRole("link", { name: "Claude Code" });
  await claude.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Connect Claude Code" }).waitFor();
  assert.equal(await focused(), "Connect Claude Code");
  await page.getByRole("link", { name: "All agents" }).click();
  await claude.waitFor();
  assert.ok(await claude.evaluate((card) => card === document.activeElement), "the focus is back on its card");
  await page.keyboard.press("Enter");
});

step("the steps have a placeholder until a token is created, which is shown once", async () => {
  const { page } = person;
  const command = page.locator(".code-block", { hasText: "claude mcp add" });
  await command.getByText("$HELMDECK_TOKEN").waitFor();
  await page.getByText("Options").click();
  await page.getByLabel("Label").fill("Claude on the laptop");
  await page.getByRole("radio", { name: "Browser" }).check();
  await page.getByRole("button", { name: "Create token" }).click();

  await page.getByText("Waiting for Claude Code to connect…").waitFor();
  assert.equal(await focused(), "Token created");
  const shown = page.locator(".code-block", { hasText: "Expires" });
  await shown.getByRole("button", { name: "Copy token" }).focus();
  await page.keyboard.press("Enter");
  await shown.getByRole("button", { name: "Copied" }).waitFor();
  token = await clipboard();
  await command.getByRole("button", { name: "Copy command" }).click();
  await until("the command is copied", async () => (await clipboard()).startsWith("claude mcp add"));
  assert.ok((await clipboard()).includes(`Bearer ${token}`), "the command contains the token");
  assert.match(await clipboard(), /profile=browser/);

  const kept = await page.evaluate(() => window.location.href + JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  assert.ok(!kept.includes(token), "the token is neither in the address nor stored");
});

step("the page shows the agent when it connects", async () => {
  const { page } = person;
  await connect(token, "claude-code", "2.1.0");
  await page.getByRole("status").getByText("Connected: claude-code 2.1.0").waitFor();
  await page.getByRole("link", { name: "All agents" }).click();
  await page.getByRole("link", { name: /Claude Code.*Connected just now/ }).waitFor();
  await page.goBack();
  // The token is gone with the page that showed it.
  await page.getByText("$HELMDECK_TOKEN").first().waitFor();
  await page.getByRole("region", { name: "Already connected" }).getByText("Claude on the laptop").waitFor();
});

step("every agent has steps, with its file where the reader's system keeps it", async () => {
  const { page } = person;
  const { clients } = await (await Agent.of(server)).get("connect");
  for (const { id, title } of clients) {
    await page.goto(`/connect?client=${id}`);
    const name = id === "generic" ? "your client" : title;
    await page.getByRole("heading", { name: `Connect ${name}` }).waitFor();
    await page.locator(".step pre", { hasText: "$HELMDECK_TOKEN" }).first().waitFor();
  }
  await page.goto("/connect?client=vscode");
  await page.locator(".code-block").getByText("~/.config/Code/User/mcp.json").waitFor();
  await page.getByRole("button", { name: "macOS" }).click();
  await page.locator(".code-block").getByText("~/Library/Application Support/Code/User/mcp.json").waitFor();

  person.forgive(/404.*connect\/nothing/);
  await page.goto("/connect?client=nothing");
  await page.getByRole("alert").getByText("nothing").waitFor();
});

step("the list of tokens names the agent that uses each, and updates when one connects", async () => {
  const { page } = person;
  await person.goTo("Tokens");
  const row = page.getByRole("row", { name: /Claude on the laptop/ });
  await row.getByText("Create, see and use sessions").waitFor();
  await row.getByText("claude-code 2.1.0").waitFor();
  await connect(token, "mcp-inspector", "0.9.1");
  await row.getByText("mcp-inspector 0.9.1").waitFor();
  await page.getByRole("table", { name: "Tokens of people" }).waitFor();
});

step("a new token allows what was checked, and is shown once", async () => {
  const { page } = person;
  await page.getByRole("button", { name: "New token" }).click();
  const dialog = page.getByRole("dialog");
  await page.keyboard.type("nightly report");
  for (const permission of ["Create and end sessions", "Act in sessions"]) {
    await dialog.getByRole("checkbox", { name: permission }).uncheck();
  }
  await dialog.getByLabel("Expires").selectOption("After 1 day");
  await dialog.getByRole("button", { name: "Create token" }).click();
  await dialog.getByText("It is not shown again").waitFor();
  // A click beside the dialog does not lose it.
  await page.mouse.click(5, 5);
  await dialog.getByRole("button", { name: "Copy token" }).click();
  await dialog.getByRole("button", { name: "Copied" }).waitFor();
  token = await clipboard();
  await dialog.getByRole("button", { name: "Done" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.ok(!(await page.content()).includes(token));

  const report = new Agent(server, token);
  await report.get("sessions");
  assert.equal((await report.ask("POST", "sessions", {})).status, 403);
  const row = page.getByRole("row", { name: /nightly report/ });
  await row.getByText("See sessions").waitFor();
  await row.getByText("in 1 day").waitFor();
});

step("revoking asks first, and ends the token at once", async () => {
  const { page } = person;
  const report = new Agent(server, token);
  const revoke = page.getByRole("button", { name: "Revoke nightly report" });
  const dialog = page.getByRole("dialog");
  await revoke.click();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await report.get("sessions");

  await revoke.click();
  await dialog.getByRole("button", { name: "Revoke" }).click();
  await dialog.waitFor({ state: "detached" });
  await revoke.waitFor({ state: "detached" });
  assert.equal(await focused(), "Tokens");
  assert.equal((await report.ask("GET", "sessions")).status, 401);
  await page.getByText("Expired and revoked (1)").click();
  await page.getByRole("row", { name: /nightly report/ }).getByText("Revoked just now").waitFor();
});

step("an address that names an agent leads there, also by way of the login", async () => {
  const stranger = await Person.arrive(browser, server);
  await stranger.logIn("/connect?client=cursor");
  await stranger.page.getByRole("heading", { name: "Connect Cursor" }).waitFor();
  assert.equal(stranger.page.url(), `${server.url}/connect?client=cursor`);
  await stranger.leave();
  await person.leave();
});

for (const [name, viewport] of Object.entries(screens)) {
  step(`no page is wider than a ${name}`, async () => {
    person = await Person.arrive(browser, server, { viewport, hasTouch: name === "phone" });
    const { page } = person;
    const look = async (what) => {
      for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        if (shots) await page.screenshot({ path: join(shots, `${what}-${name}-${colorScheme}.png`), animations: "disabled" });
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.equal(width, viewport.width, `${what} is as wide as the window`);
      }
      if (name === "phone") assert.deepEqual(await page.evaluate(tooSmall), [], `fingers can hit every button of ${what}`);
    };
    await person.logIn("/connect");
    await page.locator(".client-card").first().waitFor();
    await look("connect");
    await page.getByRole("link", { name: "Claude Code" }).click();
    await page.getByText("Options").click();
    await look("connect-options");
    await page.getByRole("button", { name: "Create token" }).click();
    await page.getByText("Waiting for Claude Code").waitFor();
    await look("connect-waiting");
    await person.goTo("Tokens");
    await page.getByRole("row", { name: /Claude on the laptop/ }).waitFor();
    await page.getByText("Expired and revoked").click();
    await look("tokens");
    await page.getByRole("button", { name: "New token" }).click();
    await look("new-token");
    await page.getByRole("dialog").getByLabel("Label").fill("wide");
    await page.getByRole("dialog").getByRole("button", { name: "Create token" }).click();
    await page.getByText("It is not shown again").waitFor();
    await look("created-token");
    await person.leave();
  });
}

/** Runs in the page: what is smaller than a finger. */
function tooSmall() {
  return [...document.querySelectorAll("button, .button, nav a, summary")]
    .map((element) => [element, element.getBoundingClientRect()])
    .filter(([, { width, height }]) => width > 0 && (width < 44 || height < 44))
    .map(([element, { width, height }]) => `${element.textContent || element.ariaLabel} ${width}x${height}`);
}
