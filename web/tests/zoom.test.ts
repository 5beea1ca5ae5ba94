import { expect, it } from "vitest";
import { partOf, screenPoint, zoomAt } from "../src/viewer/zoom";

const screen = { x: 0, y: 0, width: 1920, height: 1080 };
const phone = { width: 384, height: 216 };

it("shows all of the picture without zoom, and a part in the shape of the stage with it", () => {
  expect(partOf(null, screen, phone)).toEqual(screen);
  const part = partOf({ factor: 2, centre: { x: 960, y: 540 } }, screen, phone);
  expect(part).toEqual({ x: 480, y: 270, width: 960, height: 540 });
  // On a high stage the width is what is scarce.
  const high = partOf({ factor: 2, centre: { x: 960, y: 540 } }, screen, { width: 384, height: 600 });
  expect(high).toEqual({ x: 480, y: 0, width: 960, height: 1080 });
});

it("keeps the point under the fingers where they are", () => {
  const at = { x: 100, y: 50 };
  const point = screenPoint(at, screen, phone);
  expect(point).toEqual({ x: 500, y: 250 });
  const zoom = zoomAt(3, point, at, screen, phone);
  const under = screenPoint(at, partOf(zoom, screen, phone), phone);
  expect(under.x).toBeCloseTo(500);
  expect(under.y).toBeCloseTo(250);
});

it("never leaves the picture, and ends where it began", () => {
  const far = zoomAt(2, { x: 0, y: 0 }, { x: 384, y: 216 }, screen, phone);
  expect(partOf(far, screen, phone)).toMatchObject({ x: 0, y: 0 });
  // From the edge it moves at the first push back.
  expect(far?.centre).toEqual({ x: 480, y: 270 });
  expect(zoomAt(1, { x: 0, y: 0 }, { x: 0, y: 0 }, screen, phone)).toBeNull();
  expect(zoomAt(50, { x: 0, y: 0 }, { x: 0, y: 0 }, screen, phone)?.factor).toBe(6);
});
