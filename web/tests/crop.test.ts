import { describe, expect, it } from "vitest";
import { cropTo, type Crop } from "../src/viewer/crop";

const screen = { width: 1280, height: 800 };
const stage = { width: 1000, height: 500 };

/** Where a pixel of the screen lies on the stage. */
function onStage({ box, picture }: Crop, x: number, y: number) {
  const scale = picture.width / screen.width;
  return { x: box.left + picture.left + x * scale, y: box.top + picture.top + y * scale };
}

function found(crop: Crop | null): Crop {
  if (crop === null) throw new Error("there is no crop");
  return crop;
}

describe("cropping", () => {
  it("fits the part into the stage, in the middle, and shifts the picture under it", () => {
    const part = { x: 100, y: 50, width: 500, height: 500 };
    const crop = found(cropTo(part, screen, stage));
    expect(crop.box).toEqual({ left: 250, top: 0, width: 500, height: 500 });
    expect(crop.picture).toEqual({ left: -100, top: -50, width: 1280, height: 800 });
    expect(onStage(crop, 100, 50)).toEqual({ x: 250, y: 0 });
  });

  it("makes small parts larger and large ones smaller, both ways alike", () => {
    const small = found(cropTo({ x: 40, y: 20, width: 200, height: 50 }, screen, stage));
    expect(small.box).toEqual({ left: 0, top: 125, width: 1000, height: 250 });
    expect(small.picture).toEqual({ left: -200, top: -100, width: 6400, height: 4000 });
    const large = found(cropTo({ x: 0, y: 0, ...screen }, screen, stage));
    expect(large.box).toEqual({ left: 100, top: 0, width: 800, height: 500 });
    expect(large.picture).toEqual({ left: 0, top: 0, width: 800, height: 500 });
  });

  it("shows of a part that sticks out what is on the screen", () => {
    const left = found(cropTo({ x: -300, y: -100, width: 800, height: 350 }, screen, stage));
    expect(left.box).toEqual({ left: 0, top: 0, width: 1000, height: 500 });
    expect(left.picture).toMatchObject({ left: 0, top: 0, width: 2560 });
    const right = found(cropTo({ x: 1030, y: 675, width: 800, height: 800 }, screen, stage));
    expect(right.box).toEqual({ left: 0, top: 0, width: 1000, height: 500 });
    expect(onStage(right, 1280, 800)).toEqual({ x: 1000, y: 500 });
  });

  it("shows nothing of what is not there, and nothing without room", () => {
    expect(cropTo({ x: 1280, y: 0, width: 300, height: 300 }, screen, stage)).toBeNull();
    expect(cropTo({ x: 0, y: -300, width: 300, height: 300 }, screen, stage)).toBeNull();
    expect(cropTo({ x: 0, y: 0, width: 0, height: 300 }, screen, stage)).toBeNull();
    expect(cropTo({ x: 0, y: 0, width: 300, height: 300 }, screen, { width: 0, height: 500 })).toBeNull();
  });
});
