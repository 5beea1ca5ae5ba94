// External programs drive a session's browser: stock Playwright and Puppeteer.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { chromium } from "playwright-core";
import puppeteer from "puppeteer-core";
import { Agent, Desk } from "./agent.mjs";
import { Server } from "./server.mjs";
import { story } from "./story.mjs";
import { until } from "./until.mjs";

const form = `<title>form</title><form action=/done><input name=who placeholder="Your name">
  <button>Send</button></form><a href=/file>get it</a><input type=file id=file>`;

const step = story();
let server, site, local, agent, session, url, playwright, page, bridge, here, folder;

before(async () => {
  site = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, "http://site");
    if (pathname === "/file") {
      response.setHeader("content-disposition", "attachment; filename=report.txt");
      return response.end("downloaded bytes");
    }
    response.setHeader("content-type", "text/html");
    response.end(pathname === "/done" ? `<title>done</title><p id=out>${searchParams.get("who")}</p>` : form);
  });
  await new Promise((listening) => site.listen(0, "127.0.0.1", listening));
  local = `http://host.helmdeck.internal:${site.address().port}/`;
  server = await Server.start({ HELMDECK_EGRESS_ALLOWLIST: "127.0.0.0/8" });
  agent = await Agent.of(server);
  session = new Desk(agent, (await agent.post("sessions", { label: "shared" })).id);
  url = (await session.ticket("control", { reusable: true })).cdp_url;
});
after(async () => {
  await playwright?.close();
  bridge?.kill("SIGINT");
  await server?.stop();
  if (folder) await rm(folder, { recursive: true });
  site.close();
  site.closeAllConnections();
});

step("Playwright fills a form of a site on the server's machine", async () => {
  playwright = await chromium.connectOverCDP(url);
  page = await playwright.contexts()[0].newPage();
  await page.goto(local);
  await page.getByPlaceholder("Your name").fill("Ada");
  await page.getByRole("button", { name: "Send" }).click();
  await page.waitForURL(/done/);
  assert.equal(await page.textContent("#out"), "Ada");
  const picture = await page.screenshot({ fullPage: true });
  assert.equal(picture.subarray(1, 4).toString(), "PNG");
});

step("its download is a file of the session", async () => {
  await page.goto(local);
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("text=get it")]);
  assert.equal(download.suggestedFilename(), "report.txt");
  await until("the file is there", async () => (await session.names("Downloads")).includes("report.txt"));
  await until("it is complete", async () => `${await session.file("Downloads/report.txt")}` === "downloaded bytes");
});

step("Puppeteer works in the same browser at the same time", async () => {
  const other = await puppeteer.connect({ browserWSEndpoint: url });
  const theirs = await other.newPage();
  await theirs.goto(local);
  await theirs.type("input", "Bob");
  await Promise.all([theirs.waitForNavigation(), theirs.click("button")]);
  assert.equal(await theirs.$eval("#out", (out) => out.textContent), "Bob");
  assert.equal(await page.title(), "form");
  assert.ok((await theirs.screenshot()).length > 1000);
  await theirs.close();
  await other.disconnect();
  assert.equal(await page.evaluate("1 + 1"), 2);
});

step("Chromium is killed: its clients are notified, and the same address leads to the next", async () => {
  const told = new Promise((resolve) => playwright.on("disconnected", resolve));
  const running = (await server.processes()).filter(({ command }) =>
    /^\S*chromium\/chromium --show/.test(command),
  );
  assert.equal(running.length, 1, JSON.stringify(running));
  process.kill(running[0].pid, "SIGKILL");
  await told;
  playwright = await chromium.connectOverCDP(url);
  page = await playwright.contexts()[0].newPage();
  await page.goto(local);
  assert.equal(await page.title(), "form");
});

step("clients also connect through the discovery address", async () => {
  const headers = { authorization: `Bearer ${agent.token}` };
  const found = await chromium.connectOverCDP(`${server.url}/api/v1/sessions/${session.id}/cdp`, { headers });
  assert.ok(found.contexts()[0].pages().length > 0);
  await found.close();
});

step("through `helmdeck cdp`, files are on this machine", async () => {
  folder = await mkdtemp(join(tmpdir(), "hd-client-"));
  const line = ["cdp", session.id, "--url", server.url, "--token", agent.token];
  bridge = spawn(process.env.HELMDECK_BIN, line, { stdio: ["ignore", "pipe", "inherit"] });
  const said = await new Promise((resolve) => bridge.stdout.once("data", (text) => resolve(`${text}`)));
  [here] = said.match(/http:\/\/127\.0\.0\.1:\d+/);
  // With isLocal, Playwright sends the path of a file; otherwise its content.
  const near = await chromium.connectOverCDP(here, { isLocal: true });
  const context = await near.newContext();
  const mine = await context.newPage();
  await mine.goto(local);
  for (const name of ["first.txt", "second.txt"]) {
    const [download] = await Promise.all([mine.waitForEvent("download"), mine.click("text=get it")]);
    assert.equal(`${await readFile(await download.path())}`, "downloaded bytes");
    await download.saveAs(join(folder, name));
    assert.equal(`${await readFile(join(folder, name))}`, "downloaded bytes");
  }
  const names = await session.names("Downloads");
  for (const name of ["report.txt", "report (1).txt", "report (2).txt"]) assert.ok(names.includes(name), `${names}`);
  await writeFile(join(folder, "letter ü.txt"), "from this machine");
  await utimes(join(folder, "letter ü.txt"), 1580702706, 1580702706);
  await mine.setInputFiles("#file", join(folder, "letter ü.txt"));
  const sent = "(async () => { const [file] = document.querySelector('#file').files; return [file.name, await file.text(), file.lastModified]; })()";
  assert.deepEqual(await mine.evaluate(sent), ["letter ü.txt", "from this machine", 1580702706000]);
  await near.close();

  // For tools that only know a host and a port, or only pages. ChromeDriver requires every field of Chromium's own
  // answer, and nodriver asks with the method `get`.
  for (const method of ["GET", "POST"]) {
    const version = await (await fetch(`${here}/json/version`, { method })).json();
    assert.match(version["WebKit-Version"], /^[\d.]+ \(@\w+\)$/);
    for (const field of ["Browser", "Protocol-Version", "User-Agent", "V8-Version", "webSocketDebuggerUrl"]) {
      assert.ok(version[field], field);
    }
  }
  const pages = await (await fetch(`${here}/json/list`)).json();
  assert.ok(pages.every(({ id, webSocketDebuggerUrl: at }) => at === `${here.replace("http", "ws")}/devtools/page/${id}`));
  const other = await puppeteer.connect({ browserURL: here });
  assert.equal((await other.pages()).length, pages.length);
  await other.disconnect();
});

step("uploading a file that is not in the session is an error, not an empty file", async () => {
  await page.goto(local);
  const direct = await page.context().newCDPSession(page);
  const { root } = await direct.send("DOM.getDocument");
  const { nodeId } = await direct.send("DOM.querySelector", { nodeId: root.nodeId, selector: "#file" });
  const files = [join(folder, "letter ü.txt")];
  await assert.rejects(direct.send("DOM.setFileInputFiles", { files, nodeId }), /helmdeck cdp/);
  assert.equal(await page.evaluate("document.querySelector('#file').files.length"), 0);
});

step("a bridge without clients ends when its session is over", async () => {
  const other = await agent.post("sessions", { label: "brief", mode: "headless" });
  const line = ["cdp", other.id, "--url", server.url, "--token", agent.token];
  const idle = spawn(process.env.HELMDECK_BIN, line, { stdio: ["ignore", "pipe", "pipe"] });
  let why = "";
  idle.stderr.on("data", (text) => (why += text));
  const ended = new Promise((resolve) => idle.once("exit", resolve));
  await new Promise((resolve) => idle.stdout.once("data", resolve));
  await agent.ask("DELETE", `sessions/${other.id}`);
  assert.equal(await ended, 1);
  assert.match(why, /ended/);
});

step("the bridge ends when its session is over", async () => {
  const ended = new Promise((resolve) => bridge.once("exit", resolve));
  const near = await chromium.connectOverCDP(here);
  await agent.ask("DELETE", `sessions/${session.id}`);
  assert.equal(await ended, 1);
  await near.close();
});
