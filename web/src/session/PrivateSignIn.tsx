import { useState } from "react";
import { client } from "../api/client";
import type { Session } from "../api/wire";
import { Icon } from "../ui/Icon";

interface PrivateSignInProps {
  session: Session;
  /** The address of the private tab: the agent may have chosen the page. */
  url: string;
  /** Runs a request, and shows its error. */
  attempt: (work: () => Promise<unknown>) => Promise<void>;
}

/** For the person in control: starts and ends a private sign-in. */
export function PrivateSignIn({ session, url, attempt }: PrivateSignInProps) {
  const [busy, setBusy] = useState<"opening" | "leaving" | null>(null);
  const on = Boolean(session.private_sign_in);
  const run = (what: "opening" | "leaving", work: () => Promise<unknown>) => {
    setBusy(what);
    void attempt(work).then(() => setBusy(null));
  };
  if (!on) {
    return (
      <div className="private-bar" data-on="false">
        <span className="muted one-line">
          Signing in to a site? <span className="wide-only">The agent can read what is typed here.</span>
        </span>
        <button
          type="button"
          disabled={busy !== null}
          title="Opens this page in a tab that the agent and other viewers cannot see"
          onClick={() => run("opening", () => client.beginPrivate(session.id))}
        >
          {busy === "opening" ? <span className="spinner" /> : <Icon name="lock" />}
          {busy === "opening" ? "Opening…" : "Private sign-in"}
        </button>
      </div>
    );
  }
  return (
    <div className="private-bar" data-on="true" role="status">
      <Icon name="lock" />
      <div className="private-text">
        <b>Private sign-in</b>
        <span>Only you see this tab. The agent gets the signed-in page when you leave, not what you type.</span>
        <span className="private-site">
          You are on <b>{siteOf(url)}</b>
        </span>
      </div>
      <div className="row">
        <button
          type="button"
          className="primary"
          disabled={busy !== null}
          title="Gives the signed-in page to the agent's browser"
          onClick={() => run("leaving", () => client.endPrivate(session.id, false))}
        >
          {busy === "leaving" ? "Leaving…" : "Leave"}
        </button>
        <button
          type="button"
          disabled={busy !== null}
          title="Closes the private tab; the agent gets nothing of it"
          onClick={() => run("leaving", () => client.endPrivate(session.id, true))}
        >
          Discard
        </button>
      </div>
    </div>
  );
}

/** The site of an address, which a person must know before typing a password. */
function siteOf(url: string): string {
  if (!URL.canParse(url)) return "a page without an address";
  const { protocol, host } = new URL(url);
  return protocol === "https:" ? host : host ? `${protocol}//${host} (not encrypted)` : protocol;
}
