import type { BudgetLimits, KeyTest, Model, ModelBudget, Provider, ProviderKey, ProviderProblem } from "../api/wire";
import { sentence, took } from "../format";
import { dollars, tokens } from "./metrics";

const titles: Record<string, string> = {
  anthropic: "Anthropic",
  deepseek: "DeepSeek",
  fireworks: "Fireworks",
  gemini: "Google Gemini",
  groq: "Groq",
  mistral: "Mistral",
  ollama: "Ollama",
  openai: "OpenAI",
  openrouter: "OpenRouter",
};

/** What a provider calls itself. */
export function titleOf(provider: string): string {
  return (Object.hasOwn(titles, provider) ? titles[provider] : undefined) ?? provider;
}

/** An address without what every address has. */
export function hostOf(url: string): string {
  return url.replace(/^https?:\/\//, "").replace(/\/v\d+(beta)?\/?$/, "");
}

/** Runs on the server's machine, and takes no key. */
const local = "ollama";

export function takesKey({ name }: Provider): boolean {
  return name !== local;
}

export type ProviderState = "ready" | "failing" | "absent" | "spare";

/** A provider with one of its keys. */
export interface ProviderRow {
  provider: Provider;
  /** Null if it has none, or one that the person may not see. */
  key: ProviderKey | null;
  state: ProviderState;
  /** What is wrong. */
  problem: string | null;
}

/** The key that calls of this person use: the own one, else one that is shared, else the environment's. */
export function keyInUse(provider: Provider, keys: ProviderKey[], subject: string): ProviderKey | null {
  const of = keys.filter((key) => key.provider === provider.name && key.source === provider.key);
  const oldest = of.toSorted((a, b) => a.created_at.localeCompare(b.created_at));
  return oldest.find(({ owner }) => owner === subject) ?? oldest[0] ?? null;
}

export interface Listed {
  /** Those that can be called, and those on the server's machine. */
  rows: ProviderRow[];
  /** Those that lack a key. */
  others: Provider[];
}

/** Providers with their keys, those with a key first. */
export function listProviders(
  providers: Provider[],
  keys: ProviderKey[],
  problems: ProviderProblem[],
  subject: string,
): Listed {
  const rows = providers.flatMap((provider) => {
    const inUse = keyInUse(provider, keys, subject);
    const own = keys.filter((key) => key.provider === provider.name && key !== inUse);
    const spare = own.map((key): ProviderRow => ({ provider, key, state: "spare", problem: null }));
    if (!provider.available && takesKey(provider)) return spare;
    const failed = problems.find((each) => each.provider === provider.name)?.message;
    const told = failed === undefined ? null : testWords({ ok: false, error: failed, latency_ms: 0 }, provider);
    const problem = told ?? (provider.available ? null : sentence(provider.hint ?? ""));
    const state = !provider.available ? "absent" : told === null ? "ready" : "failing";
    return [{ provider, key: inUse, state, problem } satisfies ProviderRow, ...spare];
  });
  const rank = ({ provider, state }: ProviderRow) => (state === "absent" ? 2 : provider.key ? 0 : 1);
  return {
    rows: rows.toSorted((a, b) => rank(a) - rank(b)),
    others: providers.filter((provider) => !provider.available && takesKey(provider)),
  };
}

/** What a provider said to a key. */
export function testWords({ ok, error, latency_ms }: KeyTest, { name, key, url }: Provider): string {
  const title = titleOf(name);
  if (ok) return `${title} ${key ? "accepts the key" : "answers"} (${took(latency_ms)}).`;
  const said = error ?? "no reason was given";
  if (said.includes("Connection refused")) return `Nothing answers at ${hostOf(url)}.`;
  const refused = /answered (401|403): (.*)/s.exec(said);
  if (refused) return `${title} ${key ? "refuses the key" : "asks for a key"}: ${sentence(refused[2] ?? "")}`;
  const named = said.startsWith(`${name} `) ? title + said.slice(name.length) : said;
  // Tests cost nothing.
  return sentence(named.replace("; the call may have been paid for", "").replace(/ \(os error \d+\)/, ""));
}

/** The providers of a list of models, in its order. */
export function providersOf(models: Model[]): string[] {
  return [...new Set(models.map(({ provider }) => provider))];
}

/** The models of a provider whose id has all words. */
export function searchModels(models: Model[], wanted: string, provider: string): Model[] {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (id: string) => words.every((word) => id.toLowerCase().includes(word));
  return models.filter((model) => (provider === "" || model.provider === provider) && has(model.id));
}

/** One limit of a budget, and what is left of it. */
export interface Limit {
  kind: "usd" | "tokens";
  limit: number;
  used: number;
  /** `$4.58 of $5 left`. */
  text: string;
}

export function limitsOf({ daily_usd, daily_tokens, used_usd, used_tokens }: ModelBudget): Limit[] {
  const limit = (kind: Limit["kind"], limit: number | null | undefined, used: number): Limit[] => {
    if (limit == null) return [];
    const [show, noun] = kind === "usd" ? [dollars, ""] : [tokens, " tokens"];
    const left = Math.max(0, limit - used);
    return [{ kind, limit, used, text: `${show(left)} of ${show(limit)}${noun} left` }];
  };
  return [...limit("usd", daily_usd, used_usd), ...limit("tokens", daily_tokens, used_tokens)];
}

/** What was used without regard to limits: `$0.42 and 12.3k tokens`. */
export function usedOf({ used_usd, used_tokens }: ModelBudget): string {
  return `${dollars(used_usd)} and ${tokens(used_tokens)} tokens`;
}

/** The fields of the form for a budget, as the API takes them. An empty field is no limit. */
export function readLimits(form: FormData): BudgetLimits {
  const text = (name: string) => String(form.get(name) ?? "").trim();
  const [usd, tokens] = [text("usd"), text("tokens")];
  return {
    ...(usd === "" ? {} : { daily_usd: Number(usd) }),
    ...(tokens === "" ? {} : { daily_tokens: Number(tokens) }),
  };
}
