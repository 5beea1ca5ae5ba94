import { IconButton } from "../ui/IconButton";
import type { Zoomed } from "./useZoom";

interface ZoomBarProps {
  zoom: Zoomed;
  /** While driving: whether touch moves the picture instead of the pointer in it. */
  moving: boolean | null;
  onMoving: (moving: boolean) => void;
}

/** Zoom for touch screens, even while touch is used as input for the session. */
export function ZoomBar({ zoom, moving, onMoving }: ZoomBarProps) {
  return (
    <div className="zoom-bar" role="group" aria-label="Zoom">
      {moving !== null && zoom.active && (
        <IconButton
          icon="move"
          label={moving ? "Touch moves the picture" : "Touch controls the session"}
          aria-pressed={moving}
          className="toggle"
          onClick={() => onMoving(!moving)}
        />
      )}
      {zoom.active && <IconButton icon="fit" label="Show the whole picture" onClick={zoom.reset} />}
      <IconButton icon="minus" label="Zoom out" disabled={!zoom.active} onClick={() => zoom.step(1 / 1.6)} />
      <IconButton icon="plus" label="Zoom in" onClick={() => zoom.step(1.6)} />
    </div>
  );
}
