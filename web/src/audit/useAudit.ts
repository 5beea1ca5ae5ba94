import { useCallback, useEffect, useState } from "react";
import { client, explain } from "../api/client";
import type { AuditEntry } from "../api/wire";
import type { StreamState } from "../events/source";
import { api } from "../prefix";
import { apiQuery, canFollow, streamQuery, type Filter } from "./filter";
import { addRow, firstPage, olderPage, type Rows } from "./state";
import { openTail } from "./tail";

interface Audit {
  /** Null until they have come. */
  rows: Rows | null;
  error: string | null;
  /** Null if the tail is off. */
  tail: StreamState | null;
  busy: boolean;
  loadOlder: () => Promise<void>;
}

/** The rows that match the filter; with `live`, also those that arrive. */
export function useAudit(filter: Filter, live: boolean): Audit {
  const [rows, setRows] = useState<Rows | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [tail, setTail] = useState<StreamState | null>(null);
  const [busy, setBusy] = useState(false);

  useEffect(() => {
    let current = true;
    let arrived: AuditEntry[] | null = [];
    const load = async () => {
      arrived = [];
      try {
        const page = await client.audit(apiQuery(filter, Date.now()));
        if (!current) return;
        setRows(firstPage(page, arrived ?? []));
        setError(null);
      } catch (caught) {
        if (current) setError(explain(caught));
      }
      arrived = null;
    };
    setRows(null);
    setError(null);
    if (!live || !canFollow(filter, Date.now())) {
      setTail(null);
      void load();
      return () => {
        current = false;
      };
    }
    const following = openTail(api(`audit/stream?${streamQuery(filter)}`), {
      // Rows up to now are read once the stream is open, so that none falls between.
      open: () => void load(),
      row: (row) => {
        if (arrived !== null) arrived.push(row);
        else setRows((rows) => (rows === null ? rows : addRow(rows, row)));
      },
      state: setTail,
    });
    return () => {
      current = false;
      following.close();
    };
  }, [filter, live]);

  const next = rows?.next ?? null;
  const loadOlder = useCallback(async () => {
    if (next === null) return;
    setBusy(true);
    try {
      const page = await client.audit(apiQuery(filter, Date.now()), next);
      setRows((rows) => (rows?.next === next ? olderPage(rows, page) : rows));
      setError(null);
    } catch (caught) {
      setError(explain(caught));
    }
    setBusy(false);
  }, [filter, next]);

  return { rows, error, tail, busy, loadOlder };
}
