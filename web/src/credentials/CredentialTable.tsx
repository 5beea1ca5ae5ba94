import type { Credential } from "../api/wire";
import { ago, dateAndTime } from "../format";
import { useIdentity } from "../identity";
import { CopyButton } from "../ui/CopyButton";
import { Menu } from "../ui/Menu";
import { placeholderOf, typeOf } from "./state";

/** What can be done with a credential. */
export type Task = "rotate" | "access" | "usage" | "delete";

const tasks: { task: Task; text: string; danger?: true }[] = [
  { task: "access", text: "Who may use it…" },
  { task: "usage", text: "Usage…" },
  { task: "rotate", text: "Replace the secret…" },
  { task: "delete", text: "Delete…", danger: true },
];

interface CredentialTableProps {
  /** Names the table. */
  label: string;
  credentials: Credential[];
  now: number;
  /** Not given for those that are set elsewhere. */
  onTask?: (task: Task, credential: Credential) => void;
}

/** Credentials, one to a row; on a phone, one to a card. */
export function CredentialTable({ label, credentials, now, onTask }: CredentialTableProps) {
  return (
    <table className="table credentials" aria-label={label}>
      <thead>
        <tr>
          <th scope="col">Credential</th>
          <th scope="col">Sent to</th>
          <th scope="col">Placeholder</th>
          <th scope="col">{onTask ? "Changed" : "Read"}</th>
          <th scope="col">{onTask && "Last used"}</th>
          <th scope="col">
            <span className="off-screen">{onTask && "Actions"}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {credentials.map((credential) => (
          <Row key={credential.id} credential={credential} now={now} onTask={onTask} />
        ))}
      </tbody>
    </table>
  );
}

interface RowProps {
  credential: Credential;
  now: number;
  onTask: CredentialTableProps["onTask"];
}

function Row({ credential, now, onTask }: RowProps) {
  const { subject } = useIdentity();
  const { name, type, owner, updated_at, last_used_at } = credential;
  const placeholder = placeholderOf(name);
  return (
    <tr>
      <th scope="row">
        <span className="table-title">{name}</span>
        <span className="muted">
          {typeOf(type)}
          {owner !== "" && owner !== subject && ` of ${owner}`}
        </span>
      </th>
      <td data-label="Sent to">
        <code>
          {credential.host_pattern}
          <wbr />
          {credential.path_pattern}
        </code>
      </td>
      <td data-label="Placeholder">
        <span className="placeholder">
          <code>{placeholder}</code>
          <CopyButton text={placeholder} what={`placeholder of ${name}`} compact />
        </span>
      </td>
      <td data-label={onTask ? "Changed" : "Read"}>
        <Moment at={updated_at} now={now} />
      </td>
      <td data-label="Last used" data-empty={!onTask}>
        {onTask && (last_used_at ? <Moment at={last_used_at} now={now} /> : <span className="muted">never</span>)}
      </td>
      <td className="table-actions">
        {onTask && (
          <Menu icon="more" label={`Manage ${name}`}>
            {(close) =>
              tasks.map(({ task, text, danger }) => (
                <button
                  key={task}
                  type="button"
                  className={danger ? "quiet danger-text" : "quiet"}
                  onClick={() => {
                    close();
                    onTask(task, credential);
                  }}
                >
                  {text}
                </button>
              ))
            }
          </Menu>
        )}
      </td>
    </tr>
  );
}

function Moment({ at, now }: { at: string; now: number }) {
  return (
    <time dateTime={at} title={dateAndTime(at)}>
      {ago(at, now)}
    </time>
  );
}
