export interface Size {
  width: number;
  height: number;
}

/** A part of the session's screen, in its pixels; it may extend beyond the screen. */
export interface Part extends Size {
  x: number;
  y: number;
}

/** The position of the picture so that only a part is visible, in page pixels. */
export interface Crop {
  /** On the stage: the size of the shown part, centred. */
  box: { left: number; top: number } & Size;
  /** In the box: the whole screen at that scale, shifted so that the part is in the box. */
  picture: { left: number; top: number } & Size;
}

/** Null if the part is off the screen, or there is no room to show it. */
export function cropTo(part: Part, screen: Size, stage: Size): Crop | null {
  const [x, y] = [Math.max(part.x, 0), Math.max(part.y, 0)];
  const width = Math.min(part.x + part.width, screen.width) - x;
  const height = Math.min(part.y + part.height, screen.height) - y;
  if (width <= 0 || height <= 0 || stage.width <= 0 || stage.height <= 0) return null;
  const scale = Math.min(stage.width / width, stage.height / height);
  const box = { width: width * scale, height: height * scale };
  return {
    box: { left: (stage.width - box.width) / 2, top: (stage.height - box.height) / 2, ...box },
    // Avoids negative zero.
    picture: {
      left: 0 - x * scale,
      top: 0 - y * scale,
      width: screen.width * scale,
      height: screen.height * scale,
    },
  };
}
