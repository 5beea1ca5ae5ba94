// Artifacts: a person uploads files, finds them, shares one and deletes it.
// HELMDECK_SHOTS names a directory for pictures of the page on a phone and a desk, by day and by night.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before } from "node:test";
import { openBrowser, Person } from "./browser.mjs";
import { Server } from "./server.mjs";
import { story } from "./story.mjs";
import { until } from "./until.mjs";

const shots = process.env.HELMDECK_SHOTS;
// One red pixel.
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==",
  "base64",
);

let server, browser, person, page, link;
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

const card = (name) => page.locator(".artifact", { hasText: name });
const step = story();

async function look(what) {
  if (!shots) return;
  for (const [name, width, height] of [["phone", 390, 844], ["desk", 1440, 900]]) {
    await page.setViewportSize({ width, height });
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: join(shots, `artifacts-${what}-${name}-${colorScheme}.png`), animations: "disabled" });
    }
  }
  await page.setViewportSize({ width: 1280, height: 800 });
}

step("an empty page says how to fill it", async () => {
  await person.logIn("/artifacts");
  await page.getByText("No artifacts yet").waitFor();
  await look("empty");
});

step("files are uploaded by choosing or dropping them, and shown with previews", async () => {
  await page.getByLabel("Files for artifacts").setInputFiles([
    { name: "a quarterly report with a long name.csv", mimeType: "text/csv", buffer: Buffer.from("month,total\nJune,12\n") },
    { name: "archive.zip", mimeType: "application/zip", buffer: Buffer.alloc(2_345_678) },
  ]);
  await card("quarterly").waitFor();
  await card("archive").waitFor();
  const dropped = await page.evaluateHandle((bytes) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([new Uint8Array(bytes)], "red.png", { type: "image/png" }));
    transfer.items.add(new File(["<script>document.title = 'gone'</script>"], "page.html", { type: "text/html" }));
    return transfer;
  }, [...png]);
  await page.locator("main").dispatchEvent("dragover", { dataTransfer: dropped });
  await page.getByText("Drop to upload").waitFor();
  await look("drop");
  await page.locator("main").dispatchEvent("drop", { dataTransfer: dropped });
  await card("page.html").waitFor();
  await until("the picture is painted", () =>
    card("red.png").locator("img").evaluate((image) => image.naturalWidth === 1));
  await card("quarterly").getByText("June,12").waitFor();
  await page.getByRole("button", { name: "Dismiss all uploads" }).click();
  await look("some");
});

step("filters find them", async () => {
  await page.getByLabel("Type").selectOption("Images");
  await card("quarterly").waitFor({ state: "detached" });
  assert.equal(await page.locator(".artifact").count(), 1);
  await page.getByLabel("Search by name").fill("nothing like it");
  await page.getByText("No artifact matches").waitFor();
  await look("none");
  await page.getByRole("button", { name: "Show all" }).click();
  await card("archive").waitFor();
});

step("a link works without an account", async () => {
  await card("page.html").getByRole("button", { name: "Link to page.html" }).click();
  await page.getByRole("button", { name: "Create link" }).click();
  link = await page.getByLabel("Link", { exact: true }).inputValue();
  await look("link");
  await page.getByRole("button", { name: "Close" }).last().click();
  const answer = await fetch(link);
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get("content-disposition"), /^attachment/);
  // The browser downloads it, and does not show it.
  const visitor = await browser.newPage();
  const download = visitor.waitForEvent("download");
  await visitor.goto(link).catch(() => {});
  assert.equal((await download).suggestedFilename(), "page.html");
  await visitor.close();
});

step("a deleted artifact is gone, with its link", async () => {
  await card("page.html").getByRole("button", { name: "Delete page.html" }).click();
  await look("delete");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await card("page.html").waitFor({ state: "detached" });
  assert.equal((await fetch(link)).status, 404);
  await person.leave();
});
