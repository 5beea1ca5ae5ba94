import { useState } from "react";
import { Dialog } from "../ui/Dialog";
import type { PageDialog } from "./message";

interface PageQuestionProps {
  dialog: PageDialog;
  /** The site that asks; empty if it has no name. */
  host: string;
  onAnswer: (accept: boolean, text?: string) => void;
}

const words: Record<PageDialog["kind"], { verb: string; yes: string; no: string | null }> = {
  alert: { verb: "says", yes: "OK", no: null },
  confirm: { verb: "asks", yes: "OK", no: "Cancel" },
  prompt: { verb: "asks", yes: "OK", no: "Cancel" },
  beforeunload: { verb: "asks before you leave", yes: "Leave", no: "Stay" },
};

/** A dialog of the page, for the person in control. It is drawn by us and names the site whose text it shows. */
export function PageQuestion({ dialog, host, onAnswer }: PageQuestionProps) {
  const { verb, yes, no } = words[dialog.kind];
  const [text, setText] = useState(dialog.proposal);
  const [sent, setSent] = useState(false);
  const answer = (accept: boolean) => {
    setSent(true);
    onAnswer(accept, accept && dialog.kind === "prompt" ? text : undefined);
  };
  const message = dialog.kind === "beforeunload" ? "Changes there may not be saved." : dialog.message;
  return (
    <Dialog title={`${host || "The page"} ${verb}`} onClose={() => answer(no === null)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          answer(true);
        }}
      >
        <p className="page-words">{message}</p>
        {dialog.kind === "prompt" && (
          <input
            data-autofocus
            aria-label="Answer"
            autoComplete="off"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
        <footer>
          {no !== null && (
            <button type="button" disabled={sent} onClick={() => answer(false)}>
              {no}
            </button>
          )}
          <button type="submit" className="primary" disabled={sent} data-autofocus>
            {yes}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
