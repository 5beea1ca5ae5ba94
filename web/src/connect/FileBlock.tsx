import { useState } from "react";
import type { StepFile } from "../api/wire";
import { CodeBlock } from "../ui/CodeBlock";
import { pathOn, sameEverywhere, systemOf, systems } from "./system";

/** What belongs into a file, and where that file is. */
export function FileBlock({ file }: { file: StepFile }) {
  const [system, setSystem] = useState(() => systemOf(navigator.userAgent));
  return (
    <>
      {!sameEverywhere(file) && (
        <div className="segments" role="group" aria-label="Operating system">
          {systems.map((each) => (
            <button
              key={each.system}
              type="button"
              aria-pressed={system === each.system}
              onClick={() => setSystem(each.system)}
            >
              {each.text}
            </button>
          ))}
        </div>
      )}
      <CodeBlock text={file.content} what="file" caption={pathOn(file, system)} />
    </>
  );
}
