import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { DocsPage } from "./docs/DocsPage";
import "./styles/index.css";
import "./styles/docs.css";
import { applyTheme, storedTheme } from "./theme";

applyTheme(storedTheme());
const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <DocsPage />
    </StrictMode>,
  );
}
