import { describe, expect, it } from "vitest";
import { allows } from "../src/api/client";
import type { Credential } from "../src/api/wire";
import {
  granteeOf,
  isLong,
  placeholderOf,
  readCredential,
  readSecret,
  sortCredentials,
  typeOf,
} from "../src/credentials/state";

const credential = (name: string, more: Partial<Credential> = {}): Credential => ({
  id: `cred_${name}`,
  name,
  type: "api_key",
  owner: "admin",
  source: "vault",
  host_pattern: "api.example.com",
  fingerprint: "0123456789abcdef",
  created_at: "2026-05-01T00:00:00Z",
  updated_at: "2026-05-01T00:00:00Z",
  ...more,
});

const form = (fields: Record<string, string>) => {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.set(name, value);
  return data;
};

describe("a credential", () => {
  it("is written as a placeholder", () => {
    expect(placeholderOf("github-token")).toBe("${vault:github-token}");
  });

  it("of the environment is apart from those of the vault", () => {
    const { kept, environment } = sortCredentials([credential("a"), credential("b", { source: "environment" })]);
    expect([kept.map(({ name }) => name), environment.map(({ name }) => name)]).toEqual([["a"], ["b"]]);
  });

  it("has a type in words, and a large field if its secret has lines", () => {
    expect(typeOf("totp")).toBe("One-time code");
    expect((["api_key", "totp", "ssh", "login"] as const).map(isLong)).toEqual([false, false, true, true]);
  });
});

describe("the form of a credential", () => {
  it("sends no path if none was given", () => {
    const fields = { name: " github-token ", type: "api_key", host_pattern: "api.github.com", path_pattern: "", value: "ghp_x" };
    expect(readCredential(form(fields))).toEqual({
      name: "github-token",
      type: "api_key",
      host_pattern: "api.github.com",
      value: "ghp_x",
    });
    expect(readCredential(form({ ...fields, path_pattern: "/v1" })).path_pattern).toBe("/v1");
  });

  it("keeps the secret as it is, but for line breaks at its end", () => {
    expect(readSecret(form({ value: " a b\nc \r\n" }))).toBe(" a b\nc ");
  });
});

it("names who may use a credential", () => {
  const grant = { actor_subject: "*", created_at: "", created_by: "admin" };
  expect(granteeOf(grant)).toBe("Everyone");
  expect(granteeOf({ ...grant, actor_subject: "ann", actor_client: "ci" })).toBe("ann, only ci");
});

it("shows the page to those who may read credentials", () => {
  for (const scopes of [["admin"], ["vault:read"], ["vault:*"]]) expect(allows(scopes, "vault:read")).toBe(true);
  for (const scopes of [["sessions:*"], ["vault:write"], []]) expect(allows(scopes, "vault:read")).toBe(false);
});
