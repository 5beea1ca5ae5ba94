import { useEffect, useState } from "react";
import { useSessions } from "../sessions/provider";

/** Shows when the page may be outdated. Interruptions shorter than a second are ignored. */
export function StreamBanner() {
  const { stream, retry } = useSessions();
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = window.setTimeout(() => setShown(stream === "lost"), stream === "lost" ? 1000 : 0);
    return () => window.clearTimeout(timer);
  }, [stream]);
  return (
    <div role="status">
      {shown && (
        <div className="banner">
          <span className="spinner" />
          <span>The connection to the server is lost; what you see may be old. Reconnecting…</span>
          <button type="button" onClick={retry}>
            Retry now
          </button>
        </div>
      )}
    </div>
  );
}
