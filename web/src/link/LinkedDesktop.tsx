import { useEffect, useRef } from "react";
import { AgentBanner } from "../session/AgentBanner";
import { lossOf } from "../session/loss";
import { taking, type ViewerAddress } from "../viewer/address";
import type { Scaling } from "../viewer/connection";
import { Stage } from "../viewer/Stage";
import { useViewer, type Viewer } from "../viewer/useViewer";
import { LinkFrame, waysOn } from "./LinkFrame";
import { useLink } from "./useLink";

const scalings: Record<ViewerAddress["resize"], Scaling> = { scale: "fit", remote: "remote", off: "actual" };

/** The desktop of one session, for whoever has a link. */
export function LinkedDesktop({ address }: { address: ViewerAddress }) {
  const link = useLink(address);
  const { session, stream, over, started, take } = link;
  const button = useRef<HTMLButtonElement>(null);
  const scaling = scalings[address.resize];

  const watched = useViewer({
    url: started && over === null ? taking(address.url, take) : null,
    driving: take,
    scaling: scaling === "remote" && !take ? "fit" : scaling,
    quality: 6,
    onWayOut: () => button.current?.focus(),
  });
  const viewer: Viewer = {
    ...watched,
    state: over === null ? lossOf(watched.state, session, stream) : { kind: "over", text: over },
  };
  const { state, connection } = viewer;
  const driving = take && state.kind === "connected";
  useEffect(() => {
    if (driving) connection()?.focus();
  }, [driving, connection]);

  return (
    <LinkFrame link={link} state={state} driving={driving} focused={viewer.focused} to="desktop" button={button}>
      <Stage viewer={viewer} driving={driving} scaling={scaling} {...waysOn(address.sessionId)}>
        {!driving && <AgentBanner status={session?.agent_status ?? ""} />}
      </Stage>
    </LinkFrame>
  );
}
