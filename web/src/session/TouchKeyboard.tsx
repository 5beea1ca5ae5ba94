import { useRef } from "react";
import { IconButton } from "../ui/IconButton";
import { editBetween, type Edit } from "../viewer/typed";

// Without text to erase, a touch keyboard does not report backspace.
const filler = " ".repeat(32);

interface TouchKeyboardProps {
  /** What receives the text. */
  to: string;
  onEdit: (edit: Edit) => void;
}

/** Opens a phone's keyboard and forwards what is typed. */
export function TouchKeyboard({ to, onEdit }: TouchKeyboardProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const last = useRef(filler);

  const reset = () => {
    if (field.current) field.current.value = filler;
    last.current = filler;
  };
  const onInput = () => {
    const text = field.current?.value ?? "";
    onEdit(editBetween(last.current, text));
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
        aria-label={`Typed text goes to the ${to}`}
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
        tabIndex={-1}
        onInput={onInput}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          onEdit({ erase: 0, text: "\n" });
        }}
      />
    </>
  );
}
