import { useRef, type KeyboardEvent } from "react";

export interface TabChoice<T extends string> {
  name: T;
  /** Why it cannot be chosen now. */
  blocked?: string | undefined;
}

interface TabListProps<T extends string> {
  /** The prefix of the ids of tabs and panels. */
  id: string;
  label: string;
  tabs: TabChoice<T>[];
  chosen: T;
  onChoose: (name: T) => void;
  /** The panel of a tab; by default all tabs share one. */
  panelOf?: (name: T) => string;
}

/** A row of tabs: the arrow keys move between them. */
export function TabList<T extends string>({ id, label, tabs, chosen, onChoose, panelOf }: TabListProps<T>) {
  const buttons = useRef(new Map<T, HTMLButtonElement>());

  const choose = ({ name, blocked }: TabChoice<T>) => {
    if (blocked === undefined) onChoose(name);
    buttons.current.get(name)?.focus();
  };
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    // Starts at the focus: a blocked tab can be focused, to read the reason.
    const here = tabs.findIndex(({ name }) => buttons.current.get(name) === document.activeElement);
    const next = tabs[(here + step + tabs.length) % tabs.length];
    if (next) choose(next);
  };

  return (
    <div className="tabs" role="tablist" aria-label={label} onKeyDown={onKey}>
      {tabs.map((tab) => (
        <button
          key={tab.name}
          ref={(element) => void (element && buttons.current.set(tab.name, element))}
          type="button"
          role="tab"
          id={`${id}-${tab.name}`}
          aria-selected={chosen === tab.name}
          aria-controls={panelOf?.(tab.name) ?? `${id}-panel`}
          aria-disabled={tab.blocked !== undefined || undefined}
          title={tab.blocked}
          tabIndex={chosen === tab.name ? 0 : -1}
          onClick={() => choose(tab)}
        >
          {tab.name}
        </button>
      ))}
    </div>
  );
}
