/**
 * How long to wait before the `attempt`-th try (from 0): half a second, doubling, at most ten seconds. Randomized, so
 * that many viewers of a restarted server do not reconnect at the same time.
 */
export function backoff(attempt: number, chance: number = Math.random()): number {
  const full = Math.min(10_000, 500 * 2 ** Math.min(attempt, 10));
  return Math.round(full * (0.75 + chance / 4));
}
