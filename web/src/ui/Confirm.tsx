import { useState, type ReactNode } from "react";
import { explain } from "../api/client";
import { Dialog } from "./Dialog";

interface ConfirmProps {
  title: string;
  /** The label of the button that confirms. */
  action: string;
  danger?: boolean;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
  children: ReactNode;
}

/** Asks for confirmation, and shows an error if the action fails. */
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
          {/* An accidental Enter must not confirm something irreversible. */}
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
