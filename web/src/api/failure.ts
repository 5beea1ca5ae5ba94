/** Plain descriptions of the browser's network errors. */
const words: Record<string, string> = {
  ADDRESS_INVALID: "this address cannot be reached",
  ADDRESS_UNREACHABLE: "its server cannot be reached",
  CERT_AUTHORITY_INVALID: "its certificate is not from a trusted authority",
  CERT_COMMON_NAME_INVALID: "its certificate is for another name",
  CERT_DATE_INVALID: "its certificate is not valid today",
  CONNECTION_CLOSED: "its server closed the connection",
  CONNECTION_REFUSED: "its server refused the connection",
  CONNECTION_RESET: "its server closed the connection",
  CONNECTION_TIMED_OUT: "its server did not answer in time",
  EMPTY_RESPONSE: "its server sent no answer",
  INTERNET_DISCONNECTED: "there is no network",
  INVALID_URL: "this is not an address",
  NAME_NOT_RESOLVED: "its name was not found",
  PROXY_CONNECTION_FAILED: "the proxy does not answer",
  SSL_PROTOCOL_ERROR: "its server does not speak HTTPS",
  TIMED_OUT: "its server did not answer in time",
  TOO_MANY_REDIRECTS: "it redirected too many times",
  TUNNEL_CONNECTION_FAILED: "its server cannot be reached, or the network policy does not allow it",
  UNSAFE_PORT: "browsers do not open this port",
  UNKNOWN_URL_SCHEME: "the browser does not support this kind of address",
};

/** Replaces the browser's error names with descriptions; the name is kept for reference. */
export function inWords(text: string): string {
  return text.replace(/\bnet::ERR_([A-Z0-9_]+)\b/, (code, name: string) => {
    const known = words[name] ?? (name.startsWith("CERT_") ? "its certificate is not valid" : undefined);
    return known === undefined ? code : `${known} (${code})`;
  });
}
