import { useState, type FormEvent } from "react";
import type { ConnectRequest, ToolProfile } from "../api/wire";
import { lifetimes, usualLifetime } from "../tokens/lifetime";
import { Icon } from "../ui/Icon";
import { profiles } from "./profile";

interface TokenFormProps {
  /** The program's name. */
  title: string;
  /** Its usual tools. */
  profile: ToolProfile;
  onCreate: (request: ConnectRequest) => Promise<void>;
}

/** One button; everything else has a default. */
export function TokenForm({ title, profile, onCreate }: TokenFormProps) {
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setBusy(true);
    await onCreate(readRequest(new FormData(event.currentTarget)));
    setBusy(false);
  };
  return (
    <form className="token-form" onSubmit={(event) => void submit(event)}>
      <button type="submit" className="primary" disabled={busy}>
        <Icon name="token" /> {busy ? "Creating…" : "Create token"}
      </button>
      <details>
        <summary>Options</summary>
        <div className="token-options">
          <div className="columns">
            <label>
              <span>
                Label <span className="muted">optional</span>
              </span>
              <input name="label" maxLength={100} autoComplete="off" placeholder={title} />
            </label>
            <label>
              Expires
              <select name="ttl_s" defaultValue={usualLifetime}>
                {lifetimes.map(({ seconds, text }) => (
                  <option key={seconds} value={seconds}>
                    {text}
                  </option>
                ))}
              </select>
            </label>
          </div>
          <label className="check">
            <input type="checkbox" name="models" />
            <span>
              <b>Models</b> <span className="muted">It may call models on your account, which may cost money.</span>
            </span>
          </label>
          <fieldset className="choice list">
            <legend>
              Tools in its list <span className="muted">It can call the others, too.</span>
            </legend>
            {profiles.map((each) => (
              <label key={each.profile}>
                <input
                  type="radio"
                  name="profile"
                  value={each.profile}
                  defaultChecked={each.profile === profile}
                />
                <span>
                  <b>
                    {each.text}
                    {each.profile === profile && <span className="muted"> · suits {title}</span>}
                  </b>{" "}
                  {each.hint}
                </span>
              </label>
            ))}
          </fieldset>
        </div>
      </details>
    </form>
  );
}

/** The form's fields as the API takes them; empty ones are left out. */
export function readRequest(form: FormData): ConnectRequest {
  const text = (name: string) => String(form.get(name) ?? "").trim();
  const [label, ttl, profile] = [text("label"), text("ttl_s"), text("profile")];
  return {
    ...(label && { label }),
    ...(ttl && { ttl_s: Number(ttl) }),
    ...(profile && { profile: profile as ToolProfile }),
    ...(form.has("models") && { models: true }),
  };
}
