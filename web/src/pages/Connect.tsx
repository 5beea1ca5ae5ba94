import { useEffect, useRef } from "react";
import { cardId, ClientCard } from "../connect/ClientCard";
import { ClientInstructions } from "../connect/ClientInstructions";
import { clientIn } from "../connect/connection";
import { useClients } from "../connect/useClients";
import { useSearch } from "../router";
import { AppBar } from "../ui/AppBar";
import { StreamBanner } from "../wall/StreamBanner";

/** Where a person connects an agent. */
export function Connect({ onLogOut }: { onLogOut: () => void }) {
  const { clients, error } = useClients();
  const chosen = clientIn(useSearch());
  // Back from the instructions, the focus is where it was before.
  const before = useRef<string | null>(null);
  useEffect(() => {
    if (chosen === null && before.current !== null) document.getElementById(cardId(before.current))?.focus();
    before.current = chosen;
  }, [chosen]);

  return (
    <div className="plain-page">
      <AppBar current="connect" onLogOut={onLogOut} />
      <StreamBanner />
      <main className="connect-page">
        {chosen === null ? (
          <Choice clients={clients} error={error} />
        ) : (
          <ClientInstructions key={chosen} clientId={chosen} clients={clients} />
        )}
      </main>
    </div>
  );
}

function Choice({ clients, error }: ReturnType<typeof useClients>) {
  useEffect(() => {
    document.title = "Connect an agent · helmdeck";
  }, []);
  return (
    <>
      <h1>Connect an agent</h1>
      <p className="lead muted">
        An agent gets browsers and desktops from helmdeck over MCP. You watch what it does and take over at any time.
        Which agent do you use?
      </p>
      {clients === null ? (
        error === null && <span className="spinner" role="status" aria-label="Loading" />
      ) : (
        <ul className="clients">
          {clients.map((client) => (
            <ClientCard key={client.id} client={client} />
          ))}
        </ul>
      )}
      {error !== null && (
        <p className="error" role="alert">
          {error}
        </p>
      )}
    </>
  );
}
