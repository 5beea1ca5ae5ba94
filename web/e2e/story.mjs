// Steps that build on each other: after a failed step, the others are skipped.

import { test } from "node:test";

/** With a third argument, the step is a known failure with that reason, and later steps still run. */
export function story() {
  let failed = null;
  return (name, act, todo = false) =>
    test(name, { todo }, async (context) => {
      if (failed !== null) return context.skip(`“${failed}” failed`);
      try {
        await act(context);
      } catch (error) {
        if (!todo) failed = name;
        throw error;
      }
    });
}
