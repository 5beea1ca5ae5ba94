// Cells of the tables that benches print.

/** The middle and nearly the worst of some times. */
export function spread(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const rank = (share) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  return sorted.length === 0 ? "–" : `${rank(0.5)} / ${rank(0.95)}`;
}

/** What each part of the serving side cost, in percent of one core. */
export function costs({ cost }) {
  const sum = Object.values(cost).reduce((sum, one) => sum + one, 0);
  const each = Object.entries(cost).map(([name, one]) => `${name} ${one.toFixed(1)}`);
  return `${sum.toFixed(1)} % (${each.join(", ")})`;
}
