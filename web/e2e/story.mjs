// Steps that build on each other: after one has failed, the others say nothing about anything.

import { test } from "node:test";

/** With a third argument, the step is known to fail for that reason, and the story goes on without it. */
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
