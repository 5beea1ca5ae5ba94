// Waiting for what takes a moment.

/** The patience of a test on a busy machine, in milliseconds. */
export const patience = 30_000;

/**
 * Asks until the answer is true, and returns it. `what` tells in the failure what was waited for; a
 * function is called then, to tell also what was there instead.
 */
export async function until(what, ask, deadline = patience) {
  const end = performance.now() + deadline;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (performance.now() > end) {
      const text = typeof what === "function" ? await what() : what;
      throw new Error(`not within ${deadline / 1000} s: ${text}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
}
