import { memo } from "react";
import { ApiError, client, explain } from "../api/client";
import type { Entry } from "../api/wire";
import { bytes, dateAndTime, moment } from "../format";
import { Icon, type IconName } from "../ui/Icon";
import { fileAddress } from "./files";

interface FileRowProps {
  sessionId: string;
  path: string;
  entry: Entry;
  onOpen: (path: string) => void;
  onTrouble: (text: string) => void;
}

const icons: Record<Entry["kind"], IconName> = { directory: "folder", file: "file", link: "link", other: "terminal" };

/** One entry of a folder: a folder opens, a file is downloaded. */
export const FileRow = memo(function FileRow({ sessionId, path, entry, onOpen, onTrouble }: FileRowProps) {
  const { name, kind } = entry;
  const content = (
    <>
      <Icon name={icons[kind]} />
      <span className="one-line">{name}</span>
      <span className="muted tabular">
        {kind === "file" && `${bytes(entry.size)} · `}
        <time dateTime={entry.modified_at} title={dateAndTime(entry.modified_at)}>
          {moment(entry.modified_at)}
        </time>
      </span>
    </>
  );

  // The target of a link is only known by trying.
  const follow = async () => {
    try {
      await client.files(sessionId, path);
      onOpen(path);
    } catch (error) {
      if (error instanceof ApiError && error.code === "not_a_file") download(fileAddress(sessionId, path), name);
      else onTrouble(explain(error));
    }
  };

  return (
    <li>
      {kind === "file" && (
        <a className="file" href={fileAddress(sessionId, path)} download={name} title={`Download ${name}`}>
          {content}
          <Icon name="download" />
        </a>
      )}
      {kind === "directory" && (
        <button type="button" className="file" title={`Open ${name}`} onClick={() => onOpen(path)}>
          {content}
        </button>
      )}
      {kind === "link" && (
        <button type="button" className="file" title={`Follow ${name}`} onClick={() => void follow()}>
          {content}
        </button>
      )}
      {kind === "other" && (
        <span className="file" title="Neither a file nor a folder">
          {content}
        </span>
      )}
    </li>
  );
});

function download(address: string, name: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
}
