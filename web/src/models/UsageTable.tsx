import { useMemo, useState } from "react";
import type { ModelUsageRow } from "../api/wire";
import { ago, count, dateAndTime, took } from "../format";
import { dollars, rate, tokens } from "./metrics";
import { sortBy, type Order } from "./sort";
import { SortChoice, SortHead, type SortColumn } from "./SortHead";
import { titleOf } from "./state";
import { byProvider, toneOf, type UsageSum } from "./sums";

type Column = "name" | "total" | "success" | "input" | "output" | "cost" | "latency" | "seen";

const columns: SortColumn<Column>[] = [
  { column: "name", text: "Model", down: false },
  { column: "total", text: "Calls", down: true, number: true },
  { column: "success", text: "Success", down: false, number: true },
  { column: "input", text: "Tokens in", down: true, number: true },
  { column: "output", text: "Tokens out", down: true, number: true },
  { column: "cost", text: "Cost", down: true, number: true },
  { column: "latency", text: "Mean time", down: true, number: true },
  { column: "seen", text: "Last call", down: true },
];

const values: Record<Column, (row: UsageSum) => string | number> = {
  name: ({ provider, model }) => `${provider}/${model ?? ""}`,
  total: (row) => row.total,
  success: (row) => row.success_rate,
  input: (row) => row.input_tokens,
  output: (row) => row.output_tokens,
  cost: (row) => row.cost_usd,
  latency: (row) => row.avg_latency_ms,
  seen: (row) => row.last_seen,
};

interface UsageTableProps {
  rows: ModelUsageRow[];
  /** Sums of providers instead of models. */
  whole: boolean;
  now: number;
}

/** What was used of each model or provider; on a phone, one to a card. */
export function UsageTable({ rows, whole, now }: UsageTableProps) {
  const [order, setOrder] = useState<Order<Column>>({ by: "total", down: true });
  const sorted = useMemo(() => {
    const sums: UsageSum[] = whole ? byProvider(rows) : rows;
    return sortBy(sums, values[order.by], order.down);
  }, [rows, whole, order]);
  const named = whole ? columns.map((each) => (each.column === "name" ? { ...each, text: "Provider" } : each)) : columns;
  return (
    <>
      <SortChoice columns={named} order={order} onOrder={setOrder} />
      <table className="table model-usage" aria-label={whole ? "Success rates of providers" : "Success rates of models"}>
        <SortHead columns={named} order={order} onOrder={setOrder} />
        <tbody>
          {sorted.map((row) => (
            <Row key={values.name(row)} row={row} now={now} />
          ))}
        </tbody>
      </table>
    </>
  );
}

function Row({ row, now }: { row: UsageSum; now: number }) {
  const { provider, model, total, errors, success_rate, cached_tokens, unpriced, last_seen } = row;
  return (
    <tr>
      <th scope="row">
        <span className="table-title">{model ?? titleOf(provider)}</span>
        {model !== null && <span className="muted">{titleOf(provider)}</span>}
      </th>
      <td data-label="Calls" data-number>
        {total.toLocaleString("en-US")}
      </td>
      <td data-label="Success" data-number>
        <span className="success" data-tone={toneOf(success_rate)} title={`${count(errors, "call")} of ${total} failed`}>
          <span>{rate(success_rate)}</span>
          <progress max={1} value={success_rate} aria-hidden="true" />
        </span>
      </td>
      <td data-label="Tokens in" data-number title={cached_tokens > 0 ? `${tokens(cached_tokens)} of them from a cache` : undefined}>
        {tokens(row.input_tokens)}
      </td>
      <td data-label="Tokens out" data-number>
        {tokens(row.output_tokens)}
      </td>
      <td data-label="Cost" data-number>
        <span className="cost">
          {/* Nothing is known if no call has a price. */}
          {unpriced === total ? <span className="muted">not known</span> : dollars(row.cost_usd)}
          {unpriced > 0 && unpriced < total && <span className="muted">{count(unpriced, "call")} unpriced</span>}
        </span>
      </td>
      <td data-label="Mean time" data-number>
        {took(row.avg_latency_ms)}
      </td>
      <td data-label="Last call">
        <time dateTime={last_seen} title={dateAndTime(last_seen)}>
          {ago(last_seen, now)}
        </time>
      </td>
    </tr>
  );
}
