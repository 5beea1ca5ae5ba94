import { expect, test } from "vitest";
import type { Pack } from "../src/api/wire";
import { draftOf, fieldNamed, fieldsOf, inputOf, shownDefault, type Field } from "../src/packs/form";
import { groupsOf, packPage, search, summaryOf } from "../src/packs/pack";
import { nextPage, routeOf } from "../src/router";

const schema = {
  $defs: {
    Path: { type: "string", pattern: "^/", maxLength: 1000 },
    Line: { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] },
    Mode: { oneOf: [{ const: "fast", description: "…" }, { const: "slow" }] },
  },
  properties: {
    _session_id: { type: "string" },
    all: { type: "boolean", default: true },
    args: { type: ["array", "null"], items: { type: "string" } },
    code: { type: ["string", "null"], maxLength: 1048576, minLength: 1 },
    command: { $ref: "#/$defs/Line" },
    depth: { type: "integer", minimum: 0, maximum: 10, default: 1 },
    env: { type: "object", additionalProperties: { type: "string" }, default: {} },
    mode: { anyOf: [{ $ref: "#/$defs/Mode" }, { type: "null" }] },
    path: { $ref: "#/$defs/Path", description: "Where." },
    replace: { type: "string" },
    wait_s: { type: "integer" },
    webhook_secret: { type: "string" },
    workspace: { type: "string", minLength: 1, maxLength: 64 },
  },
  required: ["path"],
};

const { main, options } = fieldsOf(schema);
const fields = [...main, ...options];
const kinds = Object.fromEntries(fields.map(({ name, kind }) => [name, kind]));

test("a schema becomes a form, with the session and required fields first", () => {
  expect(main.slice(0, 2).map(({ name }) => name)).toEqual(["_session_id", "path"]);
  expect(options.map(({ name }) => name)).toEqual(["webhook_secret", "workspace"]);
  expect(kinds).toEqual({
    _session_id: "session",
    path: "text",
    all: "switch",
    args: "list",
    code: "long",
    command: "mixed",
    depth: "number",
    env: "json",
    mode: "choice",
    replace: "long",
    webhook_secret: "secret",
    workspace: "text",
  });
  expect(fields.find(({ name }) => name === "mode")?.choices).toEqual(["fast", "slow"]);
});

test("only what was entered is sent, with its type", () => {
  const draft = {
    path: "/x",
    all: true,
    args: ["-q", "", "two words"],
    command: '["make", "test"]',
    depth: "3",
    env: '{"A": "b"}',
    workspace: "",
    replace: "",
  };
  expect(inputOf(fields, draft)).toEqual({
    input: { path: "/x", args: ["-q", "two words"], command: ["make", "test"], depth: 3, env: { A: "b" }, replace: "" },
    errors: {},
  });
  expect(inputOf(fields, { path: "/x", command: "make test", all: false }).input).toEqual({
    path: "/x",
    command: "make test",
    all: false,
  });
});

test("a mistake is reported at its field", () => {
  const { errors } = inputOf(fields, { depth: "11", env: "{", command: "[1" });
  expect(Object.keys(errors).sort()).toEqual(["command", "depth", "env", "path"]);
  expect(errors.path).toBe("This field is required.");
  expect(errors.depth).toBe("Enter 10 or less.");
  expect(inputOf(fields, { path: "/x", depth: "1.5" }).errors.depth).toBe("Enter a whole number.");
  expect(inputOf(fields, { path: "/x", depth: "many" }).errors.depth).toBe("Enter a number.");
});

test("the input of an earlier job fills the form, and means the same again", () => {
  const input = { path: "/x", args: ["a"], command: ["make"], depth: 2, env: { A: "b" }, mode: "slow", all: false };
  expect(inputOf(fields, draftOf(fields, { ...input, gone: 1, code: null }))).toEqual({ input, errors: {} });
});

test("an error of the server belongs to the field that it names", () => {
  expect(fieldNamed("edits[0].search")).toBe("edits");
  expect(fieldNamed("url")).toBe("url");
  expect(fieldNamed(undefined)).toBeNull();
});

test("empty defaults are not shown", () => {
  const shown = (value: unknown) => shownDefault({ default: value } as Field);
  expect([{}, [], null, "", 120, "main", { a: 1 }].map(shown)).toEqual(["", "", "", "", "120", "main", '{"a":1}']);
});

const pack = (name: string, description = "", intent_keywords: string[] = []): Pack =>
  ({ name, description, routing: { intent_keywords }, nature: {}, programs: [] }) as unknown as Pack;

test("packs are grouped by what they work on, and unknown families have a separate group", () => {
  const groups = groupsOf([pack("zoo.feed"), pack("git.log"), pack("repo.fetch"), pack("fs.read")]);
  expect(groups.map(({ title, packs }) => [title, ...packs.map(({ name }) => name)])).toEqual([
    ["Repositories", "git.log", "repo.fetch"],
    ["Files", "fs.read"],
    ["Zoo", "zoo.feed"],
  ]);
});

test("a search needs all words, wherever they are", () => {
  const packs = [pack("git.log", "Show commits.", ["history"]), pack("fs.read", "Read a file.")];
  expect(search(packs, "History SHOW").map(({ name }) => name)).toEqual(["git.log"]);
  expect(search(packs, " ")).toHaveLength(2);
  expect(search(packs, "history file")).toEqual([]);
});

test("the list shows the first sentence", () => {
  expect(summaryOf(pack("a", "Replace exact text: `search` and `replace`. Fails otherwise."))).toBe(
    "Replace exact text: `search` and `replace`.",
  );
  expect(summaryOf(pack("a", "Read a.txt"))).toBe("Read a.txt");
});

test("a pack and a job survive a login", () => {
  const page = packPage("repo.fetch", "job-1");
  expect(page).toBe("packs/repo.fetch?job=job-1");
  expect(nextPage(`?next=${encodeURIComponent(page)}`)).toBe(page);
  expect([routeOf("/packs", "/").page, routeOf("/jobs", "/").page]).toEqual(["packs", "jobs"]);
  expect(routeOf("/x/packs/repo.fetch", "/x/")).toEqual({ page: "pack", name: "repo.fetch" });
});
