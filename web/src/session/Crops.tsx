import { useState } from "react";
import { tracePictureUrl } from "../api/client";
import { Dialog } from "../ui/Dialog";
import { Icon } from "../ui/Icon";
import type { TraceEntry } from "./trace";
import { effectOf, hitOf } from "./traceWords";

interface CropsProps {
  sessionId: string;
  /** What happened, with the ids of its pictures. */
  entry: Pick<TraceEntry, "before" | "after" | "hit" | "effect">;
  /** The action in words. */
  what: string;
}

/** How the place of an action looked before and after it, small; a click or Enter enlarges both. */
export function Crops({ sessionId, entry, what }: CropsProps) {
  const [large, setLarge] = useState(false);
  const [lost, setLost] = useState(false);
  const { hit, effect } = entry;
  const summary = [hit && hitOf(hit), effect && effectOf(effect)].filter(Boolean).join(" · ");
  const show = (picture: string | undefined, name: string) =>
    picture && (
      <img
        src={tracePictureUrl(sessionId, picture)}
        alt={name}
        loading="lazy"
        decoding="async"
        onError={() => setLost(true)}
      />
    );
  const [before, after] = [show(entry.before, "Before"), show(entry.after, "After")];
  // The session keeps only the latest.
  if (lost) return <span className="crops-lost muted">Its pictures are no longer kept.</span>;
  return (
    <>
      <button
        type="button"
        className="crops"
        aria-label={`Enlarge before and after: ${what}`}
        title="Before and after"
        onClick={() => setLarge(true)}
      >
        {before}
        {before && after && <Icon name="next" />}
        {after}
      </button>
      {large && (
        <Dialog title={what} onClose={() => setLarge(false)}>
          <div className="dialog-body">
            {summary && <p className="muted">{summary}</p>}
            <div className="large-crops">
              {before && (
                <figure>
                  {before}
                  <figcaption>Before</figcaption>
                </figure>
              )}
              {after && (
                <figure>
                  {after}
                  <figcaption>After</figcaption>
                </figure>
              )}
            </div>
          </div>
        </Dialog>
      )}
    </>
  );
}
