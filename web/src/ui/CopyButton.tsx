import { useEffect, useState } from "react";
import { Icon } from "./Icon";

interface CopyButtonProps {
  text: string;
  /** What is copied, for example "id". */
  what: string;
  /** The icon alone. */
  compact?: boolean;
  /** Only "Copy", where it is plain what. */
  short?: boolean;
}

/** Copies a text and confirms it for a moment. */
export function CopyButton({ text, what, compact = false, short = false }: CopyButtonProps) {
  const [done, setDone] = useState<"copied" | "failed" | null>(null);
  useEffect(() => {
    if (done === null) return;
    const timer = window.setTimeout(() => setDone(null), 1500);
    return () => window.clearTimeout(timer);
  }, [done]);

  const said = done === "copied" ? "Copied" : done === "failed" ? "Select and copy manually" : `Copy ${what}`;
  return (
    <>
      <button
        type="button"
        className={compact ? "icon-button quiet" : "quiet"}
        title={said}
        aria-label={said}
        onClick={() => void copy(text).then((ok) => setDone(ok ? "copied" : "failed"))}
      >
        <Icon name={done === "copied" ? "check" : "copy"} />
        {!compact && <span>{short && done === null ? "Copy" : said}</span>}
      </button>
      <span className="off-screen" role="status">
        {done !== null && said}
      </span>
    </>
  );
}

export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** The fallback: pages without https have no clipboard API. */
function copyBySelection(text: string): boolean {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "off-screen";
  document.body.append(field);
  field.select();
  const ok = document.execCommand("copy");
  field.remove();
  return ok;
}
