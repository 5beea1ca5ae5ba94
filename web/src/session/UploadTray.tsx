import { useEffect } from "react";
import { bytes } from "../format";
import { Icon } from "../ui/Icon";
import { IconButton } from "../ui/IconButton";
import { folderName } from "./files";
import { inOrder, isUnderWay, summaryOf, type Upload } from "./uploads";
import type { Uploads } from "./useUploads";

/** How long it stays after files arrived, in milliseconds. */
const stay = 6000;

interface UploadTrayProps {
  uploads: Uploads;
  /** Says where files of a folder have gone. */
  place?: (folder: string) => string;
}

const inFolder = (folder: string) => `In ${folderName(folder)}`;

/** The progress of uploads. Completed ones disappear; failed ones must be dismissed. */
export function UploadTray({ uploads, place = inFolder }: UploadTrayProps) {
  const { list, clear } = uploads;
  const busy = list.some(isUnderWay);
  useEffect(() => {
    if (busy || list.length === 0) return;
    const timer = window.setTimeout(clear, stay);
    return () => window.clearTimeout(timer);
  }, [busy, list, clear]);

  const dropAll = () => list.forEach(({ id }) => uploads.drop(id));
  return (
    <div className="tray" role="status" aria-label="Uploads">
      {list.length > 0 && (
        <div className="tray-card">
          <header>
            <h2>{summaryOf(list)}</h2>
            <IconButton
              icon="close"
              label={busy ? "Cancel all uploads" : "Dismiss all uploads"}
              className="quiet"
              onClick={dropAll}
            />
          </header>
          <ul>
            {inOrder(list).map((upload) => (
              <Row key={upload.id} upload={upload} uploads={uploads} place={place} />
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

function Row({ upload, uploads, place }: Required<UploadTrayProps> & { upload: Upload }) {
  const { id, file, name, folder, state, sent, trouble } = upload;
  const size = file?.size ?? 0;
  return (
    <li className="upload" data-state={state}>
      <Icon name={state === "done" ? "check" : file ? "file" : "folder"} />
      <span className="one-line" title={name}>
        {name}
      </span>
      <span className="upload-buttons">
        {state === "failed" && file && (
          <IconButton
            icon="retry"
            label={`Try ${name} again`}
            className="quiet"
            onClick={() => uploads.retry(upload)}
          />
        )}
        {state !== "done" && (
          <IconButton
            icon="close"
            label={`${state === "failed" ? "Dismiss" : "Cancel"} ${name}`}
            className="quiet"
            onClick={() => uploads.drop(id)}
          />
        )}
      </span>
      {state === "sending" && <progress value={sent} max={size || 1} aria-label={`Progress of ${name}`} />}
      {state === "failed" ? (
        <span className="trouble">{trouble}</span>
      ) : (
        // Constantly changing numbers are not announced.
        <span className="muted tabular" aria-hidden={state === "sending"}>
          {state === "waiting" && `${bytes(size)}, waiting`}
          {state === "sending" && `${bytes(sent)} of ${bytes(size)}`}
          {state === "done" && `${place(folder)}, ${bytes(size)}`}
        </span>
      )}
    </li>
  );
}
