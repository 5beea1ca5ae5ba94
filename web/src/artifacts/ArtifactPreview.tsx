import { useEffect, useState } from "react";
import { artifactUrl } from "../api/client";
import type { Artifact } from "../api/wire";
import { Icon } from "../ui/Icon";
import { iconOf, previewOf } from "./kind";

/** How much of a text is loaded. */
const beginning = "bytes=0-1199";

/** A picture, a frame of a video, or the first lines of a text; otherwise an icon. */
export function ArtifactPreview({ artifact }: { artifact: Pick<Artifact, "key" | "content_type" | "size"> }) {
  const [failed, setFailed] = useState(false);
  const kind = failed ? "icon" : previewOf(artifact);
  const fail = () => setFailed(true);
  const src = artifactUrl(artifact.key);
  switch (kind) {
    case "image":
      return <img src={src} alt="" loading="lazy" decoding="async" onError={fail} />;
    case "video":
      // The fragment asks for a frame that is not black.
      return <video src={`${src}#t=0.5`} preload="metadata" muted playsInline onError={fail} />;
    case "text":
      return <TextPreview src={src} onError={fail} />;
    case "icon":
      return <Icon name={iconOf(artifact)} />;
  }
}

function TextPreview({ src, onError }: { src: string; onError: () => void }) {
  const [text, setText] = useState("");
  useEffect(() => {
    const stop = new AbortController();
    fetch(src, { headers: { Range: beginning }, signal: stop.signal })
      .then(async (response) => {
        if (!response.ok) throw new Error(response.statusText);
        setText(await response.text());
      })
      .catch(() => !stop.signal.aborted && onError());
    return () => stop.abort();
  }, [src]);
  return <pre aria-hidden="true">{text}</pre>;
}
