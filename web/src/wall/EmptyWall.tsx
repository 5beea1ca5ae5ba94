import { curlCreate } from "../curl";
import { Link } from "../router";
import { CopyButton } from "../ui/CopyButton";
import { Icon } from "../ui/Icon";

interface EmptyWallProps {
  mayCreate: boolean;
  onCreate: () => void;
}

export function EmptyWall({ mayCreate, onCreate }: EmptyWallProps) {
  const snippet = curlCreate();
  return (
    <section className="empty">
      <h2>No session is running</h2>
      <p className="muted">
        A session is a computer for an agent: a browser, or a whole desktop that you can watch and take over.
      </p>
      <div className="row">
        <Link className="button primary" to="connect">
          <Icon name="connect" /> Connect an agent
        </Link>
        {mayCreate && (
          <button type="button" onClick={onCreate}>
            <Icon name="plus" /> New session
          </button>
        )}
      </div>
      <p className="muted">Or from a shell:</p>
      <div className="snippet">
        <pre>
          <code>{snippet}</code>
        </pre>
        <CopyButton text={snippet} what="command" compact />
      </div>
    </section>
  );
}
