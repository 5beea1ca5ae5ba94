/** The agent's status, shown over the picture like a subtitle. */
export function AgentBanner({ status }: { status: string }) {
  return (
    <div className="agent-banner" aria-live="polite" aria-atomic="true">
      {status && <p>{status}</p>}
    </div>
  );
}
