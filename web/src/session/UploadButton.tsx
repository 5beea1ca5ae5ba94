import { useRef } from "react";
import { Icon } from "../ui/Icon";

interface UploadButtonProps {
  /** The target folder. */
  folder: string;
  onFiles: (files: File[]) => void;
  /** Whether it is the page's main action. */
  primary?: boolean;
}

/** Opens the browser's file chooser. */
export function UploadButton({ folder, onFiles, primary = false }: UploadButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button
        type="button"
        className={primary ? "primary" : undefined}
        title={`Upload files to ${folder}`}
        onClick={() => input.current?.click()}
      >
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
