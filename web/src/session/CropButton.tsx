import { IconButton } from "../ui/IconButton";

interface CropButtonProps {
  /** Whether only the browser's window is to be shown. */
  wanted: boolean;
  /** Whether there is such a window now. */
  possible: boolean;
  onChange: (wanted: boolean) => void;
}

/** Shows only the browser's window, or the whole screen. The choice is kept while there is no window. */
export function CropButton({ wanted, possible, onChange }: CropButtonProps) {
  const label = "Show only the browser window";
  const none = wanted ? "there is no window now, so the whole screen is shown" : "there is no window on the screen";
  return (
    <IconButton
      icon="crop"
      text="Browser only"
      label={possible ? label : `${label} (${none})`}
      className="toggle"
      aria-pressed={wanted}
      // Focusable even then, to show the reason.
      aria-disabled={!possible || undefined}
      onClick={() => {
        if (possible) onChange(!wanted);
      }}
    />
  );
}
