import type { Artifact } from "../api/wire";
import type { IconName } from "../ui/Icon";

/** What a card shows of an artifact. */
export type Preview = "image" | "video" | "text" | "icon";

/** The namespace of files that people upload. */
export const uploads = "operator-uploads";

/** Types for the filter: the beginning of a media type, and its name. */
export const kinds = [
  { prefix: "", text: "All types" },
  { prefix: "image/", text: "Images" },
  { prefix: "video/", text: "Videos" },
  { prefix: "audio/", text: "Audio" },
  { prefix: "text/", text: "Text" },
  { prefix: "application/", text: "Documents and data" },
] as const;

const pictures = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"];
const videos = ["video/mp4", "video/webm"];
const texts = ["application/json", "application/yaml", "application/toml", "application/xml", "image/svg+xml"];
const archives = ["application/zip", "application/gzip", "application/x-tar"];

/** Larger pictures are not loaded for a preview. */
const mostPicture = 20 << 20;

/** The media type without parameters. */
function essence({ content_type }: Pick<Artifact, "content_type">): string {
  return (content_type.split(";")[0] ?? "").trim().toLowerCase();
}

/** The server sends only these as pictures and videos; anything else that is text is shown as text. */
export function previewOf(artifact: Pick<Artifact, "content_type" | "size">): Preview {
  const type = essence(artifact);
  if (artifact.size === 0) return "icon";
  if (pictures.includes(type)) return artifact.size <= mostPicture ? "image" : "icon";
  if (videos.includes(type)) return "video";
  return type.startsWith("text/") || texts.includes(type) ? "text" : "icon";
}

export function iconOf(artifact: Pick<Artifact, "content_type">): IconName {
  const type = essence(artifact);
  if (type.startsWith("image/")) return "picture";
  if (type.startsWith("video/")) return "film";
  if (type.startsWith("audio/")) return "sound";
  if (archives.includes(type)) return "folder";
  return "file";
}

/** A short name of the type, as people know it: `PDF`, `PNG`. */
export function typeName(artifact: Pick<Artifact, "content_type" | "filename">): string {
  const extension = /\.([a-z0-9]{1,5})$/i.exec(artifact.filename)?.[1];
  return (extension ?? essence(artifact).split("/")[1] ?? "file").toUpperCase();
}

/** Where an artifact comes from. */
export function sourceName(pack: string): string {
  return pack === uploads ? "Upload" : pack;
}
