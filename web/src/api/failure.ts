/** What went wrong on the way to a page, for those who do not know the browser's names for it. */
const words: Record<string, string> = {
  ADDRESS_INVALID: "this is no address that can be reached",
  ADDRESS_UNREACHABLE: "there is no way to its server",
  CERT_AUTHORITY_INVALID: "nobody known vouches for its certificate",
  CERT_COMMON_NAME_INVALID: "its certificate is for another name",
  CERT_DATE_INVALID: "its certificate is not valid today",
  CONNECTION_CLOSED: "its server hung up",
  CONNECTION_REFUSED: "its server refused the connection",
  CONNECTION_RESET: "its server hung up",
  CONNECTION_TIMED_OUT: "its server did not answer in time",
  EMPTY_RESPONSE: "its server answered nothing",
  INTERNET_DISCONNECTED: "there is no network",
  INVALID_URL: "this is no address",
  NAME_NOT_RESOLVED: "its name was not found",
  PROXY_CONNECTION_FAILED: "the proxy does not answer",
  SSL_PROTOCOL_ERROR: "its server does not speak HTTPS",
  TIMED_OUT: "its server did not answer in time",
  TOO_MANY_REDIRECTS: "it led from one address to the next without end",
  TUNNEL_CONNECTION_FAILED: "its server cannot be reached, or the network policy does not allow it",
  UNSAFE_PORT: "browsers do not open this port",
  UNKNOWN_URL_SCHEME: "the browser does not know such addresses",
};

/** The same with the browser's names for failures in words; the name stays, for who wants to look it up. */
export function inWords(text: string): string {
  return text.replace(/\bnet::ERR_([A-Z0-9_]+)\b/, (code, name: string) => {
    const known = words[name] ?? (name.startsWith("CERT_") ? "its certificate is not good" : undefined);
    return known === undefined ? code : `${known} (${code})`;
  });
}
