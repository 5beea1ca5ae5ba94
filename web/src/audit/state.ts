import type { AuditEntry, AuditPage } from "../api/wire";

/** The rows on the page, newest first. */
export interface Rows {
  entries: AuditEntry[];
  /** Where older rows continue; null if there are none. */
  next: number | null;
}

/** More would make the page slow; older ones can be loaded again. */
const most = 2000;

/** The first page, with rows that arrived while it was read, oldest first. */
export function firstPage({ entries, next_cursor }: AuditPage, arrived: AuditEntry[]): Rows {
  return arrived.reduce(addRow, { entries, next: next_cursor ?? null });
}

/** Adds a page of older rows. */
export function olderPage(rows: Rows, { entries, next_cursor }: AuditPage): Rows {
  return { entries: [...rows.entries, ...entries], next: next_cursor ?? null };
}

/** Adds a new row at the top. A row that is known already changes nothing. */
export function addRow(rows: Rows, row: AuditEntry): Rows {
  const newest = rows.entries[0];
  if (newest !== undefined && row.id <= newest.id) return rows;
  const entries = [row, ...rows.entries];
  if (entries.length <= most) return { ...rows, entries };
  const kept = entries.slice(0, most);
  return { entries: kept, next: kept.at(-1)?.id ?? rows.next };
}
