import type { Session, Status } from "../api/wire";

const words: Record<Status, string> = {
  starting: "Starting",
  running: "Running",
  outdated: "Outdated",
  terminated: "Ended",
  error: "Failed",
};

export function StatusBadge({ session }: { session: Session }) {
  return (
    <span className="badge" data-status={session.status}>
      <span className="light" />
      {words[session.status]}
      {session.attached && (
        <span className="mark" title="An existing display or browser, attached by `helmdeck attach`">
          Attached
        </span>
      )}
    </span>
  );
}
