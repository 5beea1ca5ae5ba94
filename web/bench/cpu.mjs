// What processes cost, from /proc.

import { readdir, readFile } from "node:fs/promises";

/** Ticks of /proc in a second: the same on every Linux. */
const hertz = 100;

/** All processes, with the processor time they have used themselves, in ticks. */
export async function allProcesses() {
  const numbers = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  return (await Promise.all(numbers.map((name) => readProcess(Number(name))))).filter(Boolean);
}

/** Those with these numbers, and all below them. */
export async function families(pids) {
  const all = await allProcesses();
  const family = all.filter(({ pid }) => pids.includes(pid));
  for (const parent of family) {
    family.push(...all.filter((one) => one.parent === parent.pid && !family.includes(one)));
  }
  return family;
}

/** Whether it still runs; a reused number is another process. */
export async function isAlive({ pid, started }) {
  return (await readProcess(pid))?.started === started;
}

/**
 * Watches while `work` goes on: percent of one core by part of the serving side, and of whatever runs on this
 * machine that the bench did not start. `parts` finds the processes: `{name: [process…]}`.
 */
export async function measure(parts, work) {
  const before = await snapshot(parts);
  const result = await work();
  const after = await snapshot(parts);
  const percent = (ticks) => (ticks / hertz / ((after.at - before.at) / 1000)) * 100;
  const cost = {};
  for (const name of Object.keys(after.parts)) {
    cost[name] = percent(spent(before.parts[name] ?? [], after.parts[name]));
  }
  const others = after.busy - before.busy - spent(before.ours, after.ours);
  return { cost, others: Math.max(0, percent(others)), result };
}

async function snapshot(parts) {
  const found = await parts();
  const [ours, busy] = [await families([process.pid]), await busyTicks()];
  return { at: performance.now(), parts: found, ours, busy };
}

function spent(before, after) {
  const used = new Map(before.map(({ pid, started, ticks }) => [`${pid} ${started}`, ticks]));
  const each = after.map(({ pid, started, ticks }) => ticks - (used.get(`${pid} ${started}`) ?? 0));
  return each.reduce((sum, ticks) => sum + ticks, 0);
}

async function busyTicks() {
  const [first] = (await readFile("/proc/stat", "utf8")).split("\n");
  const [user, nice, system, , , irq, softirq] = first.split(/\s+/).slice(1).map(Number);
  return user + nice + system + irq + softirq;
}

/** Null for one that is gone, also if its parent has not noticed yet. */
async function readProcess(pid) {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may hold anything, so fields are counted from behind it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const command = (await readFile(`/proc/${pid}/cmdline`, "utf8")).replaceAll("\0", " ").trim();
    if (fields[0] === "Z" || fields[0] === "X") return null;
    const ticks = Number(fields[11]) + Number(fields[12]);
    return { pid, parent: Number(fields[1]), started: fields[19], command, ticks };
  } catch {
    return null;
  }
}
