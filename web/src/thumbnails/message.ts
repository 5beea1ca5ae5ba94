export interface Thumbnail {
  sessionId: string;
  jpeg: Blob;
}

/** Reads a picture from the wall's socket: length of the id, the id, a JPEG. Null if it is not one. */
export function parseThumbnail(message: ArrayBuffer): Thumbnail | null {
  const bytes = new Uint8Array(message);
  const idLength = bytes[0];
  if (idLength === undefined || idLength === 0 || bytes.length <= 1 + idLength) return null;
  const sessionId = String.fromCharCode(...bytes.subarray(1, 1 + idLength));
  const jpeg = new Blob([bytes.subarray(1 + idLength)], { type: "image/jpeg" });
  return { sessionId, jpeg };
}

/** Asks for the pictures of these sessions and no others. */
export function watchMessage(ids: Iterable<string>, width: number): string {
  return JSON.stringify({ watch: [...ids].sort(), width });
}
