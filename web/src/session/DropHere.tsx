import { Icon } from "../ui/Icon";

interface DropHereProps {
  text: string;
  /** Where exactly. */
  hint?: string;
}

/** Lies over a place while files are held over it. */
export function DropHere({ text, hint }: DropHereProps) {
  return (
    <div className="drop-here">
      <p>
        <Icon name="upload" />
        <b>{text}</b>
        {hint && <span>{hint}</span>}
      </p>
    </div>
  );
}
