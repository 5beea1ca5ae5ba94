/** The quality of the picture, which determines its cost. */
export type Quality = "low" | "balanced" | "sharp";

/** noVNC's JPEG quality. Higher values cost much and show little: still areas are sharpened anyway. */
export const desktopQuality: Record<Quality, number> = { low: 2, balanced: 6, sharp: 8 };

/** The settings of a browser viewer. Viewers with the same settings share one stream. */
export interface CastQuality {
  quality: number;
  max_width: number;
  max_height: number;
  max_fps: number;
}

/** `usual` are the settings the session was created with, if any. */
export function castQuality(quality: Quality, density: number, usual?: Partial<CastQuality> | null): CastQuality {
  switch (quality) {
    case "low":
      return { quality: 40, max_width: 960, max_height: 600, max_fps: 8 };
    case "balanced": {
      const standard = { quality: 70, max_width: 1280, max_height: 800, max_fps: 15 };
      if (usual) return { ...standard, ...usual };
      // High-density screens get sharper pictures.
      return density > 1.5 ? { ...standard, max_width: 1920, max_height: 1200 } : standard;
    }
    case "sharp":
      return { quality: 90, max_width: 2560, max_height: 1600, max_fps: 30 };
  }
}
