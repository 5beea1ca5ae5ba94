import { useLayoutEffect, useRef, useState, type RefObject } from "react";
import type { History } from "../api/wire";
import { IconButton } from "../ui/IconButton";
import { isAddress, noAddress } from "./destination";

interface AddressBarProps {
  /** The address of the visible tab. */
  url: string;
  driving?: boolean;
  /** Whether a navigation is in progress. */
  busy?: boolean;
  /** Ref of the field, for callers that focus it. */
  field?: RefObject<HTMLInputElement | null>;
  /** Omitted if navigation is not possible. */
  onGo?: (to: { url: string } | { history: History }) => void;
  /** Called with what is wrong with the input. */
  onError?: (text: string) => void;
}

/** The browser's address; the person in control can change it. */
export function AddressBar({ url, driving = false, busy = false, field: given, onGo, onError }: AddressBarProps) {
  // While a person types, navigations of the page do not overwrite the input.
  const [draft, setDraft] = useState<string | null>(null);
  const own = useRef<HTMLInputElement>(null);
  const field = given ?? own;
  // Keeps the text selected after an update, so that typing replaces it.
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
