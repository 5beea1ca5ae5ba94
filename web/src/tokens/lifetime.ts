const day = 86_400;

/** How long a token may last. There is always an end. */
export const lifetimes = [
  { seconds: day, text: "After 1 day" },
  { seconds: 7 * day, text: "After 7 days" },
  { seconds: 30 * day, text: "After 30 days" },
  { seconds: 90 * day, text: "After 90 days" },
  { seconds: 365 * day, text: "After 1 year" },
] as const;

/** The server's own default. */
export const usualLifetime = 30 * day;
