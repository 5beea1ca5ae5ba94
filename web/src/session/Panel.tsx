import { useId, useState } from "react";
import { allows } from "../api/client";
import type { Session } from "../api/wire";
import { useIdentity } from "../identity";
import { TabList } from "../ui/TabList";
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
  /** Only the history can still be requested. */
  gone: boolean;
  uploads: Uploads;
}

/** The side panel of a session: actions, files, details and logs. */
export function Panel({ session, over, gone, uploads }: PanelProps) {
  const { scopes } = useIdentity();
  // Attached sessions have no file access.
  const files = allows(scopes, "sessions:act") && !session.attached;
  const [chosen, setTab] = useState<Tab>("Actions");
  // Kept here, so that switching tabs does not reset it.
  const [place, setPlace] = useState<Place>({ folder: home, hidden: false });
  // Tabs without content are not offered, except the current one, which shows why.
  const left = (name: Tab) => !gone || name === chosen || name === "Actions" || name === "Details";
  const tabs = allTabs.filter((name) => (name !== "Files" || files) && left(name));
  const tab = tabs.includes(chosen) ? chosen : "Actions";
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
        {tab === "Files" && (
          <FileBrowser session={session} over={over} place={place} onPlace={setPlace} uploads={uploads} />
        )}
        {tab === "Details" && <Details session={session} />}
        {tab === "Logs" && <Logs sessionId={session.id} />}
      </div>
    </aside>
  );
}
