import { useState, type ReactNode } from "react";
import { explain } from "../api/client";
import { Dialog } from "./Dialog";

interface ConfirmProps {
  title: string;
  /** The label of the button that does it. */
  action: string;
  danger?: boolean;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
  children: ReactNode;
}

/** Asks before doing something, and tells if it did not work. */
export function Confirm({ title, action, danger = false, onConfirm, onClose, children }: ConfirmProps) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const confirm = async () => {
    setBusy(true);
    setError(null);
    try {
      await onConfirm();
      onClose();
    } catch (caught) {
      setError(explain(caught));
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void confirm();
        }}
      >
        {children}
        {error && (
          <p className="error" role="alert">
            {error}
          </p>
        )}
        <footer>
          {/* An Enter too many must not do what cannot be undone. */}
          <button type="button" data-autofocus={danger || undefined} onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className={danger ? "danger" : "primary"} disabled={busy} data-autofocus>
            {action}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
