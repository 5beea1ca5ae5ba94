export interface Thumbnail {
  sessionId: string;
  jpeg: Blob;
}

/** Parses a picture from the wall's socket: length of the id, the id, a JPEG. Null if it is invalid. */
export function parseThumbnail(message: ArrayBuffer): Thumbnail | null {
  const bytes = new Uint8Array(message);
  const idLength = bytes[0];
  if (idLength === undefined || idLength === 0 || bytes.length <= 1 + idLength) return null;
  const sessionId = String.fromCharCode(...bytes.subarray(1, 1 + idLength));
  const jpeg = new Blob([bytes.subarray(1 + idLength)], { type: "image/jpeg" });
  return { sessionId, jpeg };
}

/** Requests the pictures of exactly these sessions. */
export function watchMessage(ids: Iterable<string>, width: number): string {
  return JSON.stringify({ watch: [...ids].sort(), width });
}
