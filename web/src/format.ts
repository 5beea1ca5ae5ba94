/** A duration such as `5 s`, `12 min`, `3 h 05 min`, `2 d 4 h`. */
export function span(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${String(minutes % 60).padStart(2, "0")} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** A remaining time: `4:05`, `1:04:05`; days as in `span`. */
export function countdown(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  if (seconds >= 86_400) return span(milliseconds);
  const two = (value: number) => String(value).padStart(2, "0");
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** An elapsed time: `3 ms`, `1.24 s`, `2 min`. */
export function took(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(2)} s`;
  return span(milliseconds);
}

/** A time of day with seconds, in the reader's time zone. */
export function timeOfDay(at: string, timeZone?: string): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime())
    ? "–"
    : date.toLocaleTimeString("en-GB", timeZone === undefined ? {} : { timeZone });
}

/** Date and time of day, in the reader's time zone. */
export function dateAndTime(at: string): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime())
    ? "–"
    : `${date.toLocaleDateString("en-CA")} ${timeOfDay(at)}`;
}

/** A short time: of today the time, otherwise the date. */
export function moment(at: string, now: Date = new Date(), timeZone?: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "–";
  const zone = timeZone === undefined ? {} : { timeZone };
  const day = date.toLocaleDateString("en-CA", zone);
  return day === now.toLocaleDateString("en-CA", zone) ? timeOfDay(at, timeZone).slice(0, 5) : day;
}

const distances = [
  ["year", 365 * 86_400_000],
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** How long ago something happened: `just now`, `5 minutes ago`. The server's clock may be ahead of ours. */
export function ago(at: string, now: number): string {
  return distance(Math.min(0, Date.parse(at) - now));
}

/** When something will happen: `in 29 days`. */
export function ahead(at: string, now: number): string {
  const away = Math.max(1, Date.parse(at) - now);
  // Hours are rounded: twelve hours less a minute are twelve.
  return distance(away > 3_600_000 ? Math.round(away / 3_600_000) * 3_600_000 : away);
}

function distance(away: number): string {
  if (Number.isNaN(away)) return "–";
  // A day less a few seconds is a day, not 23 hours.
  const size = Math.abs(away) + 30_000;
  const [unit, length] = distances.find(([, length]) => size >= length) ?? [];
  if (unit === undefined) return away > 0 ? "in less than a minute" : "just now";
  const round = unit === "day" ? Math.round : Math.trunc;
  return new Intl.RelativeTimeFormat("en").format(Math.sign(away) * round(size / length), unit);
}

/** Bytes in the largest fitting unit of 1024. */
export function bytes(count: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  let value = count;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** `1 session`, `2 sessions`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** The text with a capital at the beginning. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Turns a message into a sentence: capitalized, unless it begins with an address, and with a full stop. */
export function sentence(said: string): string {
  const address = /^[a-z][a-z0-9+.-]*:\S|^[^\s.]+\.[^\s.]/i.test(said);
  const text = address ? said : capital(said);
  return text === "" || /[.!?…]$/.test(text) ? text : `${text}.`;
}
