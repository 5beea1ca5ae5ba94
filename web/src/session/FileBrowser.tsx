import { useCallback, useEffect, useRef, useState, type Dispatch, type SetStateAction } from "react";
import type { Session } from "../api/wire";
import { Icon } from "../ui/Icon";
import { IconButton } from "../ui/IconButton";
import { useDrop } from "./drop";
import { DropHere } from "./DropHere";
import { FileRow } from "./FileRow";
import { folderName, isHidden, join, wayTo } from "./files";
import { useFolder } from "./folder";
import { UploadButton } from "./UploadButton";
import type { Uploads } from "./useUploads";

/** The current position in the files. */
export interface Place {
  folder: string;
  /** Whether hidden names are shown. */
  hidden: boolean;
}

interface FileBrowserProps {
  session: Session;
  over: boolean;
  place: Place;
  onPlace: Dispatch<SetStateAction<Place>>;
  uploads: Uploads;
}

/** The files of a session: lists, downloads and uploads. */
export function FileBrowser({ session, over, ...rest }: FileBrowserProps) {
  if (over) return <p className="muted log-empty">The session is over, and its files are gone.</p>;
  if (session.status === "starting") return <p className="muted log-empty">The session is starting…</p>;
  return <Browse sessionId={session.id} {...rest} />;
}

type BrowseProps = Omit<FileBrowserProps, "session" | "over"> & { sessionId: string };

function Browse({ sessionId, place, onPlace, uploads }: BrowseProps) {
  const { folder, error, loading, refresh } = useFolder(sessionId, place.folder, uploads.arrived);
  const [trouble, setTrouble] = useState<string | null>(null);
  const list = useRef<HTMLDivElement>(null);
  const drop = useDrop((dropped) => uploads.put(place.folder, dropped), true);
  const name = folderName(place.folder);

  // The clicked row is gone with its folder; move the focus to the new one.
  const before = useRef(place.folder);
  useEffect(() => {
    if (before.current !== place.folder) list.current?.focus();
    before.current = place.folder;
  }, [place.folder]);

  const open = useCallback(
    (folder: string) => {
      setTrouble(null);
      onPlace((old) => ({ ...old, folder }));
    },
    [onPlace],
  );
  const shown = folder?.entries.filter((entry) => place.hidden || !isHidden(entry)) ?? [];
  const hidden = (folder?.entries.length ?? 0) - shown.length;
  const told = trouble ?? error;

  return (
    <div className="files" {...drop.listeners}>
      <div className="files-bar">
        <Way path={place.folder} onOpen={open} />
        <div className="files-tools">
          <IconButton
            icon="eye"
            label="Show hidden files"
            className="quiet"
            aria-pressed={place.hidden}
            onClick={() => onPlace({ ...place, hidden: !place.hidden })}
          />
          <IconButton icon="retry" label="Refresh" className="quiet" onClick={() => void refresh()} />
          <UploadButton folder={name} onFiles={(files) => uploads.put(place.folder, { files, folders: [] })} />
        </div>
      </div>
      {told && (
        <p className="notice" role="alert">
          {told}
        </p>
      )}
      <div
        className="files-list"
        ref={list}
        tabIndex={0}
        role="region"
        aria-label={`Files in ${name}`}
        aria-busy={loading}
      >
        {folder === null && error === null && (
          <p className="log-empty">
            <span className="spinner" role="status" aria-label="Loading" />
          </p>
        )}
        <ul>
          {shown.map((entry) => (
            <FileRow
              key={entry.name}
              sessionId={sessionId}
              path={join(place.folder, entry.name)}
              entry={entry}
              onOpen={open}
              onTrouble={setTrouble}
            />
          ))}
        </ul>
        {folder && shown.length === 0 && (
          <p className="muted log-empty">
            {hidden > 0 ? "Only hidden files are here." : "This folder is empty."}
            <span className="keys-only"> Drop files here, or choose Upload.</span>
          </p>
        )}
        {folder?.truncated && <p className="muted log-empty">There are more files, which are not shown.</p>}
      </div>
      {drop.over && <DropHere text={`Drop to put into ${name}`} />}
    </div>
  );
}

/** The path from the home to a folder; every part is a link. */
function Way({ path, onOpen }: { path: string; onOpen: (path: string) => void }) {
  return (
    <nav className="way" aria-label="Folders on the way">
      <ol>
        {wayTo(path).map((step) => (
          <li key={step}>
            {step === path ? (
              <span className="one-line" aria-current="location" title={folderName(step)}>
                {folderName(step)}
              </span>
            ) : (
              <>
                <button type="button" className="quiet" onClick={() => onOpen(step)}>
                  {folderName(step)}
                </button>
                <Icon name="next" />
              </>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}
