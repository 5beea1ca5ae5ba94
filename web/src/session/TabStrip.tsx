import type { Tab } from "../api/wire";
import { Icon } from "../ui/Icon";
import { IconButton } from "../ui/IconButton";

interface TabStripProps {
  tabs: Tab[];
  /** The tab that is looked at; null while it is not known. */
  shown: string | null;
  /** Whether that is always the one that the agent is on. */
  following: boolean;
  /** Looks at one tab; null to follow the agent. */
  onShow: (tab: string | null) => void;
  /** For whoever may. */
  onClose?: (tab: string) => void;
  onOpen?: () => void;
}

/** The tabs of the session's browser: which one is looked at, and which one the agent is on. */
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
