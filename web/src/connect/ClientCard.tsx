import type { ConnectClient } from "../api/wire";
import { useNow } from "../clock";
import { ago } from "../format";
import { Link } from "../router";
import { Icon } from "../ui/Icon";
import { byTime, nameOf } from "./connection";
import { kindOf } from "./kind";

/** One program to choose, and whether it has connected. */
export function ClientCard({ client }: { client: ConnectClient }) {
  const now = useNow();
  const { icon, text } = kindOf(client.id);
  const [last] = byTime(client.connected);
  return (
    <li>
      <Link className="client-card" to={`connect?client=${encodeURIComponent(client.id)}`} id={cardId(client.id)}>
        <span className="client-icon">
          <Icon name={icon} />
        </span>
        <span className="client-words">
          <b>{client.title}</b>
          <span className="muted">{text}</span>
          {last && (
            <span className="badge" data-status="running" title={nameOf(last)}>
              <span className="light" />
              Connected {ago(last.last_seen, now)}
            </span>
          )}
        </span>
        <Icon name="next" />
      </Link>
    </li>
  );
}

/** Names the card, for the way back. */
export function cardId(clientId: string): string {
  return `client-${clientId}`;
}
