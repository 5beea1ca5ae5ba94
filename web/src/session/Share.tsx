import { useState } from "react";
import { client, explain } from "../api/client";
import type { Role } from "../api/wire";
import { copy } from "../ui/CopyButton";
import { Icon } from "../ui/Icon";

const hour = 3600;

/** Makes a link to the picture alone that works without an account, for an hour. */
export function Share({ sessionId }: { sessionId: string }) {
  const [told, setTold] = useState<string | null>(null);
  const [link, setLink] = useState<string | null>(null);

  const share = async (role: Role) => {
    try {
      const { url } = await client.ticket(sessionId, role, hour);
      const absolute = new URL(url, document.baseURI).href;
      const copied = await copy(absolute);
      setLink(absolute);
      setTold(copied ? "Copied. It works for an hour." : "It works for an hour.");
    } catch (error) {
      setLink(null);
      setTold(explain(error));
    }
  };

  return (
    <section>
      <h3>Share the picture</h3>
      <div className="row">
        <button type="button" className="quiet" onClick={() => void share("view")}>
          <Icon name="link" /> Link to watch
        </button>
        <button type="button" className="quiet" onClick={() => void share("control")}>
          <Icon name="link" /> Link to watch and drive
        </button>
      </div>
      <p className="muted" role="status">
        {told}
      </p>
      {link && <input readOnly value={link} aria-label="Link" onFocus={(event) => event.target.select()} />}
    </section>
  );
}
