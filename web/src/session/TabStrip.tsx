import type { Tab } from "../api/wire";
import { Icon } from "../ui/Icon";
import { IconButton } from "../ui/IconButton";

interface TabStripProps {
  tabs: Tab[];
  /** The visible tab; null while unknown. */
  shown: string | null;
  /** Whether it follows the agent. */
  following: boolean;
  /** Shows a tab; null to follow the agent. */
  onShow: (tab: string | null) => void;
  /** Omitted if not allowed. */
  onClose?: (tab: string) => void;
  onOpen?: () => void;
}

/** The tabs of the session's browser: marks the visible one and the agent's. */
export function TabStrip({ tabs, shown, following, onShow, onClose, onOpen }: TabStripProps) {
  return (
    <div className="tab-strip">
      <ul className="browser-tabs" aria-label="Tabs of the browser">
        {tabs.map((tab) => {
          const name = tab.title || tab.url || "New tab";
          const viewed = tab.id === shown;
          return (
            <li key={tab.id} className="browser-tab" data-viewed={viewed}>
              <button
                type="button"
                className="browser-tab-name"
                aria-current={viewed || undefined}
                title={tab.title ? `${tab.title}\n${tab.url.slice(0, 300)}` : name.slice(0, 300)}
                onClick={() => onShow(tab.id)}
              >
                <span className="one-line">{name.slice(0, 200)}</span>
                {tab.active && (
                  <span className="agent-here">
                    <Icon name="agent" /> Agent
                  </span>
                )}
              </button>
              {onClose && tabs.length > 1 && (
                <IconButton icon="close" label={`Close ${name.slice(0, 80)}`} className="quiet" onClick={() => onClose(tab.id)} />
              )}
            </li>
          );
        })}
        {onOpen && (
          <li>
            <IconButton icon="plus" label="New tab" className="quiet" onClick={onOpen} />
          </li>
        )}
      </ul>
      <IconButton
        icon="eye"
        label={following ? "Following the agent from tab to tab" : "Follow the agent from tab to tab"}
        text={following ? "Following" : "Follow"}
        className="follow-agent"
        aria-pressed={following}
        onClick={() => onShow(following ? shown : null)}
      />
    </div>
  );
}
