// Waiting for conditions.

/** The timeout of a test on a busy machine, in milliseconds. */
export const patience = 30_000;

/**
 * Repeats `ask` until the answer is true, and returns it. `what` describes the condition in the error; a function is
 * called then, to also describe the actual state.
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
