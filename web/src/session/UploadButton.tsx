import { useRef } from "react";
import { Icon } from "../ui/Icon";

interface UploadButtonProps {
  /** The target folder. */
  folder: string;
  onFiles: (files: File[]) => void;
}

/** Opens the browser's file chooser. */
export function UploadButton({ folder, onFiles }: UploadButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" title={`Upload files to ${folder}`} onClick={() => input.current?.click()}>
        <Icon name="upload" /> Upload…
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={`Files for ${folder}`}
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])]);
          // Otherwise the same file could not be chosen again.
          target.value = "";
        }}
      />
    </>
  );
}
