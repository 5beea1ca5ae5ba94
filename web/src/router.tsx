import { useSyncExternalStore, type AnchorHTMLAttributes, type MouseEvent } from "react";
import { page, prefix } from "./prefix";

/** Pages whose path is their name. */
const plainPages = [
  "login",
  "packs",
  "jobs",
  "artifacts",
  "models",
  "connect",
  "tokens",
  "credentials",
  "audit",
  "settings",
] as const;

export type Route =
  | { page: "wall" }
  | { page: (typeof plainPages)[number] }
  | { page: "pack"; name: string }
  | { page: "session"; id: string }
  | { page: "unknown" };

/** The page of a path below the prefix. */
export function routeOf(pathname: string, base: string = prefix.pathname): Route {
  if (!pathname.startsWith(base)) return { page: "unknown" };
  const parts = pathname.slice(base.length).split("/").filter(Boolean);
  if (parts.length === 0) return { page: "wall" };
  const plain = plainPages.find((page) => parts.length === 1 && page === parts[0]);
  if (plain) return { page: plain };
  if (parts.length === 2 && parts[1]) {
    if (parts[0] === "sessions") return { page: "session", id: decodeURIComponent(parts[1]) };
    if (parts[0] === "packs") return { page: "pack", name: decodeURIComponent(parts[1]) };
  }
  return { page: "unknown" };
}

/** Where to go after the login: only to one of our pages. */
export function nextPage(search: string): string {
  const next = new URLSearchParams(search).get("next") ?? "";
  const pages = /^(\?view=recent|settings|tokens|artifacts|models|credentials|(packs(\/[\w.-]+)?|jobs|audit)(\?[\w=&.*%:+-]*)?|connect(\?client=[a-z0-9-]+)?|sessions\/[A-Za-z0-9_.-]+)$/;
  return pages.test(next) ? next : "";
}

const moved = "helmdeck:moved";

export function navigate(path: string, replace = false): void {
  window.history[replace ? "replaceState" : "pushState"](null, "", page(path));
  window.dispatchEvent(new Event(moved));
}

function subscribe(listener: () => void): () => void {
  window.addEventListener("popstate", listener);
  window.addEventListener(moved, listener);
  return () => {
    window.removeEventListener("popstate", listener);
    window.removeEventListener(moved, listener);
  };
}

export function usePathname(): string {
  return useSyncExternalStore(subscribe, () => window.location.pathname);
}

/** The query of the page's address, with its question mark. */
export function useSearch(): string {
  return useSyncExternalStore(subscribe, () => window.location.search);
}

type LinkProps = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, "href" | "onClick"> & {
  to: string;
  /** Called before the page changes. */
  onFollow?: (() => void) | undefined;
};

/** A link within the pages; only plain clicks are handled here. */
export function Link({ to, onFollow, ...rest }: LinkProps) {
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    onFollow?.();
    navigate(to);
  };
  return <a {...rest} href={page(to)} onClick={follow} />;
}
