// A person opens a port of the server's machine inside a session, on the session's page.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before } from "node:test";
import { Agent } from "./agent.mjs";
import { openBrowser, Person } from "./browser.mjs";
import { Server } from "./server.mjs";
import { story } from "./story.mjs";

const step = story();
let server, browser, session, site, port, person;
before(async () => {
  site = createServer((_, response) => {
    response.setHeader("content-type", "text/html");
    response.end("<title>my site</title>");
  });
  await new Promise((listening) => site.listen(0, "127.0.0.1", listening));
  port = site.address().port;
  server = await Server.start();
  browser = await openBrowser();
  session = await (await Agent.of(server)).headless("my site");
  person = await Person.arrive(browser, server);
  await person.logIn(`/sessions/${session.id}`);
});
after(async () => {
  await browser?.close();
  await server?.stop();
  site.close();
  site.closeAllConnections();
});

step("a port that is no port is refused in words", async () => {
  const { page } = person;
  await page.getByRole("tab", { name: "Details" }).click();
  person.forgive(/forwards/);
  await page.getByLabel("Port of the server's machine").fill("everything");
  await page.getByRole("button", { name: "Forward a port" }).click();
  await page.getByRole("status").getByText(/port/).waitFor();
  assert.deepEqual((await session.show()).forwards ?? [], []);
});

step("a forwarded port opens under the same address", async () => {
  const { page } = person;
  await page.getByLabel("Port of the server's machine").fill(`${port}`);
  await page.getByRole("button", { name: "Forward a port" }).click();
  await page.getByText("Forwarded.").waitFor();
  await page.getByText(`http://localhost:${port}`).waitFor();
  const opened = await session.inBrowser("navigate", { url: `http://localhost:${port}/` });
  assert.equal(opened.title, "my site");
});

step("a removed port is closed", async () => {
  const { page } = person;
  await page.getByRole("button", { name: `Remove port ${port}` }).click();
  await page.getByText(`http://localhost:${port}`).waitFor({ state: "detached" });
  assert.deepEqual((await session.show()).forwards ?? [], []);
  await person.leave();
});
