// The audit log: a person sees what others do at once, filters it, and exports it, on a phone and on a desktop.
// HELMDECK_SHOTS names a directory for the pictures.

import assert from "node:assert/strict";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Agent } from "./agent.mjs";
import { openBrowser, Person } from "./browser.mjs";
import { Server } from "./server.mjs";

const shots = process.env.HELMDECK_SHOTS;
const screens = { phone: { width: 390, height: 844 }, desk: { width: 1440, height: 900 } };

let server, browser, agent;
before(async () => {
  server = await Server.start();
  browser = await openBrowser();
  agent = await Agent.of(server);
  const wrong = { method: "POST", headers: { "content-type": "application/json" } };
  await fetch(`${server.url}/api/v1/auth/login`, { ...wrong, body: '{"username":"admin","password":"guess"}' });
  if (shots) await mkdir(shots, { recursive: true });
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

for (const [name, viewport] of Object.entries(screens)) {
  test(`a person follows, filters and exports the audit log on a ${name}`, async () => {
    const person = await Person.arrive(browser, server, { viewport, hasTouch: name === "phone" });
    const { page } = person;
    await person.logIn();
    await person.goTo("Audit");
    const rows = page.getByRole("table").locator("tbody tr");
    await rows.filter({ hasText: "Logged in" }).first().waitFor();
    await rows.filter({ hasText: "Login failed" }).getByText("warning").waitFor();

    // It appears without a reload.
    await agent.post("tokens", { label: `made on a ${name}` });
    const made = rows.filter({ hasText: `made on a ${name}` });
    await made.waitFor();
    await made.getByRole("button", { name: /Details/ }).click();
    await page.getByText("Hash before").waitFor();
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      const path = join(shots ?? "", `audit-${name}-${colorScheme}.png`);
      if (shots) await page.screenshot({ path, animations: "disabled" });
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.equal(width, viewport.width, "nothing is wider than the window");
    }

    if (name === "phone") await page.getByText("Filter", { exact: true }).click();
    await page.getByLabel("Event").selectOption("Logins");
    await made.waitFor({ state: "detached" });
    await rows.filter({ hasText: "Login failed" }).first().waitFor();
    assert.ok(page.url().endsWith("/audit?event=login.*"), page.url());
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export" }).click();
    await page.getByRole("link", { name: "CSV" }).click();
    const file = await readFile(await (await downloading).path(), "utf8");
    assert.match(file, /^id,at,event_type,/);
    assert.match(file, /,login\.failed,warning,/);
    assert.doesNotMatch(file, /token\.created/);

    await page.getByLabel("Who").fill("nobody");
    await page.getByLabel("Who").press("Enter");
    await page.getByText("No entries match").waitFor();
    if (shots) await page.screenshot({ path: join(shots, `audit-empty-${name}.png`) });
    await page.getByRole("button", { name: "Clear filters" }).click();
    await made.waitFor();
    await person.leave();
  });
}
