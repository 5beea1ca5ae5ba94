import { useEffect, useRef, useState } from "react";
import type { VisionDecision, VisionQuestion } from "../api/wire";
import { useNow } from "../clock";
import { count, sentence } from "../format";
import { Icon } from "../ui/Icon";

interface QuestionProps {
  question: VisionQuestion | null;
  /** Null for people who may only watch. */
  onAnswer: ((question: VisionQuestion, decision: VisionDecision) => Promise<void>) | null;
}

/** What a run asks the person, above the picture: it is visible whatever the panel shows. */
export function Question({ question, onAnswer }: QuestionProps) {
  // Always rendered, so that screen readers announce the text.
  return (
    <div className="question-slot" role="alert">
      {question && <Card key={question.id} question={question} onAnswer={onAnswer} />}
    </div>
  );
}

function Card({ question, onAnswer }: QuestionProps & { question: VisionQuestion }) {
  const now = useNow();
  const card = useRef<HTMLElement>(null);
  const [sent, setSent] = useState(false);
  const left = Math.max(0, Math.ceil((Date.parse(question.expires_at) - now) / 1000));

  // The card gets the focus, not a button: a key that was meant for another field must not answer.
  useEffect(() => {
    const before = document.activeElement;
    card.current?.focus();
    return () => {
      const free = document.activeElement === null || document.activeElement === document.body;
      if (free && before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);

  const decide = (decision: VisionDecision) => {
    setSent(true);
    void onAnswer?.(question, decision).then(() => setSent(false));
  };
  return (
    <section ref={card} className="question" tabIndex={-1} aria-label="The run asks you">
      <Icon name="hand" />
      <div className="question-text">
        <b>The run asks you</b>
        <p>{sentence(question.text)}</p>
        <p className="muted tabular" aria-hidden="true">
          Denied in {count(left, "second")} without an answer.
        </p>
        <span className="off-screen">Without an answer it is denied.</span>
      </div>
      {onAnswer && (
        <div className="row">
          <button type="button" className="primary" disabled={sent} onClick={() => decide("allow")}>
            Allow
          </button>
          <button type="button" disabled={sent} onClick={() => decide("deny")}>
            Deny
          </button>
        </div>
      )}
    </section>
  );
}
