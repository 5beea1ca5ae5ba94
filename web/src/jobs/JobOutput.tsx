import { useState } from "react";
import { CopyButton } from "../ui/CopyButton";
import { JsonTree } from "../ui/JsonTree";
import { Markdown } from "../ui/Markdown";
import { partsOf, type TextPart } from "./output";

/** What a pack returned: its texts to read, the rest to unfold, or all of it as JSON. */
export function JobOutput({ output }: { output: unknown }) {
  const [raw, setRaw] = useState(false);
  const json = JSON.stringify(output, null, 2);
  const { texts, rest } = partsOf(output);
  return (
    <section className="job-output">
      <header>
        <h3>Output</h3>
        <span className="room" />
        <div className="segments" role="group" aria-label="How to show the output">
          <button type="button" aria-pressed={!raw} onClick={() => setRaw(false)}>
            Preview
          </button>
          <button type="button" aria-pressed={raw} onClick={() => setRaw(true)}>
            JSON
          </button>
        </div>
        <CopyButton text={json} what="output" compact />
      </header>
      {raw ? (
        <pre className="text-part" tabIndex={0} aria-label="Output as JSON">
          {json}
        </pre>
      ) : (
        <>
          {rest !== undefined && <JsonTree value={rest} />}
          {texts.map((part) => (
            <Part key={part.name} part={part} />
          ))}
        </>
      )}
    </section>
  );
}

function Part({ part: { name, text, kind } }: { part: TextPart }) {
  return (
    <figure className="job-part">
      <figcaption>
        <code>{name}</code>
        {kind !== "picture" && <CopyButton text={text} what={name} compact />}
      </figcaption>
      {kind === "picture" ? (
        <img src={text} alt={name} />
      ) : kind === "markdown" ? (
        <div className="text-part" tabIndex={0} role="group" aria-label={name}>
          <Markdown text={text} />
        </div>
      ) : (
        <pre className="text-part" tabIndex={0} aria-label={name}>
          {text}
        </pre>
      )}
    </figure>
  );
}
