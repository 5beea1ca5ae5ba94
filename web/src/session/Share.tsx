import { useState } from "react";
import { client, explain } from "../api/client";
import type { Role } from "../api/wire";
import { copy } from "../ui/CopyButton";
import { Icon } from "../ui/Icon";
import { Menu } from "../ui/Menu";

const hour = 3600;

/** Creates a link to the picture that works without an account, for an hour. */
export function Share({ sessionId }: { sessionId: string }) {
  return (
    <Menu icon="share" label="Share" text="Share">
      {() => <Links sessionId={sessionId} />}
    </Menu>
  );
}

function Links({ sessionId }: { sessionId: string }) {
  const [told, setTold] = useState<string | null>(null);
  const [link, setLink] = useState<string | null>(null);

  const share = async (role: Role) => {
    try {
      const { url } = await client.ticket(sessionId, role, hour);
      const absolute = new URL(url, document.baseURI).href;
      const copied = await copy(absolute);
      setLink(absolute);
      setTold(copied ? "Link copied. It works for one hour." : "This link works for one hour:");
    } catch (error) {
      setLink(null);
      setTold(explain(error));
    }
  };

  return (
    <section className="share">
      <p className="muted">Anyone with the link can open the picture, without an account.</p>
      <button type="button" onClick={() => void share("view")}>
        <Icon name="eye" /> Link to watch
      </button>
      <button type="button" onClick={() => void share("control")}>
        <Icon name="hand" /> Link to watch and drive
      </button>
      <p role="status">{told}</p>
      {link && <input readOnly value={link} aria-label="Link" onFocus={(event) => event.target.select()} />}
    </section>
  );
}
