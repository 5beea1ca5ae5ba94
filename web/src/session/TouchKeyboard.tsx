import { useRef } from "react";
import { IconButton } from "../ui/IconButton";
import type { Connection } from "../viewer/connection";
import { keysBetween, keysym } from "../viewer/keysym";

// Something to erase: without it a touch keyboard does not report backspace.
const filler = " ".repeat(32);

/** Brings up a phone's keyboard and passes on what is typed. */
export function TouchKeyboard({ connection }: { connection: () => Connection | null }) {
  const field = useRef<HTMLTextAreaElement>(null);
  const last = useRef(filler);

  const reset = () => {
    if (field.current) field.current.value = filler;
    last.current = filler;
  };
  const onInput = () => {
    const text = field.current?.value ?? "";
    for (const key of keysBetween(last.current, text)) connection()?.press([key]);
    last.current = text;
    if (text.length === 0 || text.length > 500) reset();
  };

  return (
    <>
      <IconButton
        icon="key"
        label="On-screen keyboard"
        className="touch-only"
        onClick={() => {
          reset();
          field.current?.focus();
        }}
      />
      <textarea
        ref={field}
        className="off-screen"
        aria-label="Typed text goes to the desktop"
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
        tabIndex={-1}
        onInput={onInput}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          connection()?.press([keysym.Return]);
        }}
      />
    </>
  );
}
