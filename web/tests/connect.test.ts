import { describe, expect, it } from "vitest";
import type { ClientConnection, ConnectClient, StepFile } from "../src/api/wire";
import { byTime, clientIn, connectedBy, madeWith, nameOf } from "../src/connect/connection";
import { kindOf } from "../src/connect/kind";
import { pathOn, sameEverywhere, systemOf } from "../src/connect/system";
import { readRequest } from "../src/connect/TokenForm";
import { nextPage } from "../src/router";

const connection = (token_id: string, last_seen: string): ClientConnection => ({
  token_id,
  label: null,
  name: "claude-code",
  version: "2.1",
  last_seen,
});
const clients: ConnectClient[] = [
  {
    id: "claude-code",
    title: "Claude Code",
    profile: "all",
    connected: [connection("old", "2026-01-01T00:00:00Z"), connection("new", "2026-01-02T00:00:00Z")],
  },
  { id: "cursor", title: "Cursor", profile: "core", connected: [] },
];

describe("connections", () => {
  it("names a program with its version, if it gave one", () => {
    expect(nameOf({ name: "claude-code", version: "2.1" })).toBe("claude-code 2.1");
    expect(nameOf({ name: "mine", version: "" })).toBe("mine");
  });

  it("lists the latest first", () => {
    expect(byTime(clients[0]?.connected ?? []).map(({ token_id }) => token_id)).toEqual(["new", "old"]);
  });

  it("finds the one made with a token, whichever program used it", () => {
    expect(madeWith(clients, "new")).toMatchObject({ token_id: "new" });
    expect(madeWith(clients, "other")).toBeNull();
    expect(madeWith(null, "new")).toBeNull();
  });

  it("only the event of its token reports a connection", () => {
    const event = { kind: "mcp_client_connected", connection: connection("mine", "") } as const;
    expect(connectedBy(event, "mine")).toEqual(event.connection);
    expect(connectedBy(event, "other")).toBeNull();
    expect(connectedBy({ kind: "reset" }, "mine")).toBeNull();
  });
});

describe("addresses", () => {
  it("name the client that is shown", () => {
    expect(clientIn("?client=claude-code")).toBe("claude-code");
    expect(clientIn("")).toBeNull();
  });

  it("lead on after the login, to pages of this server only", () => {
    const after = (next: string) => nextPage(`?next=${encodeURIComponent(next)}`);
    for (const page of ["tokens", "connect", "connect?client=gemini-cli", "settings", "sessions/sess-1", "?view=recent"]) {
      expect(after(page)).toBe(page);
    }
    for (const elsewhere of ["//evil.example", "https://evil.example", "connect?client=//evil", "sessions/../x", "?a=b"]) {
      expect(after(elsewhere)).toBe("");
    }
  });
});

it("describes a client that it does not know as any other", () => {
  expect(kindOf("cursor").text).toBe("Code editor");
  expect(kindOf("of-next-year")).toEqual(kindOf("generic"));
});

describe("the file of a client's settings", () => {
  const file: StepFile = { path: "~/.config/a", macos: "~/Library/a", windows: "%APPDATA%\\a", language: "json", content: "{}" };

  it("is shown where the reader's system has it", () => {
    const mac = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)";
    expect(pathOn(file, systemOf(mac))).toBe("~/Library/a");
    expect(pathOn(file, systemOf("Mozilla/5.0 (Windows NT 10.0; Win64; x64)"))).toBe("%APPDATA%\\a");
    expect(pathOn(file, systemOf("Mozilla/5.0 (X11; Linux x86_64)"))).toBe("~/.config/a");
  });

  it("needs no choice where the path is the same everywhere", () => {
    expect(sameEverywhere(file)).toBe(false);
    expect(sameEverywhere({ ...file, macos: file.path, windows: file.path })).toBe(true);
  });
});

it("asks for a token with what was chosen, and leaves out what was not", () => {
  const form = new FormData();
  form.set("label", "  ");
  form.set("ttl_s", "86400");
  form.set("profile", "browser");
  expect(readRequest(form)).toEqual({ ttl_s: 86_400, profile: "browser" });
  form.set("label", " laptop ");
  expect(readRequest(form)).toMatchObject({ label: "laptop" });
  form.set("models", "on");
  expect(readRequest(form)).toMatchObject({ models: true });
  expect(readRequest(new FormData())).toEqual({});
});
