import { describe, expect, it } from "vitest";
import { allows } from "../src/api/client";
import type { Model, ModelBudget, ModelUsageRow, Provider, ProviderKey } from "../src/api/wire";
import { dollars, price, rate, tokens } from "../src/models/metrics";
import { nextOrder, sortBy } from "../src/models/sort";
import {
  hostOf,
  keyInUse,
  limitsOf,
  listProviders,
  providersOf,
  readLimits,
  searchModels,
  testWords,
  titleOf,
  usedOf,
} from "../src/models/state";
import { byProvider, sumOf, toneOf } from "../src/models/sums";
import { nextPage, routeOf } from "../src/router";

const provider = (name: string, more: Partial<Provider> = {}): Provider => ({
  name,
  url: `https://api.${name}.com/v1`,
  families: ["chat"],
  needs_key: true,
  available: true,
  key: "vault",
  ...more,
});
const key = (id: string, of: string, more: Partial<ProviderKey> = {}): ProviderKey => ({
  id,
  provider: of,
  label: "",
  owner: "ann",
  source: "vault",
  fingerprint: "0123456789abcdef",
  created_at: "2026-05-01T00:00:00Z",
  updated_at: "2026-05-01T00:00:00Z",
  ...more,
});
const used = (of: string, model: string, more: Partial<ModelUsageRow> = {}): ModelUsageRow => ({
  provider: of,
  model,
  total: 4,
  success: 3,
  errors: 1,
  success_rate: 0.75,
  input_tokens: 1000,
  cached_tokens: 100,
  output_tokens: 200,
  cost_usd: 0.5,
  unpriced: 0,
  avg_latency_ms: 1000,
  last_seen: "2026-05-01T00:00:00Z",
  ...more,
});
const budget = (more: Partial<ModelBudget> = {}): ModelBudget => ({
  caller: "ann",
  own: false,
  used_tokens: 12_345,
  used_usd: 0.42,
  ...more,
});

describe("metrics", () => {
  it("tell tokens with three digits", () => {
    const told = [0, 950, 1000, 12_345, 200_000, 999_499, 999_900, 1_048_576, 2_000_000_000].map(tokens);
    expect(told).toEqual(["0", "950", "1k", "12.3k", "200k", "999k", "1M", "1.05M", "2B"]);
  });

  it("tell dollars with cents, and small amounts with two digits", () => {
    const told = [0, 0.0000001, 0.00045, 0.0123, 0.096, 0.42, 5, 12.4, 1234.5].map(dollars);
    expect(told).toEqual([
      "$0", "under $0.000001", "$0.00045", "$0.012", "$0.096", "$0.42", "$5", "$12.40", "$1,234.50",
    ]);
  });

  it("tell prices with all digits, and what is free or not known", () => {
    expect([2.5, 0.075, 15, 0, null, undefined].map(price)).toEqual(["$2.50", "$0.075", "$15", "free", "–", "–"]);
  });

  it("tell a rate that never looks better than it is", () => {
    expect([1, 0.9999, 0.985, 2 / 3, 0.0001, 0].map(rate)).toEqual(["100%", "99.9%", "98.5%", "66.6%", "0.1%", "0%"]);
    expect([1, 0.99, 0.95, 0.5].map(toneOf)).toEqual(["good", "good", "warn", "bad"]);
  });
});

describe("sorting", () => {
  const items = [{ id: "b", size: 2 }, { id: "a", size: null }, { id: "c", size: 10 }, { id: "d", size: 2 }];
  const ids = (sorted: { id: string }[]) => sorted.map(({ id }) => id).join("");

  it("keeps the order of equal ones, and has those without a value last", () => {
    expect(ids(sortBy(items, ({ size }) => size, false))).toBe("bdca");
    expect(ids(sortBy(items, ({ size }) => size, true))).toBe("cbda");
    expect(ids(sortBy(items, ({ id }) => id, true))).toBe("dcba");
    expect(ids(items)).toBe("bacd");
  });

  it("turns around at the second click", () => {
    const first = nextOrder({ by: "id", down: false }, "size", true);
    expect(first).toEqual({ by: "size", down: true });
    expect(nextOrder(first, "size", true)).toEqual({ by: "size", down: false });
  });
});

describe("providers", () => {
  it("are called by their names", () => {
    expect(["openai", "gemini", "vllm", "constructor"].map(titleOf)).toEqual(["OpenAI", "Google Gemini", "vllm", "constructor"]);
    expect(hostOf("https://openrouter.ai/api/v1")).toBe("openrouter.ai/api");
    expect(hostOf("http://127.0.0.1:11434/v1")).toBe("127.0.0.1:11434");
  });

  it("use the own key, then the oldest shared one, then that of the environment", () => {
    const old = key("old", "openai", { owner: "root", created_at: "2026-01-01T00:00:00Z" });
    const own = key("own", "openai");
    const environment = key("env", "openai", { owner: "", source: "environment" });
    const keys = [environment, key("new", "openai", { owner: "bob" }), old, own, key("other", "groq")];
    expect(keyInUse(provider("openai"), keys, "ann")).toBe(own);
    expect(keyInUse(provider("openai"), keys, "eve")).toBe(old);
    expect(keyInUse(provider("openai", { key: "environment" }), keys, "eve")).toBe(environment);
    expect(keyInUse(provider("openai", { key: null }), keys, "eve")).toBeNull();
  });

  it("are those with a key, then those that need none; the rest lack a key", () => {
    const missing = { available: false, key: null, hint: "nothing answers" };
    const { rows, others } = listProviders(
      [
        provider("groq", missing),
        provider("ollama", { ...missing, needs_key: false }),
        provider("vllm", { key: null, needs_key: false }),
        provider("openai"),
        provider("mistral", missing),
      ],
      [key("own", "openai"), key("spare", "openai", { owner: "bob" }), key("bobs", "mistral", { owner: "bob" })],
      [{ provider: "vllm", message: "vllm answered 500: busy" }],
      "ann",
    );
    expect(rows.map((row) => [row.provider.name, row.key?.id ?? null, row.state, row.problem])).toEqual([
      ["openai", "own", "ready", null],
      ["openai", "spare", "spare", null],
      ["vllm", null, "failing", "Vllm answered 500: busy."],
      ["mistral", "bobs", "spare", null],
      ["ollama", null, "absent", "Nothing answers."],
    ]);
    expect(others.map(({ name }) => name)).toEqual(["groq", "mistral"]);
  });

  it("say in plain words what they think of a key", () => {
    const said = (error: string, more: Partial<Provider> = {}) =>
      testWords({ ok: false, error, latency_ms: 5 }, provider("openai", more));
    expect(testWords({ ok: true, latency_ms: 120 }, provider("openai"))).toBe("OpenAI accepts the key (120 ms).");
    expect(testWords({ ok: true, latency_ms: 3 }, provider("ollama", { key: null }))).toBe("Ollama answers (3 ms).");
    expect(said("openai answered 401: wrong key")).toBe("OpenAI refuses the key: Wrong key.");
    expect(said("openai answered 401: no key", { key: null })).toBe("OpenAI asks for a key: No key.");
    expect(said("openai did not answer within 10 s; the call may have been paid for")).toBe(
      "OpenAI did not answer within 10 s.",
    );
    expect(said("openai cannot be reached: a: Connection refused (os error 111)")).toBe("Nothing answers at api.openai.com.");
  });
});

describe("models", () => {
  const models = ["openrouter/google/gemini-2.5-flash", "openai/gpt-5", "openrouter/auto"].map(
    (id): Model => ({ id, provider: id.split("/")[0] ?? "" }),
  );
  const found = (wanted: string, of = "") => searchModels(models, wanted, of).map(({ id }) => id);

  it("are found by all words, in any order", () => {
    expect(found(" FLASH gemini ")).toEqual(["openrouter/google/gemini-2.5-flash"]);
    expect(found("", "openrouter")).toHaveLength(2);
    expect(found("gpt", "openrouter")).toEqual([]);
    expect(providersOf(models)).toEqual(["openrouter", "openai"]);
  });
});

describe("usage", () => {
  it("of a provider is the sum of its models, and often called ones count for more", () => {
    const rows = [
      used("openai", "a", { total: 3, success: 3, errors: 0, avg_latency_ms: 100, last_seen: "2026-05-02T00:00:00Z" }),
      used("groq", "b"),
      used("openai", "c", { total: 1, success: 0, errors: 1, avg_latency_ms: 500, unpriced: 1 }),
    ];
    expect(byProvider(rows).map(({ provider, total }) => [provider, total])).toEqual([["openai", 4], ["groq", 4]]);
    expect(byProvider(rows)[0]).toMatchObject({
      model: null,
      success_rate: 0.75,
      input_tokens: 2000,
      cost_usd: 1,
      unpriced: 1,
      avg_latency_ms: 200,
      last_seen: "2026-05-02T00:00:00Z",
    });
    expect(sumOf([])).toBeNull();
  });
});

describe("a budget", () => {
  it("tells what is left of each limit", () => {
    expect(limitsOf(budget())).toEqual([]);
    expect(usedOf(budget())).toBe("$0.42 and 12.3k tokens");
    const texts = limitsOf(budget({ daily_usd: 5, daily_tokens: 10_000 })).map(({ text }) => text);
    expect(texts).toEqual(["$4.58 of $5 left", "0 of 10k tokens left"]);
    expect(limitsOf(budget({ daily_usd: 0 }))).toHaveLength(1);
  });

  it("has no limit where the form is empty", () => {
    const form = new FormData();
    form.set("usd", " 2.50 ");
    form.set("tokens", "");
    expect(readLimits(form)).toEqual({ daily_usd: 2.5 });
    form.set("usd", "");
    form.set("tokens", "0");
    expect(readLimits(form)).toEqual({ daily_tokens: 0 });
  });
});

it("shows the page to those who may call models", () => {
  expect(routeOf("/models", "/")).toEqual({ page: "models" });
  expect(nextPage("?next=models")).toBe("models");
  for (const scopes of [["admin"], ["models:use"]]) expect(allows(scopes, "models:use")).toBe(true);
  for (const scopes of [["sessions:*"], []]) expect(allows(scopes, "models:use")).toBe(false);
});
