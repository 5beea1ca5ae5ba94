import { expect, it } from "vitest";
import { parseThumbnail, watchMessage } from "../src/thumbnails/message";

function message(id: string, picture: number[]): ArrayBuffer {
  const bytes = [id.length, ...new TextEncoder().encode(id), ...picture];
  return new Uint8Array(bytes).buffer;
}

it("splits a message into the session and its picture", async () => {
  const thumbnail = parseThumbnail(message("sess-1", [0xff, 0xd8, 1, 2]));
  expect(thumbnail?.sessionId).toBe("sess-1");
  expect(thumbnail?.jpeg.type).toBe("image/jpeg");
  expect([...new Uint8Array(await thumbnail!.jpeg.arrayBuffer())]).toEqual([0xff, 0xd8, 1, 2]);
});

it("passes over a message without a picture or an id", () => {
  expect(parseThumbnail(new ArrayBuffer(0))).toBeNull();
  expect(parseThumbnail(message("", [1]))).toBeNull();
  expect(parseThumbnail(message("sess-1", []))).toBeNull();
  expect(parseThumbnail(new Uint8Array([9, 65]).buffer)).toBeNull();
});

it("asks for the same set in the same words", () => {
  expect(watchMessage(["b", "a"], 480)).toBe('{"watch":["a","b"],"width":480}');
});
