// Packs and jobs: a person finds a pack, runs it by its form, follows it, and repeats it from the list of jobs.
// HELMDECK_SHOTS names a directory for pictures of the pages on a phone and a desk, by day and by night.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before } from "node:test";
import { openBrowser, Person } from "./browser.mjs";
import { Server } from "./server.mjs";
import { story } from "./story.mjs";
import { until } from "./until.mjs";

const shots = process.env.HELMDECK_SHOTS;
let server, browser, person, page;
before(async () => {
  server = await Server.start();
  browser = await openBrowser();
  person = await Person.arrive(browser, server);
  page = person.page;
  if (shots) await mkdir(shots, { recursive: true });
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const step = story();
const run = () => page.getByRole("button", { name: "Run", exact: true }).click();
const result = () => page.getByRole("region", { name: "Result" });

async function look(what) {
  for (const [name, width, height] of [["phone", 390, 844], ["desk", 1440, 900]]) {
    await page.setViewportSize({ width, height });
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      // The page draws itself anew after the window has its size.
      const wide = () => page.evaluate(() => document.documentElement.scrollWidth);
      await until(`${what} is as wide as the window`, async () => (await wide()) <= width);
      if (shots) await page.screenshot({ path: join(shots, `packs-${what}-${name}-${colorScheme}.png`), animations: "disabled" });
    }
  }
  await page.setViewportSize({ width: 1280, height: 800 });
}

step("a pack is found by what it does", async () => {
  await person.logIn("/jobs");
  await page.getByText("No jobs in the last 24 hours").waitFor();
  await look("no-jobs");
  await person.goTo("Packs");
  await page.getByLabel("Search packs").fill("python code");
  await page.getByRole("link", { name: /python\.run/ }).click();
  await page.getByRole("heading", { name: "python.run" }).waitFor();
  await look("form");
});

step("an example fills in the form", async () => {
  await page.getByRole("button", { name: "Run Python" }).click();
  assert.equal(await page.getByLabel("code", { exact: true }).inputValue(), "print(6 * 7)");
  await page.getByLabel("code", { exact: true }).fill("");
});

step("mistakes are shown at their fields", async () => {
  await page.getByLabel("timeout_s").fill("0");
  await run();
  await page.getByText("Enter 1 or more.").waitFor();
  await page.getByLabel("timeout_s").fill("");
  await page.getByLabel("cwd").fill("not absolute");
  await page.getByLabel("code").fill("print('# done')\nprint(6 * 7)");
  // The server checks what the form does not.
  person.forgive(/400.*packs\/python\.run/);
  await run();
  await page.locator(".pack-field", { hasText: "cwd" }).locator(".field-error").waitFor();
  assert.equal(await page.getByLabel("cwd").evaluate((field) => field === document.activeElement), true);
  await look("mistake");
  await page.getByLabel("cwd").fill("");
});

step("its progress and its result are shown", async () => {
  await run();
  await result().getByText("Completed").waitFor();
  await result().getByText("# done\n42").waitFor();
  await look("result");
  await page.reload();
  await result().getByText("# done\n42").waitFor();
  await until("the form has the job's input", async () =>
    (await page.getByLabel("code").inputValue()) === "print('# done')\nprint(6 * 7)");
});

step("a job appears in the list while it runs, and can be watched and cancelled", async () => {
  const token = await server.token("admin");
  await person.goTo("Jobs");
  await page.getByRole("link", { name: "python.run" }).waitFor();
  await fetch(`${server.url}/api/v1/packs/python.run`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ code: "import time; time.sleep(600)", timeout_s: 900, wait_s: 0 }),
  });
  const row = page.locator("tr", { hasText: "Working" });
  await row.getByText("running python3").waitFor();
  await row.getByRole("link", { name: "Watch" }).waitFor();
  await look("jobs");
  await row.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel job" }).click();
  await page.locator("tr", { hasText: "Cancelled" }).waitFor();
  assert.equal(await page.getByRole("progressbar").count(), 0);
});

step("a job is repeated with its input filled in", async () => {
  await page.getByLabel("State").selectOption("Completed");
  await page.locator("tr", { hasText: "Cancelled" }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "python.run" }).click();
  const drawer = page.getByRole("dialog");
  await drawer.getByText("# done\n42").waitFor();
  await look("drawer");
  await drawer.getByRole("link", { name: "Run again…" }).click();
  await until("the form has the job's input", async () => (await page.getByLabel("code").inputValue()) !== "");
  await page.getByLabel("code").fill("print('again')");
  await run();
  await result().getByText("again").waitFor();
  await person.leave();
});
