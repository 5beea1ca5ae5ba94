import { useEffect, useRef, useState } from "react";
import { AgentBanner } from "../session/AgentBanner";
import { lossOf } from "../session/loss";
import { IconButton } from "../ui/IconButton";
import { taking, type ViewerAddress } from "../viewer/address";
import type { Scaling } from "../viewer/connection";
import { Stage } from "../viewer/Stage";
import { useViewer, type Viewer } from "../viewer/useViewer";
import { LinkFrame, waysOn } from "./LinkFrame";
import { useLink } from "./useLink";

/** The desktop of one session, opened with a link. */
export function LinkedDesktop({ address }: { address: ViewerAddress }) {
  const link = useLink(address);
  const { session, stream, over, started, take } = link;
  const button = useRef<HTMLButtonElement>(null);
  // The screen is not resized automatically: a phone would change the agent's screen.
  const [resized, setResized] = useState(false);
  const mayResize = address.resize === "remote" && !session?.attached;
  const scaling: Scaling = address.resize === "off" ? "actual" : mayResize && resized && take ? "remote" : "fit";

  const watched = useViewer({
    url: started && over === null ? taking(address.url, take) : null,
    driving: take,
    scaling,
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
    else setResized(false);
  }, [driving, connection]);

  const resize = driving && mayResize && (
    <IconButton
      icon="resize"
      label="Resize the session's screen to this window"
      text="Resize"
      className="toggle"
      aria-pressed={resized}
      onClick={() => setResized(!resized)}
    />
  );
  return (
    <LinkFrame
      link={link}
      state={state}
      driving={driving}
      focused={viewer.focused}
      to="desktop"
      button={button}
      more={resize}
    >
      <Stage
        viewer={viewer}
        driving={driving}
        scaling={scaling}
        holder={link.holder}
        onTake={link.onTake}
        {...waysOn(address.sessionId)}
      >
        {!driving && <AgentBanner status={session?.agent_status ?? ""} />}
      </Stage>
    </LinkFrame>
  );
}
