// The structured browser by REST, beside playwright-core in this process on the same Chromium binary, in one run.
//
//   HELMDECK_BIN=../target/release/helmdeck npm run bench:browser [saved.html …]
//
// Playwright starts its own browser, without a sandbox, and talks to it over a pipe; ours is in a session and
// is asked over HTTP with a token. Pages that are named on the command line are also compared by the bytes of
// their snapshots; Playwright's is the one that its MCP server gives to models. BENCH_QUICK=1 takes few samples.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { basename } from "node:path";
import { chromium } from "playwright-core";
import { Agent } from "../e2e/agent.mjs";
import { Server } from "../e2e/server.mjs";

const times = process.env.BENCH_QUICK ? 5 : 50;
const rows = Array.from({ length: 60 }, (_, n) => `<tr><td>${n}<td><a href="/item/${n}">Item ${n}</a><td>${n * 3} €</tr>`);
const page = `<title>bench</title><h1>Items</h1><button id=more onclick="count.textContent++">More</button>
  <output id=count>0</output><input placeholder=Search><table>${rows.join("")}</table>`;
const saved = new Map();
for (const file of process.argv.slice(2)) saved.set(`/saved/${saved.size}`, { file, html: await readFile(file, "utf8") });

const site = createServer((request, response) => {
  response.setHeader("content-type", "text/html; charset=utf-8");
  response.end(saved.get(request.url)?.html ?? page);
});
await new Promise((listening) => site.listen(0, "127.0.0.1", listening));
const { port } = site.address();
const server = await Server.start({ HELMDECK_EGRESS_ALLOWLIST: "127.0.0.0/8" });
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
try {
  const agent = await Agent.of(server);
  const { id } = await agent.post("sessions", { idle_timeout_s: 0, geometry: "1280x720" });
  const ours = (action, body) => ask(agent, action, { session_id: id, ...body });
  const theirs = await (await browser.newContext({ viewport: { width: 1280, height: 720 } })).newPage();
  const url = { ours: `http://host.helmdeck.internal:${port}/`, theirs: `http://127.0.0.1:${port}/` };

  const cases = [
    {
      name: "navigate and extract",
      ours: async () => {
        await ours("navigate", { url: url.ours });
        await ours("extract", { selector: "body" });
      },
      theirs: async () => {
        await theirs.goto(url.theirs);
        await theirs.innerText("body");
      },
    },
    { name: "click", ours: () => ours("click", { selector: "#more" }), theirs: () => theirs.click("#more") },
    {
      name: "type into a field",
      ours: () => ours("type", { selector: "[placeholder=Search]", text: "forty two" }),
      theirs: () => theirs.fill("[placeholder=Search]", "forty two"),
    },
    { name: "snapshot", ours: () => ours("snapshot", {}), theirs: () => snapshot(theirs) },
    { name: "screenshot", ours: () => ours("screenshot", {}), theirs: () => theirs.screenshot() },
  ];
  console.log(`\n## The structured browser, against playwright-core, ${times} times each\n`);
  console.log("| | ours p50 ms | p95 | playwright-core p50 ms | p95 | ratio of p50 |\n|---|---|---|---|---|---|");
  for (const { name, ...sides } of cases) {
    const taken = { ours: [], theirs: [] };
    for (let n = -3; n < times; n++) {
      // By turns, so that both have the same machine.
      for (const side of ["ours", "theirs"]) {
        const began = performance.now();
        await sides[side]();
        if (n >= 0) taken[side].push(performance.now() - began);
      }
    }
    const at = (side, share) => taken[side].sort((a, b) => a - b)[Math.floor(taken[side].length * share)];
    const [a, b, c, d] = [at("ours", 0.5), at("ours", 0.95), at("theirs", 0.5), at("theirs", 0.95)];
    console.log(`| ${name} | ${a.toFixed(1)} | ${b.toFixed(1)} | ${c.toFixed(1)} | ${d.toFixed(1)} | ${(c / a).toFixed(1)}× |`);
  }
  if (saved.size > 0) {
    console.log("\n| page | our snapshot, bytes | playwright-mcp's | ratio |\n|---|---|---|---|");
    for (const [path, { file }] of saved) {
      await ours("navigate", { url: `http://host.helmdeck.internal:${port}${path}` });
      const mine = await ours("snapshot", { max_bytes: 1_000_000 });
      await theirs.goto(`http://127.0.0.1:${port}${path}`);
      const [a, b] = [Buffer.byteLength(mine.snapshot), Buffer.byteLength(await snapshot(theirs))];
      console.log(`| ${basename(file)} | ${a} | ${b} | ${(a / b).toFixed(2)} |`);
    }
  }
} finally {
  await browser.close();
  await server.stop();
  site.close();
  site.closeAllConnections();
}

/** An action of ours; a picture comes as bytes. */
async function ask(agent, action, body) {
  const answer = await fetch(`${agent.server.url}/api/v1/browser/${action}`, {
    method: "POST",
    headers: { authorization: `Bearer ${agent.token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${action}: ${await answer.text()}`);
  return action === "screenshot" ? answer.arrayBuffer() : answer.json();
}

/** What playwright-mcp gives to models. */
async function snapshot(page) {
  const made = page.ariaSnapshot ? await page.ariaSnapshot({ mode: "ai" }) : await page.locator("body").ariaSnapshot();
  return typeof made === "string" ? made : made.full;
}
