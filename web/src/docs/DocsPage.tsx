import { useEffect, useMemo, useState } from "react";
import { api, page } from "../prefix";
import { Brand } from "../ui/Brand";
import { ThemeButton } from "../ui/ThemeButton";
import { groupsOf, search, type ApiDocument, type Group } from "./document";
import { OperationDocs } from "./OperationDocs";
import { Prose } from "./Prose";

/** The API reference, rendered from the server's OpenAPI document. */
export function DocsPage() {
  const [document, setDocument] = useState<ApiDocument | null>(null);
  const [failed, setFailed] = useState(false);
  const [words, setWords] = useState("");
  const groups = useMemo(() => (document ? groupsOf(document) : []), [document]);
  const shown = useMemo(() => search(groups, words), [groups, words]);

  useEffect(() => {
    const load = async () => {
      const answer = await fetch(api("openapi.json"));
      if (!answer.ok) throw new Error(answer.statusText);
      setDocument((await answer.json()) as ApiDocument);
    };
    load().catch(() => setFailed(true));
  }, []);
  // The browser looked for the anchor before it was rendered.
  useEffect(() => {
    if (document) window.document.getElementById(decodeURIComponent(window.location.hash.slice(1)))?.scrollIntoView();
  }, [document]);

  return (
    <div className="docs-page">
      <header className="bar">
        <a href={page("")} className="docs-home" aria-label="helmdeck: all sessions">
          <Brand />
        </a>
        <h1>API reference</h1>
        <span className="room" />
        <input
          type="search"
          placeholder="Search"
          aria-label="Search operations"
          value={words}
          onChange={(event) => setWords(event.currentTarget.value)}
        />
        <ThemeButton />
      </header>
      {document === null ? (
        <main>
          {failed ? (
            <p role="alert">The API description could not be loaded. Reload the page to try again.</p>
          ) : (
            <span className="spinner" role="status" aria-label="Loading" />
          )}
        </main>
      ) : (
        <div className="docs-columns">
          <Contents groups={shown} />
          <main>
            {words === "" && <Introduction document={document} />}
            {shown.map((group) => (
              <section key={group.name} aria-labelledby={`tag-${group.name}`}>
                <h2 id={`tag-${group.name}`}>{group.name}</h2>
                <p className="muted">{group.description}</p>
                {group.operations.map((operation) => (
                  <OperationDocs key={operation.operationId} document={document} operation={operation} />
                ))}
              </section>
            ))}
            {shown.length === 0 && <p role="status">No operation matches “{words}”.</p>}
          </main>
        </div>
      )}
    </div>
  );
}

/** Links to all operations: beside the text, or collapsed above it on narrow screens. */
function Contents({ groups }: { groups: Group[] }) {
  const [open, setOpen] = useState(() => window.matchMedia("(min-width: 900px)").matches);
  return (
    <nav aria-label="Operations">
      <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Operations</summary>
        {groups.map((group) => (
          <section key={group.name}>
            <h2>{group.name}</h2>
            <ul>
              {group.operations.map(({ operationId, summary }) => (
                <li key={operationId}>
                  <a href={`#${operationId}`} title={summary}>
                    {operationId}
                  </a>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </details>
    </nav>
  );
}

function Introduction({ document }: { document: ApiDocument }) {
  const errors = document.components.schemas.ErrorCode?.description ?? "";
  return (
    <section className="introduction">
      <p>
        Version {document.info.version}. Requests and answers are JSON unless stated otherwise. Send a token as{" "}
        <code>Authorization: Bearer …</code>. The machine-readable description is{" "}
        <a href={api("openapi.json")}>openapi.json</a> (OpenAPI 3.1).
      </p>
      <p>
        A failed request answers with <code>{'{"error": code, "message": what to do}'}</code> and a status of 400 or
        above.
      </p>
      <details>
        <summary>Error codes</summary>
        <div className="operation-doc">
          <Prose text={errors} />
        </div>
      </details>
    </section>
  );
}
