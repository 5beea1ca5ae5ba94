import { useId, useState, type ReactNode, type RefObject } from "react";
import { TabList } from "../ui/TabList";

export type View = "Desktop" | "Browser" | "Terminal";

interface Choice {
  name: View;
  /** Why it cannot be chosen now. */
  blocked?: string | undefined;
  /** It is unmounted when another is chosen. */
  ends?: boolean;
  show: (shown: boolean) => ReactNode;
}

interface ViewSwitcherProps {
  /** The part of the page that can be shown full screen. */
  element: RefObject<HTMLDivElement | null>;
  views: Choice[];
  view: View;
  onView: (view: View) => void;
  /** Shown above each view. */
  notice?: ReactNode;
}

/**
 * The views of a session. A view stays mounted after its first use, unless it ends when it is left, so that returning
 * to it needs no wait.
 */
export function ViewSwitcher({ element, views, view, onView, notice }: ViewSwitcherProps) {
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
          {/* Not only as a tooltip: touch screens have none. */}
          {why !== undefined && <p className="muted">{why}</p>}
        </div>
      )}
      {notice}
      <div className="views">
        {views.map(({ name, ends = false, show }) => {
          const shown = name === view;
          const panel = only
            ? {}
            : { role: "tabpanel", id: `${id}-${name}-panel`, "aria-labelledby": `${id}-${name}` };
          // Hidden but with its size: a view resized to nothing would lose its picture.
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
