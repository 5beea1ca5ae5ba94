// The API reference: every operation can be found, linked and read, on a phone and on a desktop.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openBrowser, Person } from "./browser.mjs";
import { Server } from "./server.mjs";

const shots = process.env.HELMDECK_SHOTS;
const screens = { phone: { width: 390, height: 844 }, desk: { width: 1440, height: 900 } };

let server, browser;
before(async () => {
  server = await Server.start();
  browser = await openBrowser();
  if (shots) await mkdir(shots, { recursive: true });
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

for (const [name, viewport] of Object.entries(screens)) {
  test(`the API reference is readable on a ${name} without a login`, async () => {
    const person = await Person.arrive(browser, server, { viewport, hasTouch: name === "phone" });
    const { page } = person;
    await page.goto("/docs#desktop_click");
    const click = page.locator("article#desktop_click");
    await click.getByText("/api/v1/desktop/click", { exact: true }).waitFor();
    await page.waitForFunction(() => {
      const { top } = document.getElementById("desktop_click").getBoundingClientRect();
      return top >= 0 && top < window.innerHeight / 2;
    });
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      if (shots) await page.screenshot({ path: join(shots, `docs-${name}-${colorScheme}.png`) });
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.equal(width, viewport.width, "nothing is wider than the window");
    }
    const described = await (await fetch(`${server.url}/api/v1/openapi.json`)).json();
    const count = Object.values(described.paths).flatMap((methods) => Object.values(methods)).length;
    assert.equal(await page.locator("article.operation").count(), count);

    await page.getByRole("searchbox").fill("zoom region");
    await click.waitFor({ state: "detached" });
    await page.locator("article#desktop_zoom").getByText("x1").first().waitFor();
    if (shots) await page.screenshot({ path: join(shots, `docs-search-${name}.png`) });
    await page.getByRole("searchbox").fill("");
    const contents = page.getByRole("navigation", { name: "Operations" });
    if (name === "phone") await contents.getByText("Operations").click();
    await contents.getByRole("link", { name: "create_session" }).click();
    await page.locator("article#create_session:target").waitFor();
    assert.deepEqual(person.complaints, []);
    await person.context.close();
  });
}
