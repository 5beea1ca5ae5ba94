import { useCallback, useState } from "react";
import { client, explain } from "../api/client";
import type { KeyTest } from "../api/wire";

/** The newest tests, by provider. */
export type Tests = Record<string, KeyTest | "busy">;

/** Tests of keys. They stay on the page until a key changes. */
export function useTests(): {
  tests: Tests;
  test: (provider: string) => Promise<void>;
  forget: (provider: string) => void;
  put: (provider: string, result: KeyTest) => void;
} {
  const [tests, setTests] = useState<Tests>({});
  const put = useCallback(
    (provider: string, result: KeyTest | "busy") => setTests((tests) => ({ ...tests, [provider]: result })),
    [],
  );
  const forget = useCallback(
    (provider: string) => setTests(({ [provider]: _, ...others }) => others),
    [],
  );
  const test = useCallback(
    async (provider: string) => {
      put(provider, "busy");
      put(provider, await testOf(provider));
    },
    [put],
  );
  return { tests, test, forget, put };
}

/** Asks a provider; a failure of the server itself is a failed test. */
export async function testOf(provider: string): Promise<KeyTest> {
  try {
    return await client.testProvider(provider);
  } catch (caught) {
    return { ok: false, error: explain(caught), latency_ms: 0 };
  }
}
