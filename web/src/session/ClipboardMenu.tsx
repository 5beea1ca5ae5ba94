import { useState } from "react";
import { CopyButton } from "../ui/CopyButton";
import { Menu } from "../ui/Menu";
import type { Connection } from "../viewer/connection";

interface ClipboardMenuProps {
  connection: () => Connection | null;
  /** The text that the session last copied. */
  received: string | null;
}

/** Sends text to the session's clipboard, and shows the session's. */
export function ClipboardMenu({ connection, received }: ClipboardMenuProps) {
  return (
    <Menu icon="clipboard" label="Clipboard" text="Clipboard">
      {(close) => (
        <div className="clipboard">
          <Send
            onSend={(text) => {
              connection()?.setClipboard(text);
              close();
              connection()?.focus();
            }}
          />
          <label>
            From the session
            <textarea readOnly rows={3} value={received ?? ""} placeholder="Nothing copied yet" />
          </label>
          {received && <CopyButton text={received} what="text" />}
        </div>
      )}
    </Menu>
  );
}

function Send({ onSend }: { onSend: (text: string) => void }) {
  const [text, setText] = useState("");
  return (
    <>
      <label>
        To the session
        <textarea
          rows={3}
          autoFocus
          value={text}
          placeholder="Paste here, send, then paste in the session"
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <button type="button" className="primary" disabled={!text} onClick={() => onSend(text)}>
        Send to its clipboard
      </button>
    </>
  );
}
