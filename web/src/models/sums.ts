import type { ModelUsageRow } from "../api/wire";

/** How far back usage is summed up. */
export const windows = [
  { window: "24h", text: "24 h", words: "the last 24 hours" },
  { window: "7d", text: "7 d", words: "the last 7 days" },
  { window: "30d", text: "30 d", words: "the last 30 days" },
] as const;

export type Window = (typeof windows)[number]["window"];

/** A sum of calls; without a model, of a whole provider. */
export type UsageSum = Omit<ModelUsageRow, "model"> & { model: string | null };

/** The sum of rows; null if there are none. */
export function sumOf(rows: ModelUsageRow[]): UsageSum | null {
  const [first] = rows;
  if (first === undefined) return null;
  const sum = (of: (row: ModelUsageRow) => number) => rows.reduce((all, row) => all + of(row), 0);
  const total = sum((row) => row.total);
  const success = sum((row) => row.success);
  return {
    provider: first.provider,
    model: null,
    total,
    success,
    errors: sum((row) => row.errors),
    success_rate: total === 0 ? 0 : success / total,
    input_tokens: sum((row) => row.input_tokens),
    cached_tokens: sum((row) => row.cached_tokens),
    output_tokens: sum((row) => row.output_tokens),
    cost_usd: sum((row) => row.cost_usd),
    unpriced: sum((row) => row.unpriced),
    // A model that is called more often counts for more.
    avg_latency_ms: total === 0 ? 0 : Math.round(sum((row) => row.avg_latency_ms * row.total) / total),
    last_seen: rows.map((row) => row.last_seen).reduce((a, b) => (a > b ? a : b)),
  };
}

/** The sums of providers, in the order of their first rows. */
export function byProvider(rows: ModelUsageRow[]): UsageSum[] {
  const names = [...new Set(rows.map(({ provider }) => provider))];
  return names.flatMap((name) => sumOf(rows.filter(({ provider }) => provider === name)) ?? []);
}

/** How good a success rate is. */
export function toneOf(success_rate: number): "good" | "warn" | "bad" {
  if (success_rate >= 0.99) return "good";
  return success_rate >= 0.9 ? "warn" : "bad";
}
