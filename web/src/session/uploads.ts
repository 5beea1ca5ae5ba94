/** An upload to a session. */
export interface Upload {
  id: number;
  /** Null if it cannot be uploaded; then only the reason is shown. */
  file: File | null;
  /** Its name in the session. */
  name: string;
  folder: string;
  state: "waiting" | "sending" | "done" | "failed";
  /** The bytes sent so far. */
  sent: number;
  /** What went wrong, and what to do. */
  trouble: string;
}

export type UploadsChange =
  | { kind: "add"; uploads: Upload[] }
  | { kind: "edit"; id: number; edit: Partial<Upload> }
  | { kind: "drop"; id: number }
  | { kind: "clear" };

export function changeUploads(uploads: Upload[], change: UploadsChange): Upload[] {
  switch (change.kind) {
    case "add":
      return [...uploads, ...change.uploads];
    case "edit":
      return uploads.map((upload) => (upload.id === change.id ? { ...upload, ...change.edit } : upload));
    case "drop":
      return uploads.filter(({ id }) => id !== change.id);
    case "clear":
      return uploads.filter(({ state }) => state !== "done");
  }
}

export function isUnderWay({ state }: Upload): boolean {
  return state === "waiting" || state === "sending";
}

const order = { sending: 0, failed: 1, waiting: 2, done: 3 };

/** Sorted by importance. */
export function inOrder(uploads: Upload[]): Upload[] {
  return uploads.toSorted((a, b) => order[a.state] - order[b.state]);
}

/** A short summary of all uploads. */
export function summaryOf(uploads: Upload[]): string {
  const failed = uploads.filter(({ state }) => state === "failed").length;
  const done = uploads.filter(({ state }) => state === "done").length;
  const sent = uploads.length - failed;
  if (uploads.some(isUnderWay)) return sent === 1 ? "Uploading" : `Uploading ${done + 1} of ${sent}`;
  if (failed === 0) return "Uploaded";
  return done === 0 ? "Not uploaded" : `${failed} of ${uploads.length} not uploaded`;
}
