import type { Point } from "../api/wire";
import type { Box } from "../viewer/marks";
import type { Frame } from "./message";

interface Size {
  width: number;
  height: number;
}

/** The position of a picture that is fitted into a box. */
export function fitted(box: Box, picture: Size): Box {
  if (picture.width <= 0 || picture.height <= 0) return { ...box, width: 0, height: 0 };
  const scale = Math.min(box.width / picture.width, box.height / picture.height);
  const [width, height] = [picture.width * scale, picture.height * scale];
  return {
    left: box.left + (box.width - width) / 2,
    top: box.top + (box.height - height) / 2,
    width,
    height,
  };
}

/**
 * Translates a point of the window to the page. Null outside the picture, except during a drag: then the nearest point.
 */
export function pagePoint(at: Point, shown: Box, frame: Frame, dragging: boolean): Point | null {
  if (shown.width <= 0 || shown.height <= 0) return null;
  const [across, down] = [(at.x - shown.left) / shown.width, (at.y - shown.top) / shown.height];
  const inside = across >= 0 && across < 1 && down >= 0 && down < 1;
  if (!inside && !dragging) return null;
  const within = (share: number, length: number) => Math.min(Math.max(share * length, 0), length - 1);
  return {
    x: tenths(within(across, frame.width)),
    y: tenths(Math.max(within(down, frame.height) - frame.offsetTop, 0)),
  };
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
