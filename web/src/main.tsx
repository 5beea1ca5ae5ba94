import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import "./styles/index.css";
import { applyTheme, storedTheme } from "./theme";
import { ErrorBoundary } from "./ui/ErrorBoundary";

applyTheme(storedTheme());
// The icon's address is relative to the first page; browsers request it again on every other.
for (const link of document.querySelectorAll<HTMLLinkElement>("link[rel=icon]")) {
  link.setAttribute("href", link.href);
}
const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <ErrorBoundary>
        <App />
      </ErrorBoundary>
    </StrictMode>,
  );
}
