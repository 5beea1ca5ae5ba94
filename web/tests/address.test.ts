import { describe, expect, it } from "vitest";
import { curlCreate, curlShow } from "../src/curl";
import { api, page, socket } from "../src/prefix";
import { routeOf } from "../src/router";
import { isAddress } from "../src/session/destination";
import { acknowledging, pictureUrl, readViewerAddress, taking } from "../src/viewer/address";

const root = new URL("http://host:3000/");
const below = new URL("https://host/deck/");

describe("addresses respect the path prefix", () => {
  it("of calls, sockets and pages", () => {
    expect(api("sessions", root)).toBe("http://host:3000/api/v1/sessions");
    expect(api("sessions", below)).toBe("https://host/deck/api/v1/sessions");
    expect(socket("wall", root)).toBe("ws://host:3000/api/v1/wall");
    expect(pictureUrl("s 1", "view", below)).toBe("wss://host/deck/api/v1/sessions/s%201/vnc?role=view");
    expect(page("sessions/x", below)).toBe("/deck/sessions/x");
    expect(curlShow("x", below)).toContain("https://host/deck/api/v1/sessions/x ");
    expect(curlCreate(root)).toContain("http://host:3000/api/v1/sessions ");
  });

  it("of routes", () => {
    expect(routeOf("/deck/", "/deck/")).toEqual({ page: "wall" });
    expect(routeOf("/deck/login", "/deck/")).toEqual({ page: "login" });
    expect(routeOf("/deck/connect", "/deck/")).toEqual({ page: "connect" });
    expect(routeOf("/deck/tokens", "/deck/")).toEqual({ page: "tokens" });
    expect(routeOf("/deck/sessions/s%201", "/deck/")).toEqual({ page: "session", id: "s 1" });
    expect(routeOf("/sessions/x", "/deck/")).toEqual({ page: "unknown" });
    expect(routeOf("/sessions/x/y", "/")).toEqual({ page: "unknown" });
  });
});

describe("the stand-alone viewer's address", () => {
  const path = "api/v1/sessions/s1/vnc?ticket=t&role=control";

  it("carries the ticket in its path", () => {
    const read = readViewerAddress(`?autoconnect=true&resize=remote&path=${encodeURIComponent(path)}`, "", below);
    expect(read).toMatchObject({
      sessionId: "s1",
      picture: "desktop",
      ticket: "t",
      mayControl: true,
      autoconnect: true,
      resize: "remote",
    });
    expect(read?.url.href).toBe("wss://host/deck/api/v1/sessions/s1/vnc?ticket=t&role=control");
  });

  it("is understood when the path was not encoded, and when it stands in the fragment", () => {
    expect(readViewerAddress(`?path=${path}`, "", root)).toMatchObject({ ticket: "t", mayControl: true });
    expect(readViewerAddress("", `#path=${encodeURIComponent(path)}`, root)).toMatchObject({ ticket: "t" });
  });

  it("leads to the browser of a session without a desktop", () => {
    const read = readViewerAddress(`?path=${encodeURIComponent(path.replace("vnc", "cdp-stream"))}`, "", root);
    expect(read).toMatchObject({ sessionId: "s1", picture: "browser", ticket: "t", mayControl: true });
    expect(read && taking(acknowledging(read.url), false)).toBe(
      "ws://host:3000/api/v1/sessions/s1/cdp-stream?ticket=t&role=control&ack=true&take=false",
    );
  });

  it("may not lead anywhere else", () => {
    for (const elsewhere of [
      "",
      "https://evil.example/api/v1/sessions/s1/vnc",
      "//evil.example/api/v1/sessions/s1/vnc",
      "api/v1/sessions/s1",
      "api/v1/sessions/s1/cdp",
      "api/v1/sessions/../tokens/vnc",
      "../api/v1/sessions/s1/vnc",
    ]) {
      const search = `?path=${encodeURIComponent(elsewhere)}`;
      expect(readViewerAddress(search, "", below), elsewhere).toBeNull();
    }
  });

  it("takes control by reconnecting", () => {
    const url = new URL("ws://host/api/v1/sessions/s1/vnc?ticket=t");
    expect(taking(url, true)).toBe("ws://host/api/v1/sessions/s1/vnc?ticket=t&take=true");
    expect(taking(new URL(taking(url, true)), false)).toBe("ws://host/api/v1/sessions/s1/vnc?ticket=t&take=false");
  });
});

it("tells where to go from what to search for", () => {
  const some = ["example.org", "https://a", "localhost", "localhost:3000/x", "[::1]:80", "10.0.0.1/a?b=c+d"];
  for (const text of [...some, "about:blank", "data:text/html,<h1>a b"]) expect(isAddress(text), text).toBe(true);
  for (const text of ["weather", "how are you?", "what is example.org", "https://not a host", "a/b.c", "https://"]) {
    expect(isAddress(text), text).toBe(false);
  }
});
