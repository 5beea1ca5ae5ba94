import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { StandAlone } from "./pages/StandAlone";
import "./styles/index.css";
import { applyTheme, storedTheme } from "./theme";
import { ErrorBoundary } from "./ui/ErrorBoundary";
import { readViewerAddress } from "./viewer/address";

applyTheme(storedTheme());
const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <ErrorBoundary>
        <StandAlone address={readViewerAddress(window.location.search, window.location.hash)} />
      </ErrorBoundary>
    </StrictMode>,
  );
}
