import { useEffect, useState, type DragEvent } from "react";

/** What was dropped or chosen: files, and the names of folders, which a browser does not send. */
export interface Dropped {
  files: File[];
  folders: string[];
}

const carriesFiles = (transfer: DataTransfer | null) => transfer?.types.includes("Files") ?? false;

function droppedIn(transfer: DataTransfer): Dropped {
  const dropped: Dropped = { files: [], folders: [] };
  for (const item of transfer.items) {
    const file = item.kind === "file" ? item.getAsFile() : null;
    if (file === null) continue;
    if (item.webkitGetAsEntry()?.isDirectory) dropped.folders.push(file.name);
    else dropped.files.push(file);
  }
  return dropped;
}

/** Makes an element a drop target: returns whether files are over it, and its event handlers. */
export function useDrop(onDropped: (dropped: Dropped) => void, enabled: boolean) {
  const [over, setOver] = useState(false);
  const listeners = {
    onDragOver: (event: DragEvent) => {
      if (!carriesFiles(event.dataTransfer)) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "copy";
      setOver(true);
    },
    onDragLeave: (event: DragEvent) => {
      // Moving between children does not leave the element.
      if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false);
    },
    onDrop: (event: DragEvent) => {
      setOver(false);
      if (!carriesFiles(event.dataTransfer)) return;
      event.preventDefault();
      onDropped(droppedIn(event.dataTransfer));
    },
  };
  return enabled ? { over, listeners } : { over: false, listeners: {} };
}

/** A file that misses its target must not replace the page. */
export function useNoStrayDrops(): void {
  useEffect(() => {
    const refuse = (event: globalThis.DragEvent) => {
      if (event.defaultPrevented || !carriesFiles(event.dataTransfer)) return;
      event.preventDefault();
      if (event.dataTransfer) event.dataTransfer.dropEffect = "none";
    };
    window.addEventListener("dragover", refuse);
    window.addEventListener("drop", refuse);
    return () => {
      window.removeEventListener("dragover", refuse);
      window.removeEventListener("drop", refuse);
    };
  }, []);
}
