// Unmodified MCP clients: both lines of the official TypeScript SDK, which speak different generations of the
// protocol. `cargo xtask mcp-clients` runs more of them.

import assert from "node:assert/strict";
import { after, before } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OlderTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Server } from "./server.mjs";
import { story } from "./story.mjs";
import { until } from "./until.mjs";

const step = story();
let server, requestInit, clients;

before(async () => {
  server = await Server.start();
  requestInit = { headers: { authorization: `Bearer ${await server.token("agent", "sessions:*")}` } };
  clients = await connect("/mcp?profile=code");
});
after(async () => {
  await close(clients ?? []);
  await server?.stop();
});

/** One client of each generation. */
async function connect(path) {
  const url = new URL(path, server.url);
  const newer = new Client({ name: "v2", version: "1" }, { versionNegotiation: { mode: "auto" } });
  const older = new OlderClient({ name: "v1", version: "1" });
  await newer.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  await older.connect(new OlderTransport(url, { requestInit }));
  return [
    { client: newer, protocol: "2026-07-28", call: (params, how) => newer.callTool(params, how) },
    { client: older, protocol: "2025-11-25", call: (params, how) => older.callTool(params, undefined, how) },
  ];
}

async function close(all) {
  for (const { client } of all) await client.close();
}

const both = (act) => Promise.all(clients.map(act));

async function call({ call }, name, args = {}, how = {}) {
  const { isError, content, structuredContent } = await call({ name, arguments: args }, how);
  assert.ok(!isError, JSON.stringify(content));
  return structuredContent;
}

const run = (client, command, how) => call(client, "session-exec", { command, timeout_s: 60 }, how);

step("they negotiate different versions, and list tools and resources", () =>
  both(async ({ client, protocol }) => {
    const negotiated = client.getNegotiatedProtocolVersion?.() ?? client.transport.protocolVersion;
    assert.equal(negotiated, protocol);
    const { tools } = await client.listTools();
    assert.ok(tools.some(({ name }) => name === "session-exec"));
    const { resources } = await client.listResources();
    assert.ok(resources.some(({ uri }) => uri === "helmdeck://sessions"));
  }));

step("with the whole catalogue listed, a failed call returns the error to the model", async () => {
  const listing = await connect("/mcp");
  for (const { client, call, protocol } of listing) {
    const { tools } = await client.listTools();
    // The clients check replies against it.
    assert.ok(tools.find(({ name }) => name === "session-show").outputSchema.required.length > 0);
    const { isError, content } = await call({ name: "session-show", arguments: { _session_id: "none" } });
    assert.equal(isError, true, protocol);
    assert.match(content[0].text, /^not_found: /, protocol);
  }
  await close(listing);
});

step("calls without a session use the one that the client created", () =>
  both(async (one) => {
    one.session = (await call(one, "session-create", { mode: "headless" }))._session_id;
    const { stdout, _session_id } = await run(one, `echo ${one.protocol} | tee mine; pwd`);
    assert.equal(stdout, `${one.protocol}\n/workspace\n`);
    assert.equal(_session_id, one.session);
  }));

step("a long command reports progress", () =>
  both(async (one) => {
    let notices = 0;
    const { stdout } = await run(one, "sleep 6; echo rested", { onprogress: () => (notices += 1) });
    assert.equal(stdout, "rested\n");
    assert.ok(notices > 0);
  }));

step("a cancelled command is gone", () =>
  both(async (one) => {
    const abort = new AbortController();
    const endless = run(one, "exec sleep 4321", { signal: abort.signal });
    const seen = async () => (await run(one, "pgrep -fx 'sleep 4321' || true")).stdout !== "";
    await until("the command runs", seen);
    abort.abort();
    await assert.rejects(endless);
    await until("the command is gone", async () => !(await seen()));
  }));

step("the server crashes: the same clients go on in the same sessions", async () => {
  await server.kill();
  await server.restart();
  await both(async (one) => {
    const { stdout, _session_id } = await run(one, "cat mine");
    assert.equal(stdout, `${one.protocol}\n`);
    assert.equal(_session_id, one.session);
    await call(one, "session-end");
  });
});
