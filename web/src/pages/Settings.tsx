import { useEffect, useState } from "react";
import { allows, client, explain } from "../api/client";
import type { Settings as InEffect } from "../api/wire";
import { useIdentity } from "../identity";
import { AppBar } from "../ui/AppBar";

/** Defaults for new sessions. Admins can change them; others can see them. */
export function Settings({ onLogOut }: { onLogOut: () => void }) {
  const identity = useIdentity();
  const [settings, setSettings] = useState<InEffect | null>(null);
  const [told, setTold] = useState<{ error: boolean; text: string } | null>(null);
  const [busy, setBusy] = useState(false);
  const mayChange = allows(identity.scopes, "admin");

  useEffect(() => {
    document.title = "Settings · helmdeck";
    client.settings().then(setSettings, (error: unknown) => setTold({ error: true, text: explain(error) }));
  }, []);

  const turn = async (on: boolean) => {
    setBusy(true);
    try {
      setSettings(await client.changeSettings({ browser_passthrough: on }));
      setTold({ error: false, text: on ? "On for new sessions." : "Off for new sessions." });
    } catch (error) {
      setTold({ error: true, text: explain(error) });
    }
    setBusy(false);
  };

  const feature = settings?.browser_passthrough;
  const fixed = feature?.by_configuration ?? false;
  return (
    <div className="plain-page">
      <AppBar current="settings" onLogOut={onLogOut} />
      <main className="settings-page">
        <h1>Settings</h1>
        {settings === null && told === null && <span className="spinner" role="status" aria-label="Loading" />}
        {feature && (
          <section className="setting">
            <label>
              <span>Watch browsers that agents start themselves</span>
              <input
                type="checkbox"
                role="switch"
                checked={feature.enabled}
                disabled={busy || fixed || !mayChange}
                aria-describedby="passthrough-more"
                onChange={(event) => void turn(event.currentTarget.checked)}
              />
            </label>
            <p id="passthrough-more" className="muted">
              In new sessions, a Chrome or Chromium that an agent’s own script starts appears in the live view and
              answers the same API as the session’s own. Programs of the agent can read what is typed into such a
              browser.
            </p>
            {(fixed || !mayChange) && (
              <p className="muted">
                {fixed
                  ? "The server’s configuration turned this on; it can only be turned off there."
                  : "Only an admin can change this."}
              </p>
            )}
          </section>
        )}
        <p role={told?.error ? "alert" : "status"} className={told?.error ? "error" : "muted"}>
          {told?.text}
        </p>
      </main>
    </div>
  );
}
