import type { ReactNode } from "react";
import type { Session } from "../api/wire";
import { useNow } from "../clock";
import { curlScreenshot, curlShow } from "../curl";
import { bytes, countdown, dateAndTime, span, took } from "../format";
import { driverName, endingOf, modeOf } from "../sessions/name";
import { isOver } from "../sessions/state";
import { CopyButton } from "../ui/CopyButton";
import { Forwards } from "./Forwards";

/** All details of a session. */
export function Details({ session }: { session: Session }) {
  const { spec, resources, egress, attached } = session;
  const over = isOver(session);
  return (
    <div className="details">
      {over && <p className="notice">{endingOf(session)}</p>}
      {session.error && <pre className="notice">{session.error}</pre>}

      <Facts title="Session">
        <Fact name="Id">
          <code>{session.id}</code> <CopyButton text={session.id} what="id" compact />
        </Fact>
        <Fact name="Owner">{session.owner}</Fact>
        <Fact name="Mode">{session.mode}</Fact>
        {session.mode === "desktop" && <Fact name="Used by">{modeOf(session)}</Fact>}
        {spec.geometry && <Fact name="Screen">{spec.geometry}</Fact>}
        <Fact name="Driver">{over ? "–" : driverName(session)}</Fact>
        <Fact name="Created">{dateAndTime(session.created_at)}</Fact>
        {session.ended_at && <Fact name="Ended">{dateAndTime(session.ended_at)}</Fact>}
        {spec.start_url && <Fact name="Start page">{spec.start_url}</Fact>}
        {spec.profile && <Fact name="Profile">{spec.profile}</Fact>}
        <Fact name="Actions">
          {session.tasks}
          {spec.max_tasks ? ` of ${spec.max_tasks}` : ""}
        </Fact>
        {!over && <Clocks session={session} />}
        {!over && spec.idle_timeout_s !== 0 && (
          <Fact name="Ends when idle for">{span((spec.idle_timeout_s ?? 300) * 1000)}</Fact>
        )}
      </Facts>

      {session.timings.length > 0 && (
        <Facts title="Start">
          {session.timings.map(({ stage, done_ms }) => (
            <Fact key={stage} name={stage}>
              {took(done_ms)}
            </Fact>
          ))}
        </Facts>
      )}

      {attached ? (
        <Facts title="Attached">
          {attached.display && <Fact name="Display">{attached.display}</Fact>}
          {attached.cdp && <Fact name="Browser">{attached.cdp}</Fact>}
        </Facts>
      ) : (
        <Facts title="Network connections">
          <Fact name="Made">{egress.allowed}</Fact>
          <Fact name="Refused by policy">{egress.denied}</Fact>
          <Fact name="Failed">{egress.failed}</Fact>
        </Facts>
      )}

      {!over && !attached && <Forwards session={session} />}

      {resources && !attached && (
        <Facts title="Resources">
          {typeof resources.memory_bytes === "number" && (
            <Fact name="Memory">
              {bytes(resources.memory_bytes)}
              {spec.memory_limit ? ` of ${spec.memory_limit}` : ""}
            </Fact>
          )}
          {typeof resources.pids === "number" && <Fact name="Processes">{resources.pids}</Fact>}
          {spec.cpu_limit && <Fact name="Cores at most">{spec.cpu_limit}</Fact>}
          <Fact name="Limits by">{resources.limits_by}</Fact>
          {resources.out_of_memory > 0 && <Fact name="Out of memory">{resources.out_of_memory}×</Fact>}
        </Facts>
      )}

      {session.notes && session.notes.length > 0 && (
        <section>
          <h3>Notes</h3>
          {session.notes.map((note) => (
            <p key={note}>{note}</p>
          ))}
        </section>
      )}

      <section>
        <h3>From a shell</h3>
        <div className="row">
          <CopyButton text={curlShow(session.id)} what="curl command" />
          {session.mode === "desktop" && <CopyButton text={curlScreenshot(session.id)} what="curl screenshot" />}
        </div>
      </section>
    </div>
  );
}

// Updates separately, so that the rest of the panel does not re-render.
function Clocks({ session }: { session: Session }) {
  const now = useNow();
  return (
    <>
      <Fact name="Age">{span(now - Date.parse(session.created_at))}</Fact>
      {session.expires_at && <Fact name="Time left">{countdown(Date.parse(session.expires_at) - now)}</Fact>}
      {session.idle_ends_at && (
        <Fact name="Ends if idle in">{countdown(Date.parse(session.idle_ends_at) - now)}</Fact>
      )}
    </>
  );
}

function Facts({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl>{children}</dl>
    </section>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className="tabular">{children}</dd>
    </div>
  );
}
