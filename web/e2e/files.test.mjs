// Files of a session: uploads, downloads, drops, refusals and cancelled transfers.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { after, before } from "node:test";
import { Agent } from "./agent.mjs";
import { openBrowser, Person } from "./browser.mjs";
import { Server } from "./server.mjs";
import { story } from "./story.mjs";
import { until } from "./until.mjs";

const step = story();
const name = "50% Größe #1?.txt";
const copy = "50% Größe #1? (1).txt";
const content = randomBytes(300_000);

let server, browser, agent, desk, person;
before(async () => {
  server = await Server.start();
  browser = await openBrowser();
  agent = await Agent.of(server);
  desk = await agent.desktop("filing");
  person = await Person.arrive(browser, server);
  await person.watch(desk);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

step("a chosen file arrives, and shows in the list", async () => {
  const { page } = person;
  await page.getByRole("tab", { name: "Files" }).click();
  await choose({ [name]: content });
  await row(name).getByText("293 KiB").waitFor();
  await page.getByRole("status", { name: "Uploads" }).getByText("In Home").waitFor();
  assert.ok(content.equals(await desk.file(name)));
});

step("it is downloaded with the same bytes", async () => {
  const started = person.page.waitForEvent("download");
  await row(name).getByRole("link").click();
  const download = await started;
  assert.ok(content.equals(await readFile(await download.path())));
  // A browser removes characters that its system does not allow in names.
  assert.match(download.suggestedFilename(), /^50% Größe #1.\.txt$/);
});

step("an upload with an existing name gets another name", async () => {
  await choose({ [name]: "another" });
  await row(copy).waitFor();
  assert.equal(String(await desk.file(copy)), "another");
  assert.ok(content.equals(await desk.file(name)));
});

step("a file dropped on the picture goes to the desktop, with or without control", async () => {
  const { page } = person;
  // The folder does not exist yet: the first file creates it.
  person.forgive(/404.*files\?path=Desktop/);
  const target = page.locator(".screen");
  const dragged = await transfer({ [name]: content, "second.txt": "2" });
  await target.dispatchEvent("dragover", { dataTransfer: dragged });
  await page.getByText("Drop to put on the desktop").waitFor();
  await target.dispatchEvent("drop", { dataTransfer: dragged });
  await page.getByText("Drop to put on the desktop").waitFor({ state: "detached" });
  await page.getByRole("status", { name: "Uploads" }).getByText("In Desktop").nth(1).waitFor();
  assert.ok(content.equals(await desk.file(`Desktop/${name}`)));
  assert.equal(String(await desk.file("Desktop/second.txt")), "2");
  await person.strip.getByText("The agent drives").waitFor();
});

step("a file dropped on the list goes to the shown folder; a dropped folder is refused with a reason", async () => {
  const { page } = person;
  await row("Desktop").getByRole("button").click();
  await row("second.txt").waitFor();
  // Only a real mouse can drop a real folder.
  await page.evaluate(() => {
    DataTransferItem.prototype.webkitGetAsEntry = function () {
      return { isDirectory: this.getAsFile().name === "photos" };
    };
  });
  const target = page.locator(".files");
  const dragged = await transfer({ [name]: "again", photos: "" });
  await target.dispatchEvent("dragover", { dataTransfer: dragged });
  await page.getByText("Drop to put into Desktop").waitFor();
  await target.dispatchEvent("drop", { dataTransfer: dragged });
  await row(copy).waitFor();
  await page.getByText("Folders cannot be uploaded").waitFor();
  assert.deepEqual((await desk.names("Desktop")).sort(), [copy, name, "second.txt"]);
  await page.getByRole("button", { name: "Dismiss photos" }).click();
  await page.getByText("Folders cannot be uploaded").waitFor({ state: "detached" });
});

step("files of others appear by themselves and in the log", async () => {
  const { page } = person;
  await desk.putFile("Desktop/from the agent.csv", "a,b\n");
  await row("from the agent.csv").getByText("4 B").waitFor();
  await page.getByRole("tab", { name: "Actions" }).click();
  const log = page.getByRole("log").locator(".action");
  const own = log.filter({ hasText: "admin" });
  await own.getByText(`Upload ${name}`, { exact: true }).waitFor();
  await own.getByText(`Download ${name}`, { exact: true }).waitFor();
  await log.filter({ hasText: "Upload Desktop/from the agent.csv" }).getByText("4 B").waitFor();
  await page.getByRole("tab", { name: "Files" }).click();
  await row("from the agent.csv").waitFor();
});

step("the path bar and hidden files", async () => {
  const { page } = person;
  await desk.putFile(".hidden-by-its-name", "");
  await page.getByRole("navigation", { name: "Folders on the way" }).getByRole("button", { name: "Home" }).click();
  await row(copy).waitFor();
  assert.equal(await row(".hidden-by-its-name").count(), 0);
  await page.getByRole("button", { name: "Show hidden files" }).click();
  await row(".hidden-by-its-name").waitFor();
  await page.getByRole("button", { name: "Show hidden files" }).click();
  await row(".hidden-by-its-name").waitFor({ state: "detached" });
});

step("a folder and a file are reached by keyboard alone", async () => {
  const { page } = person;
  await row("Desktop").getByRole("button").focus();
  await page.keyboard.press("Enter");
  const list = page.getByRole("region", { name: "Files in Desktop" });
  await until("the list has the keyboard", () => list.evaluate((element) => element === document.activeElement));
  await row("second.txt").waitFor();
  await page.keyboard.press("Tab");
  const download = page.waitForEvent("download");
  await page.keyboard.press("Enter");
  await (await download).cancel();
});

step("a cancelled upload leaves nothing behind", async () => {
  const { page } = person;
  const network = await page.context().newCDPSession(page);
  const slow = (bytes) =>
    network.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: bytes,
    });
  await network.send("Network.enable");
  await slow(500_000);
  await choose({ "large.bin": randomBytes(20_000_000), "after it.txt": "small" });
  const progress = page.getByRole("progressbar", { name: "Progress of large.bin" });
  await until("it is in progress", async () => (await progress.evaluate(({ value }) => value)) > 300_000);
  await page.getByRole("button", { name: "Cancel large.bin" }).click();
  await slow(-1);
  await network.detach();
  await row("after it.txt").waitFor();
  assert.equal(await page.locator(".upload", { hasText: "large.bin" }).count(), 0);
  assert.ok(!(await desk.names("Desktop")).some((found) => found.includes("large")));
});

step("a refused upload shows the reason and can be retried", async () => {
  const { page } = person;
  person.forgive(/507/);
  const isPut = (url) => url.pathname.endsWith("/late.txt");
  await page.route(isPut, (route) =>
    route.fulfill({ status: 507, json: { error: "session_disk_full", message: "The session's disk is full." } }),
  );
  await choose({ "late.txt": "better late" });
  const failed = page.locator(".upload", { hasText: "late.txt" });
  await failed.getByText("The session's disk is full.").waitFor();
  await page.unroute(isPut);
  await page.getByRole("button", { name: "Try late.txt again" }).click();
  await row("late.txt").waitFor();
  assert.equal(String(await desk.file("Desktop/late.txt")), "better late");
});

step("a file that misses its target does not replace the page", async () => {
  const { page } = person;
  const dragged = await transfer({ "stray.txt": "" });
  for (const kind of ["dragover", "drop"]) {
    const prevented = await page.locator(".toolbar").evaluate(
      (element, [kind, dataTransfer]) =>
        !element.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer })),
      [kind, dragged],
    );
    assert.ok(prevented, kind);
  }
  assert.ok(!(await desk.names("")).includes("stray.txt"));
});

step("a session without a desktop has files too", async () => {
  const { page } = person;
  const { id } = await agent.post("sessions", { mode: "headless", label: "blind", idle_timeout_s: 0 });
  await page.goto(`/sessions/${id}`);
  const target = page.locator(".screen");
  const dragged = await transfer({ [name]: content });
  await target.dispatchEvent("dragover", { dataTransfer: dragged });
  await page.getByText("Drop to put into the session's home").waitFor();
  await target.dispatchEvent("drop", { dataTransfer: dragged });
  await page.getByRole("tab", { name: "Files" }).click();
  await row(name).getByText("293 KiB").waitFor();
  // The page may list the folder once more before it learns of the end.
  person.forgive(new RegExp(`(404|410).*${id}/files`));
  await agent.ask("DELETE", `sessions/${id}`);
  await page.getByText("its files are gone").waitFor();
  await person.leave();
});

step("a person with only a link cannot upload", async () => {
  const guest = await Person.arrive(browser, server);
  const { url } = await agent.get(`desktop/vnc-url?session_id=${desk.id}&role=control`);
  await guest.page.goto(url);
  await guest.seesPicture();
  const dragged = await transfer({ "intruder.txt": "" }, guest.page);
  const target = guest.page.locator(".screen");
  await target.dispatchEvent("dragover", { dataTransfer: dragged });
  await target.dispatchEvent("drop", { dataTransfer: dragged });
  assert.equal(await guest.page.getByText("Drop to put").count(), 0);
  assert.equal(await guest.page.getByRole("tab").count(), 0);
  assert.ok(!(await desk.names("Desktop")).includes("intruder.txt"));
  await guest.leave();
});

/** An entry in the list of files. */
function row(name) {
  return person.page.locator(".files-list li").filter({ has: person.page.getByText(name, { exact: true }) });
}

/** Chooses files like the browser's own dialog. */
async function choose(files) {
  const chooser = person.page.waitForEvent("filechooser");
  await person.page.getByRole("button", { name: "Upload…" }).click();
  const chosen = Object.entries(files).map(([name, bytes]) => ({
    name,
    mimeType: "application/octet-stream",
    buffer: Buffer.from(bytes),
  }));
  await (await chooser).setFiles(chosen);
}

/** A data transfer with files, as a mouse would drag them. */
function transfer(files, page = person.page) {
  const list = Object.entries(files).map(([name, bytes]) => [name, Buffer.from(bytes).toString("base64")]);
  return page.evaluateHandle((list) => {
    const transfer = new DataTransfer();
    for (const [name, bytes] of list) {
      transfer.items.add(new File([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], name));
    }
    return transfer;
  }, list);
}
