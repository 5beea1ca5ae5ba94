import type { ReactNode } from "react";
import { allows, client } from "../api/client";
import { useIdentity } from "../identity";
import { Link } from "../router";
import { Brand } from "./Brand";
import { IconButton } from "./IconButton";
import { useNarrow } from "./media";
import { Menu } from "./Menu";
import { ThemeButton } from "./ThemeButton";

const pages = [
  { page: "wall", to: "", text: "Sessions", scope: null },
  { page: "packs", to: "packs", text: "Packs", scope: "sessions:read" },
  { page: "jobs", to: "jobs", text: "Jobs", scope: "sessions:read" },
  { page: "artifacts", to: "artifacts", text: "Artifacts", scope: "artifacts:read" },
  { page: "models", to: "models", text: "Models", scope: "models:use" },
  { page: "connect", to: "connect", text: "Connect", scope: null },
  { page: "tokens", to: "tokens", text: "Tokens", scope: null },
  { page: "credentials", to: "credentials", text: "Credentials", scope: "vault:read" },
  { page: "audit", to: "audit", text: "Audit", scope: "audit:read" },
  { page: "settings", to: "settings", text: "Settings", scope: null },
] as const;

interface AppBarProps {
  current: (typeof pages)[number]["page"];
  onLogOut: () => void;
  /** What this page offers: a count, a button. */
  children?: ReactNode;
}

/** The bar of every page but a session's own: the way to the others. */
export function AppBar({ current, onLogOut, children }: AppBarProps) {
  const { subject, scopes } = useIdentity();
  const shown = pages.filter(({ scope }) => scope === null || allows(scopes, scope));
  const narrow = useNarrow();
  const links = (close?: () => void) =>
    shown.map(({ page, to, text }) => (
      <Link key={page} to={to} aria-current={page === current ? "page" : undefined} onFollow={close}>
        {text}
      </Link>
    ));
  const logOut = () => void client.logOut().then(onLogOut, onLogOut);
  return (
    <header className="bar app-bar">
      {current === "wall" ? (
        <h1>
          <Brand />
        </h1>
      ) : (
        <Brand />
      )}
      <nav aria-label="Pages">
        {narrow ? (
          <Menu icon="menu" label="Pages" text={shown.find(({ page }) => page === current)?.text ?? "Pages"}>
            {links}
          </Menu>
        ) : (
          links()
        )}
      </nav>
      {children ?? <span className="room" />}
      <ThemeButton />
      <span className="muted wide-only">{subject}</span>
      <IconButton icon="leave" label={`Log out ${subject}`} className="quiet" onClick={logOut} />
    </header>
  );
}
