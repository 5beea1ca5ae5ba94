import { useId, useState } from "react";
import { allows } from "../api/client";
import { noDraft, type Draft } from "../ask/AskForm";
import { AskPanel } from "../ask/AskPanel";
import type { Ask } from "../ask/useAsk";
import type { Session } from "../api/wire";
import { useIdentity } from "../identity";
import { TabList } from "../ui/TabList";
import { ActionLog } from "./ActionLog";
import { Details } from "./Details";
import { FileBrowser, type Place } from "./FileBrowser";
import { home } from "./files";
import { Logs } from "./Logs";
import type { Spot } from "./trace";
import { TraceList } from "./TraceList";
import type { Uploads } from "./useUploads";

const allTabs = ["Actions", "Ask", "Trace", "Files", "Details", "Logs"] as const;
type Tab = (typeof allTabs)[number];

interface PanelProps {
  session: Session;
  over: boolean;
  /** Only the history can still be requested. */
  gone: boolean;
  uploads: Uploads;
  ask: Ask;
  /** Points at a place in the session's picture. */
  onSpot: (spot: Spot | null) => void;
}

/** The side panel of a session: actions, runs, trace, files, details and logs. */
export function Panel({ session, over, gone, uploads, ask, onSpot }: PanelProps) {
  const { scopes } = useIdentity();
  const mayAct = allows(scopes, "sessions:act");
  // Attached sessions have no file access.
  const files = mayAct && !session.attached;
  const [chosen, setTab] = useState<Tab>("Actions");
  // A model sees the picture of a desktop.
  const asks = mayAct && session.mode === "desktop";
  // Kept here, so that switching tabs does not reset it.
  const [place, setPlace] = useState<Place>({ folder: home, hidden: false });
  // Tabs without content are not offered, except the current one, which shows why.
  const left = (name: Tab) =>
    name === chosen || (name === "Trace" || name === "Ask" ? !over : !gone || name === "Actions" || name === "Details");
  const tabs = allTabs.filter((name) => (name !== "Files" || files) && (name !== "Ask" || asks) && left(name));
  const tab = tabs.includes(chosen) ? chosen : "Actions";
  const [draft, setDraft] = useState<Draft>(noDraft);
  const id = useId();

  return (
    <aside className="panel" aria-label="About this session">
      <TabList
        id={id}
        label="About this session"
        tabs={tabs.map((name) => ({ name }))}
        chosen={tab}
        onChoose={setTab}
      />
      <div className="tab-panel" role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${tab}`}>
        {tab === "Actions" && <ActionLog sessionId={session.id} over={over} />}
        {tab === "Ask" && (
          <AskPanel
            session={session}
            ask={ask}
            live={!over && session.status !== "starting"}
            draft={draft}
            onDraft={setDraft}
            onSpot={onSpot}
          />
        )}
        {tab === "Trace" && (
          <TraceList
            sessionId={session.id}
            live={!over && session.status !== "starting"}
            over={over}
            pictures={mayAct}
            onSpot={onSpot}
          />
        )}
        {tab === "Files" && (
          <FileBrowser session={session} over={over} place={place} onPlace={setPlace} uploads={uploads} />
        )}
        {tab === "Details" && <Details session={session} />}
        {tab === "Logs" && <Logs sessionId={session.id} />}
      </div>
    </aside>
  );
}
