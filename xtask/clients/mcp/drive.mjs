// Drives a server with an unmodified TypeScript SDK, in the steps that every MCP client of helmdeck needs.
//
// SDK is v1 or v2, TRANSPORT http, sse or stdio, ERA the protocol generation of v2. Prints a line for
// each step, and "RESTART" when the server is to be killed and started again; a line on the standard
// input says that this is done.
import assert from "node:assert/strict";
import { createInterface } from "node:readline";

const { SDK, TRANSPORT, ERA, HELMDECK_URL, HELMDECK_TOKEN, HELMDECK_BIN } = process.env;
const LONG_S = Number(process.env.LONG_S ?? 90);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

const packages = {
  v1: async () => ({
    ...(await import("@modelcontextprotocol/sdk/client/index.js")),
    ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")),
    ...(await import("@modelcontextprotocol/sdk/client/sse.js")),
    ...(await import("@modelcontextprotocol/sdk/client/stdio.js")),
  }),
  v2: async () => ({
    ...(await import("@modelcontextprotocol/client")),
    ...(await import("@modelcontextprotocol/client/stdio")),
  }),
};
const sdk = await packages[SDK]();

function transport() {
  const requestInit = { headers: { Authorization: `Bearer ${HELMDECK_TOKEN}` } };
  switch (TRANSPORT) {
    case "http":
      return new sdk.StreamableHTTPClientTransport(new URL(`${HELMDECK_URL}/mcp`), { requestInit });
    case "sse":
      return new sdk.SSEClientTransport(new URL(`${HELMDECK_URL}/api/v1/mcp/sse`), { requestInit });
    default:
      return new sdk.StdioClientTransport({
        command: HELMDECK_BIN, args: ["mcp"], env: { ...process.env, HELMDECK_URL, HELMDECK_TOKEN },
      });
  }
}

const options = SDK === "v2" ? { versionNegotiation: { mode: ERA } } : {};
const client = new sdk.Client({ name: `typescript-${SDK}`, version: "1" }, options);
client.onerror = (error) => console.error(`${SDK} ${TRANSPORT}: ${error}`);

// The two lines differ in the place of the options.
const call = (name, args = {}, how = {}) => {
  const params = { name, arguments: args };
  return SDK === "v1" ? client.callTool(params, undefined, how) : client.callTool(params, how);
};

async function succeed(name, args, how) {
  const result = await call(name, args, how);
  assert.ok(!result.isError, `${name}: ${JSON.stringify(result.content).slice(0, 500)}`);
  return result;
}

async function run(command, how) {
  const { structuredContent } = await succeed("session-exec", { command, timeout_s: 600 }, how);
  return structuredContent;
}

const steps = {
  async connect() {
    await client.connect(transport());
    const negotiated = client.getNegotiatedProtocolVersion?.() ?? client.transport.protocolVersion;
    console.log(`PROTOCOL ${negotiated ?? "?"}`);
  },
  async list() {
    const { tools } = await client.listTools();
    assert.ok(tools.some((tool) => tool.name === "desktop-click"), "desktop-click is not listed");
    const { resources } = await client.listResources();
    assert.ok(resources.some((resource) => resource.uri === "helmdeck://sessions"));
    const { contents } = await client.readResource({ uri: "helmdeck://routing-guide" });
    assert.ok(contents[0].text.length > 100);
  },
  async error() {
    // The listed schema of replies does not describe errors.
    const { isError, content } = await call("session-show", { _session_id: "none" });
    assert.ok(isError, "a call for an unknown session succeeded");
    assert.match(content[0].text, /^not_found: /);
  },
  async desktop() {
    const { structuredContent } = await succeed("session-create", { mode: "desktop", label: SDK });
    assert.equal(structuredContent.status, "running");
    assert.ok(structuredContent._session_id && structuredContent._live_view);
  },
  async click() {
    await succeed("desktop-click", { x: 40, y: 40 });
  },
  async screenshot() {
    const { content } = await succeed("desktop-screenshot");
    const picture = content.find((block) => block.type === "image");
    assert.deepEqual([...Buffer.from(picture.data, "base64").subarray(1, 4)], [...Buffer.from("PNG")]);
  },
  async long() {
    let progress = 0;
    const how = { onprogress: () => (progress += 1), resetTimeoutOnProgress: true, timeout: 20_000 };
    const { stdout } = await run(`sleep ${LONG_S}; echo rested`, how);
    assert.equal(stdout.trim(), "rested");
    assert.ok(progress >= Math.floor(LONG_S / 10), `${progress} notices in ${LONG_S} s`);
  },
  // With default options: the SDK gives up after 60 s and hears of no progress.
  async defaults() {
    const began = await run(`sleep ${LONG_S}; echo rested`);
    assert.equal(began.running, LONG_S > 45, JSON.stringify(began));
    const command = `sleep ${LONG_S}; echo rested`;
    const pack = await succeed("cmd-run", { clone_path: "/workspace", command, timeout_s: 600 });
    let job = pack.structuredContent;
    await until(async () => {
      if (job.state === "working") {
        job = (await succeed("pack-status", { job_id: job.job_id })).structuredContent;
      }
      return job.state === "completed";
    }, "the pack ends");
    const { structuredContent } = await succeed("pack-result", { job_id: job.job_id });
    assert.equal(structuredContent.output.stdout.trim(), "rested");
  },
  async cancel() {
    const abort = new AbortController();
    const command = `exec sleep 7${process.pid % 1000}1`;
    const running = run(command, { signal: abort.signal, timeout: 600_000 });
    const seen = async () => (await run(`pgrep -fx '${command.slice(5)}' || true`)).stdout.trim();
    await until(async () => (await seen()) !== "", "the command runs");
    abort.abort();
    await assert.rejects(running);
    await until(async () => (await seen()) === "", "the cancelled command is gone");
  },
  async restart() {
    console.log("RESTART");
    await lines.next();
    // The same session, and the same client.
    await until(() => call("desktop-click", { x: 50, y: 50 }), "a call after the restart", [
      "fetch failed", "ECONNREFUSED", "terminated",
    ]);
    await succeed("desktop-screenshot");
    await client.listTools();
  },
  async end() {
    await succeed("session-end");
    await client.close();
  },
};

async function until(attempt, what, passing = []) {
  const deadline = Date.now() + 30_000 + LONG_S * 1000;
  for (;;) {
    let last = "not yet";
    try {
      const result = await attempt();
      if (result && !result.isError) return;
      if (result?.isError) last = JSON.stringify(result.content);
    } catch (error) {
      last = `${error?.message} ${error?.cause ?? ""}`;
      if (!passing.some((text) => last.includes(text))) throw error;
    }
    assert.ok(Date.now() < deadline, `waited in vain: ${what}: ${last}`);
    await new Promise((done) => setTimeout(done, 200));
  }
}

// Server-sent events of 2024 belong to one server: that transport cannot go on after a restart.
const skipped = TRANSPORT === "sse" ? ["restart"] : [];
// This takes as long as the long command, and does not depend on the transport.
if (TRANSPORT !== "http") skipped.push("defaults");
for (const [name, step] of Object.entries(steps).filter(([name]) => !skipped.includes(name))) {
  const began = Date.now();
  try {
    await step();
    console.log(`OK ${name} ${((Date.now() - began) / 1000).toFixed(1)} s`);
  } catch (error) {
    console.log(`FAILED ${name} ${`${error?.message ?? error}`.replaceAll("\n", " ").slice(0, 400)}`);
    process.exit(1);
  }
}
process.exit(0);
