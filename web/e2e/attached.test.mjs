// An attached display and browser: what the page offers, and what it shows when they disconnect.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before } from "node:test";
import { Agent } from "./agent.mjs";
import { openBrowser, Person } from "./browser.mjs";
import { Server } from "./server.mjs";
import { story } from "./story.mjs";
import { until } from "./until.mjs";

const step = story();
const programs = [];
let server, browser, agent, person;
before(async () => {
  server = await Server.start();
  browser = await openBrowser();
  agent = await Agent.of(server, "admin");
  person = await Person.arrive(browser, server, { viewport: { width: 390, height: 844 }, hasTouch: true });
});
after(async () => {
  for (const program of programs) program.kill("SIGKILL");
  await browser?.close();
  await server?.stop();
});

step("a display without a browser: missing features are not offered, and the page explains why", async () => {
  const { page } = person;
  const options = ["-displayfd", "1", "-geometry", "800x600", "-rfbport", "-1", "-nolisten", "tcp", "-SecurityTypes", "None"];
  const x = start("Xtigervnc", [...options, "-rfbunixpath", join(server.home, "x.sock")]);
  const { program, id } = await attach(["--display", `:${await firstLine(x)}`, "--label", "a display"]);
  await person.logIn(`/sessions/${id}`);
  await page.locator(".badge").getByText("Attached").waitFor();
  await page.locator(".theatre-head").getByText("No browser was attached").waitFor();
  assert.equal(await page.getByRole("button", { name: "Resize" }).count(), 0);

  assert.equal(await page.getByRole("tab", { name: "Files" }).count(), 0);
  await page.getByRole("tab", { name: "Details" }).click();
  await page.getByText("Attached", { exact: true }).last().waitFor();
  assert.equal(await page.getByText("Refused by policy").count(), 0);

  program.kill("SIGINT");
  await page.getByText("The session has ended").waitFor();
  await page.locator(".stage").getByText("on request").waitFor();
  assert.equal(await page.locator(".badge").getByText("Running").count(), 0);
});

step("a closed attached browser is not reported as restarting", async () => {
  const { page } = person;
  person.forgive(/./);
  const profile = join(server.home, "profile");
  await mkdir(profile);
  const more = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const chromium = start("/usr/bin/chromium", [
    ...["--headless", "--remote-debugging-port=0", `--user-data-dir=${profile}`, ...more, "about:blank"],
  ]);
  const portFile = () => readFile(join(profile, "DevToolsActivePort"), "utf8").catch(() => "");
  const port = (await until("the browser listens", portFile)).split("\n")[0];
  const { program, id } = await attach(["--cdp", `http://127.0.0.1:${port}`]);
  await agent.post("browser/navigate", { session_id: id, url: "data:text/html,<title>mine</title>" });
  await page.goto(`/sessions/${id}`);
  await page.locator(".browser-tab", { hasText: "mine" }).waitFor();
  const other = await Person.arrive(browser, server);
  await other.page.goto((await agent.post(`sessions/${id}/tickets`, { role: "view", reusable: true })).url);
  await other.page.locator(".browser-tab", { hasText: "mine" }).waitFor();

  chromium.kill("SIGKILL");
  for (const each of [page, other.page]) {
    await each.locator(".stage").getByText("it is looked for until it is back").waitFor();
  }
  assert.equal(await page.getByText(/by itself|started again|restarting/).count(), 0);

  program.kill("SIGKILL");
  for (const each of [page, other.page]) {
    await each.locator(".stage").getByText(/the program that attached it is (gone|not connected)/i).waitFor();
  }
  assert.equal(await page.getByText("It was ended").count(), 0);
});

function start(command, args) {
  const program = spawn(command, args, { stdio: ["ignore", "pipe", "ignore"] });
  programs.push(program);
  return program;
}

async function firstLine(program) {
  for await (const line of createInterface(program.stdout)) return line.trim();
}

/** Runs `helmdeck attach` until its session is running. */
async function attach(what) {
  const program = start(process.env.HELMDECK_BIN, ["attach", "--url", server.url, "--token", agent.token, ...what]);
  const id = (await firstLine(program)).replace(/^session /, "");
  await until("it answers", async () => (await agent.get(`sessions/${id}`)).status === "running");
  return { program, id };
}
