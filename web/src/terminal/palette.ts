import type { ITheme } from "@xterm/xterm";
import { useSyncExternalStore } from "react";

const light: ITheme = {
  background: "#ffffff",
  foreground: "#14181b",
  cursor: "#0f766e",
  cursorAccent: "#ffffff",
  selectionBackground: "#b9e3de",
  selectionInactiveBackground: "#dde3e6",
  scrollbarSliderBackground: "#14181b33",
  scrollbarSliderHoverBackground: "#14181b55",
  scrollbarSliderActiveBackground: "#14181b77",
  black: "#14181b",
  red: "#b91c1c",
  green: "#15803d",
  yellow: "#92610a",
  blue: "#1d4ed8",
  magenta: "#a21caf",
  cyan: "#0e7490",
  white: "#5c666e",
  brightBlack: "#5c666e",
  brightRed: "#dc2626",
  brightGreen: "#17803f",
  brightYellow: "#a16207",
  brightBlue: "#2563eb",
  brightMagenta: "#c026d3",
  brightCyan: "#0b7b96",
  brightWhite: "#3d454b",
};

const dark: ITheme = {
  background: "#0a0c0d",
  foreground: "#e8ebed",
  cursor: "#2dbfae",
  cursorAccent: "#0a0c0d",
  selectionBackground: "#1d5851",
  selectionInactiveBackground: "#2b3136",
  scrollbarSliderBackground: "#e8ebed33",
  scrollbarSliderHoverBackground: "#e8ebed55",
  scrollbarSliderActiveBackground: "#e8ebed77",
  black: "#2b3136",
  red: "#f87171",
  green: "#4ade80",
  yellow: "#fbbf24",
  blue: "#7aa2ff",
  magenta: "#e58cf0",
  cyan: "#4fd6e6",
  white: "#d5dade",
  brightBlack: "#98a3ab",
  brightRed: "#fca5a5",
  brightGreen: "#86efac",
  brightYellow: "#fde68a",
  brightBlue: "#a5c0ff",
  brightMagenta: "#f0b6f7",
  brightCyan: "#9aeaf3",
  brightWhite: "#ffffff",
};

const system = window.matchMedia("(prefers-color-scheme: dark)");

/** The terminal's colours in the current theme. */
export function usePalette(): ITheme {
  return useSyncExternalStore(subscribe, () => (isDark() ? dark : light));
}

function isDark(): boolean {
  const { theme } = document.documentElement.dataset;
  return theme === undefined ? system.matches : theme === "dark";
}

function subscribe(listener: () => void): () => void {
  const observer = new MutationObserver(listener);
  observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  system.addEventListener("change", listener);
  return () => {
    observer.disconnect();
    system.removeEventListener("change", listener);
  };
}
