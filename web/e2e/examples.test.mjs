// The agents in examples/, run as their first lines describe, in an empty folder.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import ts from "typescript";
import { Agent } from "./agent.mjs";
import { Server } from "./server.mjs";

const examples = fileURLToPath(new URL("../../examples/", import.meta.url));
const deadline = 120_000;

let server, agent, folder;
before(async () => {
  server = await Server.start();
  agent = await Agent.of(server);
  folder = await mkdtemp(join(tmpdir(), "hd-examples-"));
});
after(async () => {
  await server?.stop();
  if (folder) await rm(folder, { recursive: true });
});

/** Runs a program and checks its output, its picture, and that no session is left. */
async function agentWorks(program, file) {
  const env = { ...process.env, HELMDECK_URL: server.url, JWT: agent.token };
  const { stdout } = await promisify(execFile)(program, [file], { cwd: folder, env, timeout: deadline });
  assert.match(stdout, /watch it live: http/);
  assert.match(stdout, /Thanks, Ada Lovelace 世界/);
  const picture = join(folder, "screen.png");
  assert.equal((await readFile(picture)).subarray(1, 4).toString(), "PNG");
  await rm(picture);
  const headers = { authorization: `Bearer ${agent.token}` };
  const { sessions } = await (await fetch(`${server.url}/api/v1/sessions`, { headers })).json();
  assert.deepEqual(sessions, []);
}

test("the Python agent creates a desktop, drives it and ends it", () => agentWorks("python3", join(examples, "agent.py")));

test("the TypeScript agent creates a desktop, drives it and ends it", async () => {
  const source = await readFile(join(examples, "agent.ts"), "utf8");
  const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
  const script = join(folder, "agent.mjs");
  await writeFile(script, ts.transpileModule(source, { compilerOptions: options }).outputText);
  await agentWorks(process.execPath, script);
});
