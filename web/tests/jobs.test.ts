import { expect, test } from "vitest";
import type { Job } from "../src/api/wire";
import { parseEvent } from "../src/events/event";
import { jobsPage, ranFor, readShown, stateOf, withJob, wordsOf } from "../src/jobs/job";
import { partsOf } from "../src/jobs/output";
import { blocksOf } from "../src/ui/Markdown";

const job = (id: string, second: number, more: Partial<Job> = {}): Job => ({
  job_id: id,
  pack: "repo.fetch",
  version: "v1",
  state: "working",
  progress: 0,
  artifacts: [],
  duration_ms: 0,
  created_at: `2026-01-02T03:04:0${second}Z`,
  started_at: `2026-01-02T03:04:0${second}Z`,
  ...more,
});
const ids = (jobs: Job[]) => jobs.map(({ job_id }) => job_id);

test("a changed job takes its place in the list, and one that the filter excludes leaves it", () => {
  const list = [job("b", 2), job("a", 1)];
  expect(ids(withJob(list, job("c", 3), {}))).toEqual(["c", "b", "a"]);
  expect(withJob(list, job("a", 1, { progress: 50 }), {})[1]?.progress).toBe(50);
  expect(ids(withJob(list, job("a", 1, { state: "completed" }), { state: "working" }))).toEqual(["b"]);
  expect(ids(withJob(list, job("c", 3), { pack: "fs.read" }))).toEqual(["b", "a"]);
});

test("an ended job does not work again because an old answer arrives late", () => {
  const list = [job("a", 1, { state: "completed" })];
  expect(withJob(list, job("a", 1), {})).toBe(list);
});

test("a filter and the open job survive in the address of the page", () => {
  const shown = { state: "failed" as const, pack: "repo.fetch", job: "job-1" };
  expect(readShown(jobsPage(shown).slice("jobs".length))).toEqual(shown);
  expect(jobsPage(readShown("?state=odd"))).toBe("jobs");
});

test("a job says what it does, or why it failed", () => {
  expect(stateOf(job("a", 1, { started_at: null }))).toBe("Waiting");
  expect(wordsOf(job("a", 1, { message: "cloning" }))).toBe("cloning");
  const error = { error: "timeout", message: "too slow" } as Job["error"];
  expect(wordsOf(job("a", 1, { state: "failed", message: "cloning", error: error ?? null }))).toBe("too slow");
  expect(ranFor(job("a", 1), Date.parse("2026-01-02T03:04:04Z"))).toBe(3000);
  expect(ranFor(job("a", 1, { state: "completed", duration_ms: 7 }), 0)).toBe(7);
  expect(ranFor(job("a", 1, { started_at: null }), 0)).toBeNull();
});

test("an event with something else than a job is ignored", () => {
  expect(parseEvent("job", JSON.stringify(job("a", 1)))).toMatchObject({ kind: "job", job: { job_id: "a" } });
  expect(parseEvent("job", "{}")).toBeNull();
});

test("long texts of an output are read as texts, and the rest is a tree", () => {
  const picture = "data:image/png;base64,AAAA";
  const { texts, rest } = partsOf({ count: 1, name: "short", stdout: "a\nb", readme: "# x\n", shot: picture });
  expect(texts.map(({ name, kind }) => [name, kind])).toEqual([
    ["stdout", "text"],
    ["readme", "markdown"],
    ["shot", "picture"],
  ]);
  expect(rest).toEqual({ count: 1, name: "short" });
  expect(partsOf({ shot: "data:image/svg+xml;base64,AAAA" }).texts).toEqual([]);
  expect(partsOf([1]).rest).toEqual([1]);
  const nested = partsOf({ readme: { path: "README.md", content: "# x\n" }, only: { log: "a\nb" }, none: {} });
  expect(nested.texts.map(({ name, kind }) => [name, kind])).toEqual([
    ["readme.content", "markdown"],
    ["only.log", "text"],
  ]);
  expect(nested.rest).toEqual({ readme: { path: "README.md" }, none: {} });
});

test("Markdown has headings, lists, code, quotes, tables and paragraphs", () => {
  const text = "# Title\n\none\ntwo\n\n- a\n- b\n  more\n\n```sh\n# no heading\n```\n> said\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\n1. x";
  expect(blocksOf(text)).toEqual([
    { kind: "heading", level: 1, text: "Title" },
    { kind: "paragraph", text: "one\ntwo" },
    { kind: "list", ordered: false, items: ["a", "b more"] },
    { kind: "code", text: "# no heading" },
    { kind: "quote", text: "said" },
    { kind: "table", head: ["a", "b"], rows: [["1", "2"]] },
    { kind: "rule" },
    { kind: "list", ordered: true, items: ["x"] },
  ]);
});

test("any text ends as blocks, without a loop that never ends", () => {
  for (const text of ["", "#", "|", "```", ">", "-", "- ", "1.", "* * *", "a|b\n-|-", "\r\n\r\n", "  \n\tx"]) {
    expect(Array.isArray(blocksOf(text))).toBe(true);
  }
});
