import { useCallback, useEffect, useRef, useState } from "react";
import { client, explain } from "../api/client";
import { CopyButton } from "../ui/CopyButton";
import { IconButton } from "../ui/IconButton";

/** The output of the session's programs. */
export function Logs({ sessionId }: { sessionId: string }) {
  const [text, setText] = useState<string | null>(null);
  const [error, setError] = useState<string | null>(null);
  const output = useRef<HTMLPreElement>(null);

  const load = useCallback(async () => {
    try {
      setText(await client.logs(sessionId));
      setError(null);
    } catch (caught) {
      setError(explain(caught));
    }
  }, [sessionId]);

  useEffect(() => void load(), [load]);
  useEffect(() => {
    if (output.current) output.current.scrollTop = output.current.scrollHeight;
  }, [text]);

  return (
    <div className="logs">
      <div className="logs-bar">
        <span className="muted">The last 400 lines</span>
        <span className="room" />
        <CopyButton text={text ?? ""} what="logs" compact />
        <IconButton icon="retry" label="Refresh" className="quiet" onClick={() => void load()} />
      </div>
      {error && (
        <p className="notice" role="alert">
          {error}
        </p>
      )}
      <pre ref={output} tabIndex={0} aria-label="Logs">
        {text === "" ? "No output yet." : text && <Lines text={text} />}
      </pre>
    </div>
  );
}

/** Each line separately, so that continued lines are indented. */
function Lines({ text }: { text: string }) {
  return text.split("\n").map((line, index) => (
    <span key={index} className="line">
      {line.trim()}
    </span>
  ));
}
