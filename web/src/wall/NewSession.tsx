import { useEffect, useId, useState, type FormEvent } from "react";
import { client, explain } from "../api/client";
import type { Session } from "../api/wire";
import { useSessions } from "../sessions/provider";
import { Dialog } from "../ui/Dialog";
import { idleLimits, readSpec, sizes, timeLimits } from "./spec";

interface NewSessionProps {
  onCreated: (session: Session) => void;
  onClose: () => void;
}

/** A form with the most useful settings; the server has defaults for the rest. */
export function NewSession({ onCreated, onClose }: NewSessionProps) {
  const { put } = useSessions();
  const [mode, setMode] = useState<keyof typeof sizes>("desktop");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const profiles = useProfiles();
  const known = useId();

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const session = await client.create(readSpec(new FormData(event.currentTarget)));
      put(session);
      onClose();
      onCreated(session);
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
              <b>Desktop</b> A whole Linux desktop with a browser
            </span>
          </label>
          <label>
            <input type="radio" name="mode" value="headless" onChange={() => setMode("headless")} />
            <span>
              <b>Headless</b> Only a browser; starts faster
            </span>
          </label>
        </fieldset>
        <label>
          <span>
            Start page <span className="muted">optional</span>
          </span>
          <input
            name="start_url"
            inputMode="url"
            maxLength={4000}
            autoCapitalize="none"
            autoComplete="off"
            spellCheck={false}
            placeholder="example.com"
          />
        </label>
        <div className="columns">
          <label>
            {mode === "desktop" ? "Screen size" : "Page size"}
            <select key={mode} name="geometry" defaultValue={sizes[mode].usual}>
              {sizes[mode].choices.map((size) => (
                <option key={size} value={size}>
                  {size.replace("x", " × ")}
                </option>
              ))}
            </select>
          </label>
          <label>
            <span>
              Profile <span className="muted">optional</span>
            </span>
            <input
              name="profile"
              list={known}
              maxLength={64}
              pattern="[A-Za-z0-9_\-]+"
              title="Letters, digits, - and _. Sign-ins are kept under this name for the next session."
              autoCapitalize="none"
              autoComplete="off"
              spellCheck={false}
              placeholder="Keeps sign-ins"
            />
            <datalist id={known}>
              {profiles.map((name) => (
                <option key={name} value={name} />
              ))}
            </datalist>
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
          <label>
            Ends when idle
            <select name="idle_timeout_s" defaultValue={0}>
              {idleLimits.map(({ seconds, text }) => (
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

/** The names of existing profiles; empty if they cannot be loaded, since any name can be typed. */
function useProfiles(): string[] {
  const [names, setNames] = useState<string[]>([]);
  useEffect(() => {
    client.profiles().then(
      (profiles) => setNames(profiles.map(({ name }) => name)),
      () => {},
    );
  }, []);
  return names;
}
