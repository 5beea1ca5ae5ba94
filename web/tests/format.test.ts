import { expect, it } from "vitest";
import { explain } from "../src/api/client";
import { backoff } from "../src/backoff";
import { ago, ahead, bytes, count, countdown, moment, sentence, span, timeOfDay, took } from "../src/format";

it("tells spans by their two largest units", () => {
  expect(span(-5)).toBe("0 s");
  expect(span(59_999)).toBe("59 s");
  expect(span(60_000)).toBe("1 min");
  expect(span(3_900_000)).toBe("1 h 05 min");
  expect(span(100 * 3_600_000)).toBe("4 d 4 h");
});

it("counts down to zero and not below", () => {
  expect(countdown(3_605_000)).toBe("1:00:05");
  expect(countdown(65_000)).toBe("1:05");
  expect(countdown(400)).toBe("0:01");
  expect(countdown(-400)).toBe("0:00");
});

it("tells durations and sizes", () => {
  expect(took(1.4)).toBe("1 ms");
  expect(took(1240)).toBe("1.24 s");
  expect(bytes(512)).toBe("512 B");
  expect(bytes(1536)).toBe("1.5 KiB");
  expect(bytes(412 * 2 ** 20)).toBe("412 MiB");
  expect(count(1, "session")).toBe("1 session");
  expect(count(0, "session")).toBe("0 sessions");
});

it("tells the time of day, and nothing for an invalid time", () => {
  expect(timeOfDay("2026-01-01T07:08:09Z", "UTC")).toBe("07:08:09");
  expect(timeOfDay("never")).toBe("–");
});

it("tells a moment of today by its time, and any other by its date", () => {
  const now = new Date("2026-01-02T23:00:00Z");
  expect(moment("2026-01-02T07:08:09Z", now, "UTC")).toBe("07:08");
  expect(moment("2026-01-01T23:30:00Z", now, "UTC")).toBe("2026-01-01");
  expect(moment("2026-01-02T23:30:00Z", now, "Asia/Tokyo")).toBe("08:30");
  expect(moment("never", now)).toBe("–");
});

it("tells how far away a moment is, whatever the server's clock says", () => {
  const now = Date.parse("2026-01-31T12:00:00Z");
  expect(ago("2026-01-31T11:59:40Z", now)).toBe("just now");
  expect(ago("2026-01-31T12:00:30Z", now)).toBe("just now");
  expect(ago("2026-01-31T11:55:00Z", now)).toBe("5 minutes ago");
  expect(ago("2026-01-30T11:00:00Z", now)).toBe("1 day ago");
  expect(ahead("2026-01-31T12:00:20Z", now)).toBe("in less than a minute");
  expect(ahead("2026-02-01T11:59:58Z", now)).toBe("in 1 day");
  expect(ahead("2026-01-31T23:59:58Z", now)).toBe("in 12 hours");
  expect(ahead("2026-01-31T23:58:00Z", now)).toBe("in 12 hours");
  expect(ahead("2026-01-31T12:59:58Z", now)).toBe("in 1 hour");
  expect(ahead("2026-01-31T12:59:00Z", now)).toBe("in 59 minutes");
  expect(ahead("2027-10-31T12:00:00Z", now)).toBe("in 1 year");
  expect(ahead("2026-03-02T11:59:58Z", now)).toBe("in 30 days");
  expect(ahead("2027-01-31T11:59:58Z", now)).toBe("in 1 year");
  expect(ago("never", now)).toBe("–");
});

it("makes a sentence of what a program said", () => {
  expect(sentence("the disk is full: remove something")).toBe("The disk is full: remove something.");
  expect(sentence("Really?")).toBe("Really?");
  expect(sentence("attached: nothing is ours")).toBe("Attached: nothing is ours.");
  for (const address of ["https://not a host", "example.org", "localhost:3000"]) {
    expect(sentence(`${address} could not be loaded`)).toBe(`${address} could not be loaded.`);
  }
  expect(sentence("")).toBe("");
});

it("says in words what the browser calls by a name", () => {
  const said = (code: string) => explain(new Error(`https://a.example could not be loaded: ${code}`));
  expect(said("net::ERR_NAME_NOT_RESOLVED")).toBe(
    "https://a.example could not be loaded: its name was not found (net::ERR_NAME_NOT_RESOLVED).",
  );
  expect(said("net::ERR_TUNNEL_CONNECTION_FAILED")).toContain("policy");
  expect(said("net::ERR_CERT_OF_A_NEW_KIND")).toContain("certificate is not valid (net::ERR_CERT_OF_A_NEW_KIND)");
  expect(said("net::ERR_OF_A_NEW_KIND")).toBe("https://a.example could not be loaded: net::ERR_OF_A_NEW_KIND.");
});

it("waits longer each time, up to ten seconds", () => {
  expect(backoff(0, 1)).toBe(500);
  expect(backoff(2, 1)).toBe(2000);
  expect(backoff(99, 1)).toBe(10_000);
  expect(backoff(0, 0)).toBe(375);
});
