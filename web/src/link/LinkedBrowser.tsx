import { useEffect, useRef, useState } from "react";
import { CastStage } from "../cast/CastStage";
import { attachedBrowser } from "../cast/state";
import { useCast, type Cast } from "../cast/useCast";
import { sentence } from "../format";
import { AddressBar } from "../session/AddressBar";
import { AgentBanner } from "../session/AgentBanner";
import { lossOf } from "../session/loss";
import { TabStrip } from "../session/TabStrip";
import { TouchKeyboard } from "../session/TouchKeyboard";
import { ErrorBanner } from "../ui/ErrorBanner";
import { acknowledging, taking, type ViewerAddress } from "../viewer/address";
import { castQuality } from "../viewer/quality";
import { LinkFrame, waysOn } from "./LinkFrame";
import { useLink } from "./useLink";

/** The browser of one session, opened with a link. Tabs can be watched, but there is no address bar. */
export function LinkedBrowser({ address }: { address: ViewerAddress }) {
  const link = useLink(address);
  const { session, stream, over, started, take } = link;
  const [error, setError] = useState<string | null>(null);
  const button = useRef<HTMLButtonElement>(null);

  const watched = useCast({
    url: started && over === null ? taking(acknowledging(address.url), take) : null,
    quality: castQuality("balanced", window.devicePixelRatio, session?.spec.cdp_stream),
    shown: true,
    driving: take,
    onClosed: () => {},
    onWayOut: () => button.current?.focus(),
    onError: (text) => setError(sentence(text)),
  });
  const cast: Cast = {
    ...watched,
    connection: over === null ? lossOf(watched.connection, session, stream) : { kind: "over", text: over },
  };
  const { connection, focus, tabs, viewed } = cast;
  const connected = connection.kind === "connected";
  const driving = take && connected && cast.mayDrive;
  useEffect(() => {
    if (driving) focus();
  }, [driving, focus]);

  return (
    <LinkFrame
      link={link}
      state={connection}
      driving={driving}
      focused={cast.focused}
      to="page"
      button={button}
      more={driving && <TouchKeyboard to="page" onEdit={cast.edit} />}
    >
      {tabs.length > 0 && connection.kind !== "over" && connection.kind !== "refused" && (
        <div className="browser-bars" data-live={connected}>
          <TabStrip tabs={tabs} shown={viewed} following={cast.tab === null} onShow={cast.show} />
          <AddressBar url={tabs.find(({ id }) => id === viewed)?.url ?? ""} />
        </div>
      )}
      <CastStage
        cast={cast}
        driving={driving}
        attached={attachedBrowser(session)}
        holder={link.holder}
        onTake={link.onTake}
        {...waysOn(address.sessionId)}
      >
        {!driving && <AgentBanner status={session?.agent_status ?? ""} />}
        <div className="messages">
          <ErrorBanner text={error} onDismiss={() => setError(null)} />
        </div>
      </CastStage>
    </LinkFrame>
  );
}
