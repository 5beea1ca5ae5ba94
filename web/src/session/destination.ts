/** Schemes that may be followed by anything. */
const opaque = /^(about|blob|chrome|data|file|javascript|view-source):/i;

export const noAddress = "This is not an address. Type one such as example.org or https://example.org/page.";

/** Whether the text is an address, and not words to search for. */
export function isAddress(text: string): boolean {
  if (opaque.test(text)) return true;
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return URL.canParse(text);
  const host = /^[^/?#]*/.exec(text)?.[0] ?? "";
  const plain = /\.|:\d+$|^localhost$/i.test(host) || host.startsWith("[");
  return plain && !/\s/.test(text) && URL.canParse(`https://${text}`);
}
