import type { ReactNode } from "react";
import type { Session } from "../api/wire";
import { IdleWarning } from "../sessions/KeepAlive";
import { ErrorBanner } from "../ui/ErrorBanner";
import { StreamBanner } from "../wall/StreamBanner";
import { DropHere } from "./DropHere";
import { useDrop } from "./drop";
import { Ending } from "./Ending";
import { home } from "./files";
import { UploadTray } from "./UploadTray";
import type { Driver } from "./useDriver";
import type { Uploads } from "./useUploads";

interface PictureFrameProps {
  session: Session;
  driver: Driver;
  uploads: Uploads;
  /** The picture already shows that the connection is lost, with a button: show nothing else. */
  away: boolean;
  /** What just failed. */
  error: string | null;
  onDismiss: () => void;
  /** The picture, once there is one to connect to. */
  children: ReactNode;
}

/** The area below the strip: the picture or why it is missing, and the drop target for files. */
export function PictureFrame({ session, driver, uploads, away, error, onDismiss, children }: PictureFrameProps) {
  const desktop = session.mode === "desktop";
  // Independent of who has control: a new file does not interfere. Attached sessions have no file access.
  const welcome = driver.watchable && driver.mayDrive && !session.attached;
  const drop = useDrop((dropped) => uploads.put(desktop ? "Desktop" : home, dropped), welcome);
  return (
    <div className="house" {...drop.listeners}>
      {driver.over ? (
        <Ending session={session} />
      ) : driver.watchable ? (
        children
      ) : (
        <div className="stage">
          <p className="card" role="status">
            <span className="spinner" /> The session is starting…
          </p>
        </div>
      )}
      <UploadTray uploads={uploads} />
      {!driver.over && <IdleWarning session={session} />}
      {(driver.over || !away) && (
        <div className="messages">
          <ErrorBanner text={error} onDismiss={onDismiss} />
          <StreamBanner />
        </div>
      )}
      {drop.over &&
        (desktop ? (
          <DropHere text="Drop to put on the desktop" hint="in the folder Desktop of the session's home" />
        ) : (
          <DropHere text="Drop to put into the session's home" />
        ))}
    </div>
  );
}
