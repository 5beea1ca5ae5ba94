import type { ReactNode } from "react";
import type { Session } from "../api/wire";
import { DropHere } from "./DropHere";
import { useDrop } from "./drop";
import { Ending } from "./Ending";
import { home } from "./files";
import { UploadTray } from "./UploadTray";
import type { Driver } from "./useDriver";
import type { Uploads } from "./useUploads";

interface HouseProps {
  session: Session;
  driver: Driver;
  uploads: Uploads;
  /** The picture, once there is one to connect to. */
  children: ReactNode;
}

/** What lies below the strip: the picture or why there is none, and where files can be dropped. */
export function House({ session, driver, uploads, children }: HouseProps) {
  const desktop = session.mode === "desktop";
  // Whoever drives: a file that is put there disturbs nobody.
  const drop = useDrop((dropped) => uploads.put(desktop ? "Desktop" : home, dropped), driver.watchable && driver.mayDrive);
  return (
    <div className="house" {...drop.listeners}>
      {driver.over ? (
        <div className="stage">
          <Ending session={session} />
        </div>
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
      {drop.over &&
        (desktop ? (
          <DropHere text="Drop to put on the desktop" hint="in the folder Desktop of the session's home" />
        ) : (
          <DropHere text="Drop to put into the session's home" />
        ))}
    </div>
  );
}
