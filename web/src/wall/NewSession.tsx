import { useState, type FormEvent } from "react";
import { client, explain } from "../api/client";
import type { Session } from "../api/wire";
import { useSessions } from "../sessions/provider";
import { Dialog } from "../ui/Dialog";
import { readSpec, timeLimits } from "./spec";

interface NewSessionProps {
  onCreated?: (session: Session) => void;
  onClose: () => void;
}

/** Asks for the few things worth choosing; everything else has a sane default on the server. */
export function NewSession({ onCreated, onClose }: NewSessionProps) {
  const { put } = useSessions();
  const [mode, setMode] = useState("desktop");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const session = await client.create(readSpec(new FormData(event.currentTarget)));
      put(session);
      onClose();
      onCreated?.(session);
    } catch (caught) {
      setError(explain(caught));
      setBusy(false);
    }
  };

  return (
    <Dialog title="New session" onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <label>
          <span>
            Label <span className="muted">optional</span>
          </span>
          <input name="label" maxLength={200} data-autofocus autoComplete="off" placeholder="What it is for" />
        </label>
        <fieldset className="choice">
          <legend>Mode</legend>
          <label>
            <input type="radio" name="mode" value="desktop" defaultChecked onChange={() => setMode("desktop")} />
            <span>
              <b>Desktop</b> A whole Linux desktop you can watch
            </span>
          </label>
          <label>
            <input type="radio" name="mode" value="headless" onChange={() => setMode("headless")} />
            <span>
              <b>Headless</b> Only a browser, fast, that you can watch too
            </span>
          </label>
        </fieldset>
        <div className="columns">
          <label>
            Screen
            <select name="geometry" defaultValue="1920x1080" disabled={mode !== "desktop"}>
              <option value="1024x768">1024 × 768</option>
              <option value="1280x800">1280 × 800</option>
              <option value="1440x900">1440 × 900</option>
              <option value="1920x1080">1920 × 1080</option>
              <option value="2560x1440">2560 × 1440</option>
            </select>
          </label>
          <label>
            Time limit
            <select name="timeout_seconds" defaultValue={3600}>
              {timeLimits.map(({ seconds, text }) => (
                <option key={seconds} value={seconds}>
                  {text}
                </option>
              ))}
            </select>
          </label>
        </div>
        {error && (
          <p className="error" role="alert">
            {error}
          </p>
        )}
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={busy}>
            {busy ? "Creating…" : "Create"}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
