import { createContext, use, useEffect, useRef, useState, type ReactNode } from "react";
import { socket } from "../prefix";
import { Painter } from "../viewer/painter";
import { ThumbnailSocket } from "./socket";

const Context = createContext<ThumbnailSocket | null>(null);

/** Shares one socket among all thumbnails below it. */
export function ThumbnailsProvider({ children }: { children: ReactNode }) {
  const [shared, setShared] = useState<ThumbnailSocket | null>(null);
  useEffect(() => {
    const opened = new ThumbnailSocket(socket("wall"));
    setShared(opened);
    return () => opened.close();
  }, []);
  return <Context value={shared}>{children}</Context>;
}

interface ThumbnailProps {
  sessionId: string;
  /** An ended session keeps its last picture and requests no more. */
  live: boolean;
  /** The address of the last picture of an ended session. */
  last?: string | null;
  /** Shown until the first picture arrives. */
  children: ReactNode;
}

/** The live thumbnail of a session. It is updated only while it is visible. */
export function Thumbnail({ sessionId, live, last = null, children }: ThumbnailProps) {
  const shared = use(Context);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [painted, setPainted] = useState(false);
  const [lost, setLost] = useState(false);

  useEffect(() => {
    const target = canvas.current;
    if (target === null || shared === null || !live) return;
    const painter = new Painter(target);
    const paint = async (jpeg: Blob) => {
      if (await painter.paint(jpeg)) setPainted(true);
    };
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.at(-1)?.isIntersecting) shared.watch(sessionId, paint);
        else shared.unwatch(sessionId);
      },
      { rootMargin: "120px" },
    );
    observer.observe(target);
    return () => {
      observer.disconnect();
      shared.unwatch(sessionId);
    };
  }, [shared, sessionId, live]);

  return (
    <div className="thumbnail">
      <canvas ref={canvas} width={16} height={9} aria-hidden="true" />
      {!painted && last !== null && !lost && (
        <img className="last-picture" src={last} alt="" loading="lazy" onError={() => setLost(true)} />
      )}
      {!painted && (last === null || lost) && <div className="thumbnail-empty">{children}</div>}
    </div>
  );
}
