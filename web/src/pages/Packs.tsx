import { useEffect, useState } from "react";
import { NoPack, PackView } from "../packs/PackView";
import { PackList } from "../packs/PackList";
import { usePacks } from "../packs/usePacks";
import { Link, useSearch } from "../router";
import { AppBar } from "../ui/AppBar";
import { Icon } from "../ui/Icon";
import { useSmall } from "../ui/media";
import { StreamBanner } from "../wall/StreamBanner";

/** Typed tools for whole pieces of work, and a form to run each. */
export function Packs({ chosen, onLogOut }: { chosen: string | null; onLogOut: () => void }) {
  const job = new URLSearchParams(useSearch()).get("job");
  const { value: packs, error } = usePacks();
  const [wanted, setWanted] = useState("");
  // A phone shows the list or a pack.
  const small = useSmall();

  useEffect(() => {
    document.title = chosen === null ? "Packs · helmdeck" : `${chosen} · helmdeck`;
  }, [chosen]);

  return (
    <div className="plain-page">
      <AppBar current="packs" onLogOut={onLogOut} />
      <StreamBanner />
      <main className="packs-page">
        {!(small && chosen !== null) && (
          <div className="packs-side">
            <h1>Packs</h1>
            <p className="muted">Typed tools for whole pieces of work. Agents call them over MCP; here you run them by hand.</p>
            {error !== null && (
              <p className="error" role="alert">
                {error}
              </p>
            )}
            {packs === null ? (
              error === null && <span className="spinner" role="status" aria-label="Loading" />
            ) : (
              <PackList packs={packs} chosen={chosen} wanted={wanted} onWant={setWanted} />
            )}
          </div>
        )}
        {chosen !== null ? (
          <div className="packs-main">
            {small && (
              <Link className="button quiet packs-back" to="packs">
                <Icon name="back" /> All packs
              </Link>
            )}
            <PackView key={chosen} name={chosen} jobId={job} />
          </div>
        ) : (
          !small && (
            <div className="packs-main">
              <NoPack />
            </div>
          )
        )}
      </main>
    </div>
  );
}
