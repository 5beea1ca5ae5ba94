import { useId, useRef, useState, type KeyboardEvent } from "react";
import { allows } from "../api/client";
import type { Session } from "../api/wire";
import { useIdentity } from "../identity";
import { ActionLog } from "./ActionLog";
import { Details } from "./Details";
import { FileBrowser, type Place } from "./FileBrowser";
import { home } from "./files";
import { Logs } from "./Logs";
import type { Uploads } from "./useUploads";

const allTabs = ["Actions", "Files", "Details", "Logs"] as const;
type Tab = (typeof allTabs)[number];

interface PanelProps {
  session: Session;
  over: boolean;
  uploads: Uploads;
}

/** The side panel of a session: what was done, what it holds, what it is, what it wrote. */
export function Panel({ session, over, uploads }: PanelProps) {
  const { scopes } = useIdentity();
  const tabs = allTabs.filter((name) => name !== "Files" || allows(scopes, "sessions:act"));
  const [tab, setTab] = useState<Tab>("Actions");
  // Here, so that another tab does not lead back to the beginning.
  const [place, setPlace] = useState<Place>({ folder: home, hidden: false });
  const id = useId();
  const buttons = useRef(new Map<Tab, HTMLButtonElement>());

  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length] ?? tab;
    setTab(next);
    buttons.current.get(next)?.focus();
  };

  return (
    <aside className="panel" aria-label="About this session">
      <div className="tabs" role="tablist" onKeyDown={onKey}>
        {tabs.map((name) => (
          <button
            key={name}
            ref={(element) => void (element && buttons.current.set(name, element))}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            aria-selected={tab === name}
            aria-controls={`${id}-panel`}
            tabIndex={tab === name ? 0 : -1}
            onClick={() => setTab(name)}
          >
            {name}
          </button>
        ))}
      </div>
      <div className="tab-panel" role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${tab}`}>
        {tab === "Actions" && <ActionLog sessionId={session.id} />}
        {tab === "Files" && (
          <FileBrowser session={session} over={over} place={place} onPlace={setPlace} uploads={uploads} />
        )}
        {tab === "Details" && <Details session={session} />}
        {tab === "Logs" && <Logs sessionId={session.id} />}
      </div>
    </aside>
  );
}
