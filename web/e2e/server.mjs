// A separate server for each test file: the binary named by HELMDECK_BIN, with separate directories and its own port.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { chmod, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { until } from "./until.mjs";

// Ends a server whose test was killed.
const guard = fileURLToPath(new URL("../../crates/testkit/src/guard.sh", import.meta.url));
const binary = process.env.HELMDECK_BIN;
if (!binary) throw new Error("set HELMDECK_BIN to the helmdeck binary to test");

export const password = "correct horse battery staple";

export class Server {
  #process = null;
  #guard = null;
  #log = "";

  /** Starts a server with empty directories and these settings. End it with `stop`. */
  static async start(settings = {}) {
    const server = new Server();
    server.settings = settings;
    // Short, because paths of unix sockets have at most 107 bytes. Sandboxes with other user ids must be able to
    // traverse it.
    server.home = await mkdtemp(join(tmpdir(), "hd-"));
    await chmod(server.home, 0o711);
    // In a separate process group: a signal to the whole group would end the guard, and the server would leave its
    // sandboxes behind.
    server.#guard = spawn("bash", [guard], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
    server.#guard.stdin.on("error", () => {});
    server.#guard.stdin.write(`${server.home}\n`);
    server.port = await freePort();
    server.url = `http://127.0.0.1:${server.port}`;
    try {
      await server.restart();
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  }

  /** Restarts it with the same directories and port. */
  async restart() {
    const child = spawn(binary, ["serve"], {
      env: this.#env(),
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    this.#process = child;
    const keep = (chunk) => (this.#log = (this.#log + chunk).slice(-20_000));
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    await until(
      () => `the server is up\n${this.#log}`,
      async () => {
        assert.equal(child.exitCode, null, `the server did not start\n${this.#log}`);
        return fetch(`${this.url}/healthz`).then((answer) => answer.ok, () => false);
      },
    );
  }

  /** Kills it like a crash would: its sessions stay for the next server. */
  async kill() {
    await this.#end("SIGKILL");
  }

  /** Ends it with its sessions, like Ctrl-C, and checks that nothing is left. */
  async stop() {
    const sandboxed = await this.processes();
    try {
      const orderly = this.#running;
      await this.#end("SIGINT");
      if (orderly) {
        const left = async () => (await this.processes()).concat(await alive(sandboxed));
        await until(
          async () => `no process is left: ${JSON.stringify(await left(), null, 1)}\n${this.#log}`,
          async () => (await left()).length === 0,
        );
      }
    } finally {
      // Only processes of this server, and only if the test has already failed.
      for (const { pid } of await alive(sandboxed)) process.kill(pid, "SIGKILL");
      await rm(this.home, { recursive: true, force: true });
      this.#guard.stdin.end("done\n");
    }
  }

  /** Creates a token of this server. */
  async token(subject, scopes = "admin") {
    const args = ["token", "--sub", subject, "--scopes", scopes];
    const { stdout } = await promisify(execFile)(binary, args, { env: this.#env() });
    return stdout.trim();
  }

  /** The processes in this server's sandboxes: started from its run directory, and their descendants. */
  async processes() {
    const all = await allProcesses();
    const family = all.filter(({ command }) => command.includes(this.#runDir));
    for (const parent of family) {
      family.push(...all.filter((one) => one.parent === parent.pid && !family.includes(one)));
    }
    return family;
  }

  get log() {
    return this.#log;
  }

  get #running() {
    return this.#process !== null && this.#process.exitCode === null && this.#process.signalCode === null;
  }

  get #runDir() {
    return join(this.home, "run");
  }

  #env() {
    // Settings in the environment of the test run must not affect the server.
    const others = Object.entries(process.env).filter(([name]) => !name.startsWith("HELMDECK_"));
    return {
      ...Object.fromEntries(others),
      HELMDECK_ADDR: `127.0.0.1:${this.port}`,
      HELMDECK_DATA_DIR: join(this.home, "data"),
      HELMDECK_RUN_DIR: this.#runDir,
      HELMDECK_ADMIN_PASSWORD: password,
      HELMDECK_LOG: "info",
      ...this.settings,
    };
  }

  async #end(signal) {
    if (!this.#running) return;
    const child = this.#process;
    const exited = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await exited;
  }
}

async function freePort() {
  const listener = createServer();
  await new Promise((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { port } = listener.address();
  await new Promise((resolve) => listener.close(resolve));
  return port;
}

async function allProcesses() {
  const numbers = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  return (await Promise.all(numbers.map((name) => readProcess(Number(name))))).filter(Boolean);
}

/** Null for a process that is gone or a zombie. */
async function readProcess(pid) {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may contain anything, so fields are counted after it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const command = (await readFile(`/proc/${pid}/cmdline`, "utf8")).replaceAll("\0", " ").trim();
    if (fields[0] === "Z" || fields[0] === "X") return null;
    return { pid, parent: Number(fields[1]), started: fields[19], command };
  } catch {
    return null;
  }
}

/** The processes that still run; a reused id is another process. */
async function alive(processes) {
  const now = await Promise.all(processes.map(({ pid }) => readProcess(pid)));
  return processes.filter(({ started }, index) => now[index]?.started === started);
}
