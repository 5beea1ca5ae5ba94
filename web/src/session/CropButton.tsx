import { IconButton } from "../ui/IconButton";

interface CropButtonProps {
  /** Whether only the browser's window is wanted. */
  wanted: boolean;
  /** Whether there is such a window now. */
  possible: boolean;
  onChange: (wanted: boolean) => void;
}

/** The browser's window alone, or the whole screen. What is wanted stays so while there is no window. */
export function CropButton({ wanted, possible, onChange }: CropButtonProps) {
  const label = "Show only the browser window";
  const none = wanted ? "there is none now, so this is the whole screen" : "there is none on the screen";
  return (
    <IconButton
      icon="crop"
      text="Browser only"
      label={possible ? label : `${label} (${none})`}
      className="toggle"
      aria-pressed={wanted}
      // It can be reached also then, to say why.
      aria-disabled={!possible || undefined}
      onClick={() => {
        if (possible) onChange(!wanted);
      }}
    />
  );
}
