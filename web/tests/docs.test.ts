import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { boundsOf, curlFor, groupsOf, search, typeOf, type ApiDocument } from "../src/docs/document";

const text = readFileSync(new URL("../../docs/openapi.json", import.meta.url), "utf8");
const document = JSON.parse(text) as ApiDocument;
const groups = groupsOf(document);
const all = groups.flatMap((group) => group.operations);

function operation(id: string) {
  const found = all.find((one) => one.operationId === id);
  if (!found) throw new Error(id);
  return found;
}

describe("the API reference", () => {
  it("shows every operation once", () => {
    const documented = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const ids = documented.map((one) => one.operationId).sort();
    expect(all.map((one) => one.operationId).sort()).toEqual(ids);
  });

  it("finds operations by all words of a search", () => {
    const found = (words: string) => search(groups, words).flatMap((group) => group.operations.map((one) => one.operationId));
    expect(found("desktop screenshot")).toContain("desktop_screenshot");
    expect(found("desktop screenshot")).not.toContain("desktop_click");
    expect(found("no such thing at all")).toEqual([]);
    expect(found("")).toHaveLength(all.length);
  });

  it("names types as people do", () => {
    const { Click, Session } = document.components.schemas;
    expect(typeOf(document, Click?.properties?.x ?? {})).toBe("number");
    expect(typeOf(document, Click?.properties?.button ?? {})).toContain('"left" | "middle"');
    expect(typeOf(document, Session?.properties?.end_reason ?? {})).toContain('"idle"');
    expect(typeOf(document, { type: "array", items: { type: "string" } })).toBe("array of string");
    expect(typeOf(document, {})).toBe("any");
  });

  it("says bounds and defaults", () => {
    expect(boundsOf(document, { type: "integer", minimum: 1, maximum: 9, default: 3 })).toBe("1 to 9, default 3");
    expect(boundsOf(document, { type: "integer", minimum: 0, maximum: 4294967295 })).toBe("at least 0");
    expect(boundsOf(document, { type: "string", maxLength: 5 })).toBe("at most 5 characters");
    expect(boundsOf(document, { type: "string" })).toBe("");
  });

  it("gives a command with what is required", () => {
    expect(curlFor(document, operation("desktop_click"), "http://host")).toBe(
      'curl "http://host/api/v1/desktop/click" \\\n  -H "Authorization: Bearer $JWT" \\\n' +
        '  -d "{\\"session_id\\":\\"$SESSION_ID\\",\\"x\\":1,\\"y\\":1}"',
    );
    expect(curlFor(document, operation("end_session"), "")).toContain('sessions/$SESSION_ID" \\\n  -X DELETE');
    expect(curlFor(document, operation("write_file"), "")).toContain("-T file");
    expect(curlFor(document, operation("healthz"), "")).toBe('curl "/healthz"');
    expect(curlFor(document, operation("desktop_windows"), "")).toContain("?session_id=$SESSION_ID");
  });
});
