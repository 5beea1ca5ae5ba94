import { useId, useState, type ReactNode, type RefObject } from "react";
import { TabList } from "../ui/TabList";

export type View = "Desktop" | "Browser" | "Terminal";

interface Choice {
  name: View;
  /** Why it cannot be chosen now. */
  blocked?: string | undefined;
  /** It ends when another is chosen. */
  ends?: boolean;
  show: (shown: boolean) => ReactNode;
}

interface TheatreProps {
  /** The part of the page that can fill the whole screen. */
  element: RefObject<HTMLDivElement | null>;
  views: Choice[];
  view: View;
  onView: (view: View) => void;
}

/**
 * What of a session is looked at. A view is there from its first use on, unless it ends when it is left: going
 * back to it costs no wait.
 */
export function Theatre({ element, views, view, onView }: TheatreProps) {
  const id = useId();
  const [used, setUsed] = useState<ReadonlySet<View>>(new Set());
  if (!used.has(view)) setUsed(new Set(used).add(view));
  const only = views.length === 1;
  const why = views.find(({ blocked }) => blocked !== undefined)?.blocked;
  return (
    <div className="theatre" ref={element}>
      {!only && (
        <div className="theatre-head">
          <TabList
            id={id}
            label="What to watch"
            tabs={views}
            chosen={view}
            onChoose={onView}
            panelOf={(name) => `${id}-${name}-panel`}
          />
          {/* Not as a tooltip only: fingers have none. */}
          {why !== undefined && <p className="muted">{why}</p>}
        </div>
      )}
      <div className="views">
        {views.map(({ name, ends = false, show }) => {
          const shown = name === view;
          const panel = only
            ? {}
            : { role: "tabpanel", id: `${id}-${name}-panel`, "aria-labelledby": `${id}-${name}` };
          // Not shown, but with its size: what is resized to nothing and back has lost its picture.
          return (
            (shown || (!ends && used.has(name))) && (
              <div key={name} className="view" data-shown={shown} {...panel}>
                {show(shown)}
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}
