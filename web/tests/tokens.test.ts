import { describe, expect, it } from "vitest";
import type { Token } from "../src/api/wire";
import { inWords, usual } from "../src/tokens/scope";
import { detailOf, endOf, expiresSoon, readToken, sortTokens, titleOf } from "../src/tokens/state";

const now = Date.parse("2026-06-01T12:00:00Z");
const token = (id: string, more: Partial<Token> = {}): Token => ({
  id,
  subject: "admin",
  scopes: ["sessions:*"],
  created_at: "2026-05-01T00:00:00Z",
  expires_at: "2026-07-01T00:00:00Z",
  ...more,
});

describe("scopes in words", () => {
  it("are short for what agents usually have", () => {
    expect(inWords(["sessions:*"])).toEqual(["Create, see and use sessions"]);
    expect(inWords(["sessions:read", "sessions:write", "sessions:act"])).toEqual(["Create, see and use sessions"]);
    expect(inWords([...usual])).toEqual(["Create, see and use sessions", "See, upload and delete artifacts"]);
  });

  it("name each permission of a smaller token", () => {
    expect(inWords(["sessions:read", "metrics:read"])).toEqual(["See sessions", "Read metrics"]);
    expect(inWords(["sessions:*", "metrics:*"])).toEqual(["Create, see and use sessions", "Read metrics"]);
  });

  it("say that an admin may do everything, and keep what they do not know", () => {
    expect(inWords(["sessions:read", "admin"])).toEqual(["Everything, for all owners"]);
    expect(inWords(["mail:send", "sessions:act"])).toEqual(["Act in sessions", "mail:send"]);
    expect(inWords([])).toEqual([]);
  });
});

describe("tokens", () => {
  it("end when they are revoked or expire, whichever is first", () => {
    expect(endOf(token("a"), now)).toBeNull();
    expect(endOf(token("a", { expires_at: "2026-06-01T12:00:00Z" }), now)).toMatchObject({ why: "expired" });
    const revoked = token("a", { expires_at: "2026-05-03T00:00:00Z", revoked_at: "2026-05-02T00:00:00Z" });
    expect(endOf(revoked, now)).toEqual({ why: "revoked", at: "2026-05-02T00:00:00Z" });
  });

  it("are sorted into those of programs, of people, and those that no longer work", () => {
    const sorted = sortTokens(
      [
        token("older"),
        token("newer", { created_at: "2026-05-09T00:00:00Z" }),
        token("login", { human: true }),
        token("revoked", { human: true, revoked_at: "2026-05-02T00:00:00Z" }),
      ],
      now,
    );
    const ids = (tokens: Token[]) => tokens.map(({ id }) => id);
    expect(ids(sorted.programs)).toEqual(["newer", "older"]);
    expect(ids(sorted.people)).toEqual(["login"]);
    expect(ids(sorted.over)).toEqual(["revoked"]);
  });

  it("of programs warn in their last three days, or last tenth if that is shorter; logins do not", () => {
    const tomorrow = { expires_at: "2026-06-02T12:00:00Z" };
    expect(expiresSoon(token("a"), now)).toBe(false);
    expect(expiresSoon(token("a", tomorrow), now)).toBe(true);
    const halfDay = { created_at: "2026-06-01T10:00:00Z", expires_at: "2026-06-01T22:00:00Z" };
    expect(expiresSoon(token("a", halfDay), now)).toBe(false);
    expect(expiresSoon(token("a", halfDay), Date.parse("2026-06-01T21:00:00Z"))).toBe(true);
    expect(expiresSoon(token("a", { ...tomorrow, human: true }), now)).toBe(false);
    expect(expiresSoon(token("a", { expires_at: "2026-05-02T12:00:00Z" }), now)).toBe(false);
  });

  it("are called by their label, else by what is known", () => {
    const named = (more: Partial<Token>) => {
      const one = token("123456789", more);
      return [titleOf(one), detailOf(one)];
    };
    expect(named({ client: "nightly report" })).toEqual(["nightly report", "admin"]);
    expect(named({ subject: "prometheus" })).toEqual(["prometheus", "Id 12345678"]);
    expect(named({ human: true, client: "ui" })).toEqual(["Login", "admin"]);
    expect(named({ client: "ui" })).toEqual(["ui", "admin"]);
  });
});

it("asks for the permissions that were checked, or for everything", () => {
  const form = new FormData();
  form.set("label", " report ");
  form.set("ttl_s", "604800");
  form.append("scope", "sessions:read");
  form.append("scope", "metrics:read");
  expect(readToken(form)).toEqual({ label: "report", scopes: ["sessions:read", "metrics:read"], ttl_s: 604_800 });
  form.set("everything", "on");
  expect(readToken(form).scopes).toEqual(["admin"]);
});
