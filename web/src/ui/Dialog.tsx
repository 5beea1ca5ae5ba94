import { useId, useLayoutEffect, useRef, type ReactNode } from "react";
import { IconButton } from "./IconButton";

interface DialogProps {
  title: string;
  onClose: () => void;
  /** A click beside it does not close it. */
  stays?: boolean;
  /** At the side of the window, over its whole height. */
  drawer?: boolean;
  children: ReactNode;
}

/** A modal dialog; the browser keeps the focus inside and closes it on Escape. */
export function Dialog({ title, onClose, stays = false, drawer = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // Before the element is removed: the browser then returns the focus to where it was.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    // The browser would focus the first control, which only closes.
    element?.querySelector<HTMLElement>("[data-autofocus]")?.focus();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className={drawer ? "drawer" : undefined}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      // The element itself is hit only on the backdrop.
      onClick={(event) => !stays && event.target === dialog.current && onClose()}
    >
      <div className="dialog">
        <header>
          <h2 id={heading}>{title}</h2>
          <IconButton icon="close" label="Close" className="quiet" onClick={onClose} />
        </header>
        {children}
      </div>
    </dialog>
  );
}
