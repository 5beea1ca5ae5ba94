import { CopyButton } from "./CopyButton";

interface CodeBlockProps {
  text: string;
  /** What it is, for example "command". */
  what: string;
  /** Shown above: where the text belongs. */
  caption: string;
  /** Selects everything at once, where a part of it is of no use. */
  whole?: boolean;
}

/** Text to copy: a command, a file, a token. Long lines scroll. */
export function CodeBlock({ text, what, caption, whole = false }: CodeBlockProps) {
  return (
    <figure className="code-block">
      <figcaption>
        <span>{caption}</span>
        <CopyButton text={text} what={what} short />
      </figcaption>
      {/* In the tab order, because the arrow keys scroll it. */}
      <pre tabIndex={0} role="group" aria-label={caption} data-whole={whole}>
        <code>{text}</code>
      </pre>
    </figure>
  );
}
