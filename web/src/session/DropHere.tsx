import { Icon } from "../ui/Icon";

interface DropHereProps {
  text: string;
  /** Details of the target. */
  hint?: string;
}

/** An overlay that is shown while files are dragged over a target. */
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
