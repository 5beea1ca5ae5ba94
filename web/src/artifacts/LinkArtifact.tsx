import { useState } from "react";
import { client, explain } from "../api/client";
import type { Artifact, ArtifactLink } from "../api/wire";
import { ahead, dateAndTime } from "../format";
import { CopyButton } from "../ui/CopyButton";
import { Dialog } from "../ui/Dialog";

const hour = 3600;
const lives = [
  { seconds: hour / 4, text: "15 minutes" },
  { seconds: hour, text: "1 hour" },
  { seconds: 24 * hour, text: "1 day" },
  { seconds: 7 * 24 * hour, text: "7 days" },
] as const;

/** Creates a link that works without an account, for a while. */
export function LinkArtifact({ artifact, onClose }: { artifact: Artifact; onClose: () => void }) {
  const [life, setLife] = useState<number>(hour);
  const [link, setLink] = useState<ArtifactLink | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  const create = async () => {
    setBusy(true);
    setError(null);
    try {
      setLink(await client.linkArtifact(artifact.key, life));
    } catch (caught) {
      setError(explain(caught));
    }
    setBusy(false);
  };

  return (
    <Dialog title="Link to artifact" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <p className="break-words">
          Anyone with the link can download <b>{artifact.filename}</b>, without an account. A link cannot be revoked;
          deleting the artifact ends it.
        </p>
        {link === null ? (
          <label>
            Works for
            <select value={life} onChange={({ target }) => setLife(Number(target.value))} data-autofocus>
              {lives.map(({ seconds, text }) => (
                <option key={seconds} value={seconds}>
                  {text}
                </option>
              ))}
            </select>
          </label>
        ) : (
          <div className="artifact-link">
            <input readOnly value={link.url} aria-label="Link" onFocus={({ target }) => target.select()} />
            <p className="muted" title={dateAndTime(link.expires_at)} role="status">
              Expires {ahead(link.expires_at, Date.now())}.
            </p>
          </div>
        )}
        {error !== null && (
          <p className="error" role="alert">
            {error}
          </p>
        )}
        <footer>
          <button type="button" onClick={onClose}>
            {link === null ? "Cancel" : "Close"}
          </button>
          {link === null ? (
            <button type="submit" className="primary" disabled={busy}>
              Create link
            </button>
          ) : (
            <CopyButton text={link.url} what="link" />
          )}
        </footer>
      </form>
    </Dialog>
  );
}
