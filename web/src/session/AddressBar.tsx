import { useLayoutEffect, useRef, useState, type RefObject } from "react";
import type { History } from "../api/wire";
import { IconButton } from "../ui/IconButton";
import { isAddress, noAddress } from "./destination";

interface AddressBarProps {
  /** Where the tab is that is looked at. */
  url: string;
  driving?: boolean;
  /** On the way to another page. */
  busy?: boolean;
  /** Takes the field, for whoever wants to lead somebody there. */
  field?: RefObject<HTMLInputElement | null>;
  /** Not given where nobody can send it elsewhere. */
  onGo?: (to: { url: string } | { history: History }) => void;
  /** Called with what is wrong with what was typed. */
  onError?: (text: string) => void;
}

/** Where the browser is; for whoever drives, also where it goes. */
export function AddressBar({ url, driving = false, busy = false, field: given, onGo, onError }: AddressBarProps) {
  // While somebody types, the page's own moves do not take it away.
  const [draft, setDraft] = useState<string | null>(null);
  const own = useRef<HTMLInputElement>(null);
  const field = given ?? own;
  // Whoever is about to type still replaces all of it.
  useLayoutEffect(() => {
    const input = field.current;
    if (driving && draft === null && input !== null && input === document.activeElement) input.select();
  }, [url, driving, draft, field]);
  const step = (history: History) => () => onGo?.({ history });
  const hint = driving || !onGo ? undefined : "Take control to go elsewhere";
  return (
    <form
      className="address-bar"
      onSubmit={(event) => {
        event.preventDefault();
        const to = (draft ?? url).trim();
        if (!driving || to === "") return;
        if (!isAddress(to)) {
          onError?.(noAddress);
          return;
        }
        setDraft(null);
        field.current?.blur();
        onGo?.({ url: to });
      }}
    >
      {onGo && (
        <>
          <IconButton icon="back" label="Back" className="quiet" disabled={!driving} onClick={step("back")} />
          <IconButton icon="forward" label="Forward" className="quiet" disabled={!driving} onClick={step("forward")} />
          <IconButton icon="retry" label="Reload" className="quiet" disabled={!driving} onClick={step("reload")} />
        </>
      )}
      <input
        ref={field}
        aria-label="Address"
        inputMode="url"
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
        enterKeyHint="go"
        maxLength={100_000}
        value={driving ? (draft ?? url) : url}
        readOnly={!driving}
        title={hint}
        placeholder={driving ? "Type an address" : "No page"}
        onFocus={(event) => driving && event.target.select()}
        onBlur={() => setDraft(null)}
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          setDraft(null);
          field.current?.blur();
        }}
      />
      <span className="address-busy" role="status">
        {busy && <span className="spinner" aria-label="Loading" />}
      </span>
    </form>
  );
}
