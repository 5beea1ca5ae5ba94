// A person adds a credential, decides who may use it, replaces its secret and deletes it.
// HELMDECK_SHOTS names a directory for the pictures.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before } from "node:test";
import { Agent } from "./agent.mjs";
import { openBrowser, Person } from "./browser.mjs";
import { Server } from "./server.mjs";
import { story } from "./story.mjs";

const shots = process.env.HELMDECK_SHOTS;
const screens = { phone: { width: 390, height: 844 }, desk: { width: 1440, height: 900 } };
const secret = "ghp_0123456789abcdefSECRET";
const step = story();
let server, browser, person;

before(async () => {
  server = await Server.start({ HELMDECK_FAL_KEY: "fal-0123456789" });
  browser = await openBrowser();
  person = await Person.arrive(browser, server);
  if (shots) await mkdir(shots, { recursive: true });
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const manage = async (name, what) => {
  await person.page.getByRole("button", { name: `Manage ${name}` }).click();
  await person.page.getByRole("button", { name: what }).click();
};

step("a credential is added by its service, and its secret is not shown", async () => {
  const { page } = person;
  await person.logIn("/credentials");
  await page.getByText("No credentials yet").waitFor();
  await page.getByRole("row", { name: /fal-key/ }).getByText("fal.run").waitFor();
  await page.getByRole("button", { name: "Add credential" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Service").selectOption("GitHub");
  assert.equal(await dialog.getByRole("textbox", { name: "Host" }).inputValue(), "api.github.com");
  await dialog.getByLabel("Secret").fill(secret);
  await dialog.getByRole("button", { name: "Add credential" }).click();
  await dialog.waitFor({ state: "detached" });
  const row = page.getByRole("row", { name: /github-token/ });
  await row.getByText("${vault:github-token}").waitFor();
  await row.getByText("never").waitFor();
  assert.ok(!(await page.content()).includes(secret));
});

step("a host that is not one is refused, and the form stays", async () => {
  const { page } = person;
  person.forgive(/400.*vault\/credentials/);
  await page.getByRole("button", { name: "Add credential" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("anything");
  await dialog.getByRole("textbox", { name: "Host" }).fill("*");
  await dialog.getByLabel("Secret").fill(secret);
  await dialog.getByRole("button", { name: "Add credential" }).click();
  const alert = dialog.getByRole("alert");
  await alert.waitFor();
  assert.match(await alert.textContent(), /host/i);
  await dialog.getByRole("button", { name: "Cancel" }).click();
});

step("access is granted and taken back", async () => {
  const { page } = person;
  await manage("github-token", "Who may use it");
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Revoke admin" }).waitFor();
  await page.keyboard.type("alice");
  await dialog.getByLabel("Token label").fill("Claude Code");
  await dialog.getByRole("button", { name: "Grant" }).click();
  const revoke = dialog.getByRole("button", { name: "Revoke alice, only Claude Code" });
  await revoke.click();
  await revoke.waitFor({ state: "detached" });
  await dialog.getByRole("button", { name: "Close" }).last().click();
});

step("usage is empty at first, and a new secret changes the fingerprint", async () => {
  const { page } = person;
  const agent = await Agent.of(server);
  const before = (await agent.get("vault/credentials")).credentials.find(({ name }) => name === "github-token");
  await manage("github-token", "Usage");
  await page.getByText("It has not been used.").waitFor();
  await page.keyboard.press("Escape");
  await manage("github-token", "Replace the secret");
  await page.keyboard.type("another secret");
  await page.getByRole("button", { name: "Replace", exact: true }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const after = await agent.get(`vault/credentials/${before.id}`);
  assert.notEqual(after.fingerprint, before.fingerprint);
});

for (const [name, viewport] of Object.entries(screens)) {
  step(`nothing is wider than a ${name}`, async () => {
    const visitor = await Person.arrive(browser, server, { viewport, hasTouch: name === "phone" });
    const { page } = visitor;
    const look = async (what) => {
      for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        if (shots) await page.screenshot({ path: join(shots, `${what}-${name}-${colorScheme}.png`), animations: "disabled" });
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.equal(width, viewport.width, `${what} is as wide as the window`);
      }
      if (name === "phone") assert.deepEqual(await page.evaluate(tooSmall), [], `fingers can hit every button of ${what}`);
    };
    const open = async (what) => {
      await page.getByRole("button", { name: "Manage github-token" }).click();
      await page.getByRole("button", { name: what }).click();
      await page.getByRole("dialog").waitFor();
    };
    await visitor.logIn("/credentials");
    await page.getByRole("row", { name: /github-token/ }).waitFor();
    await look("credentials");
    await page.getByRole("button", { name: "Manage github-token" }).click();
    await look("credential-menu");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Add credential" }).click();
    await look("new-credential");
    await page.getByLabel("Type").selectOption("SSH key");
    await look("new-ssh-credential");
    await page.keyboard.press("Escape");
    await open("Who may use it");
    await page.getByRole("listitem").first().waitFor();
    await look("credential-access");
    await page.keyboard.press("Escape");
    await page.route("**/usage", (route) => route.fulfill({ json: { usage: sampleUsage, count: sampleUsage.length } }));
    await open("Usage");
    await page.getByRole("list", { name: "Newest attempts" }).waitFor();
    await look("credential-usage");
    await page.keyboard.press("Escape");
    await visitor.leave();
  });
}

step("deleting asks first", async () => {
  const { page } = person;
  await manage("github-token", "Delete");
  const dialog = page.getByRole("dialog");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await manage("github-token", "Delete");
  await dialog.getByRole("button", { name: "Delete" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByText("No credentials yet").waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Credentials");
  await person.leave();
});

const attempt = (id, result, host_matched, path_matched, actor_client) => ({
  id,
  credential_id: "cred_1",
  actor_subject: "admin",
  actor_client,
  host_matched,
  path_matched,
  result,
  timestamp: new Date(Date.now() - id * 400_000).toISOString(),
});
const sampleUsage = [
  attempt(1, "allowed", "api.github.com", "/repos/example/project/issues", "Claude Code"),
  attempt(2, "no_match", "paste.example.net", "/collect", "Claude Code"),
  attempt(3, "denied", "api.github.com", "/user", ""),
];

/** Runs in the page: what is smaller than a finger. */
function tooSmall() {
  return [...document.querySelectorAll("button, .button, nav a, summary")]
    .map((element) => [element, element.getBoundingClientRect()])
    .filter(([, { width, height }]) => width > 0 && (width < 44 || height < 44))
    .map(([element, { width, height }]) => `${element.textContent || element.ariaLabel} ${width}x${height}`);
}
