import { lazy, Suspense, useCallback, useEffect, useState } from "react";
import { ApiError, client, explain, whenSignedOut } from "./api/client";
import type { Identity } from "./api/wire";
import { IdentityProvider } from "./identity";
import { Artifacts } from "./pages/Artifacts";
import { Audit } from "./pages/Audit";
import { Connect } from "./pages/Connect";
import { Credentials } from "./pages/Credentials";
import { Jobs } from "./pages/Jobs";
import { Login } from "./pages/Login";
import { Models } from "./pages/Models";
import { NotFound } from "./pages/NotFound";
import { Packs } from "./pages/Packs";
import { Settings } from "./pages/Settings";
import { Tokens } from "./pages/Tokens";
import { Wall } from "./pages/Wall";
import { prefix } from "./prefix";
import { navigate, nextPage, routeOf, usePathname } from "./router";
import { SessionsProvider } from "./sessions/provider";

// This imports noVNC, which blocks its importers while it tests the browser's decoders. So it loads in parallel
// with the first page, not before it.
const sessionPage = import("./pages/SessionPage");
const SessionPage = lazy(async () => ({ default: (await sessionPage).SessionPage }));

type Who =
  | { kind: "unknown" }
  | { kind: "signed-out" }
  | { kind: "signed-in"; identity: Identity }
  | { kind: "unreachable"; text: string };

export function App() {
  const [who, setWho] = useState<Who>({ kind: "unknown" });
  const pathname = usePathname();
  const route = routeOf(pathname);

  const ask = useCallback(async () => {
    try {
      setWho({ kind: "signed-in", identity: await client.me() });
    } catch (error) {
      const signedOut = error instanceof ApiError && error.status === 401;
      setWho(signedOut ? { kind: "signed-out" } : { kind: "unreachable", text: explain(error) });
    }
  }, []);

  useEffect(() => {
    whenSignedOut(() => setWho({ kind: "signed-out" }));
    void ask();
  }, [ask]);

  const onLoginPage = route.page === "login";
  useEffect(() => {
    if (who.kind === "signed-out" && !onLoginPage) {
      const here = pathname.slice(prefix.pathname.length) + window.location.search;
      navigate(here ? `login?next=${encodeURIComponent(here)}` : "login", true);
    } else if (who.kind === "signed-in" && onLoginPage) {
      navigate(nextPage(window.location.search), true);
    }
  }, [who, onLoginPage, pathname]);

  if (who.kind === "unreachable") {
    return (
      <main className="center-page">
        <div className="card">
          <p role="alert">{who.text}</p>
          <button type="button" onClick={() => void ask()}>
            Try again
          </button>
        </div>
      </main>
    );
  }
  if (who.kind === "unknown") return null;
  if (who.kind === "signed-out") {
    return <Login onLogin={(identity) => setWho({ kind: "signed-in", identity })} />;
  }
  const logOut = () => setWho({ kind: "signed-out" });
  return (
    <IdentityProvider value={who.identity}>
      <SessionsProvider>
        {route.page === "wall" && <Wall onLogOut={logOut} />}
        {route.page === "session" && (
          <Suspense fallback={null}>
            <SessionPage key={route.id} id={route.id} />
          </Suspense>
        )}
        {(route.page === "packs" || route.page === "pack") && (
          <Packs chosen={route.page === "pack" ? route.name : null} onLogOut={logOut} />
        )}
        {route.page === "jobs" && <Jobs onLogOut={logOut} />}
        {route.page === "artifacts" && <Artifacts onLogOut={logOut} />}
        {route.page === "models" && <Models onLogOut={logOut} />}
        {route.page === "connect" && <Connect onLogOut={logOut} />}
        {route.page === "tokens" && <Tokens onLogOut={logOut} />}
        {route.page === "audit" && <Audit onLogOut={logOut} />}
        {route.page === "credentials" && <Credentials onLogOut={logOut} />}
        {route.page === "settings" && <Settings onLogOut={logOut} />}
        {route.page === "unknown" && <NotFound />}
      </SessionsProvider>
    </IdentityProvider>
  );
}
