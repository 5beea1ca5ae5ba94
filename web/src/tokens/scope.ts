/** What a token can be allowed, in words. */
export const permissions = [
  { scope: "sessions:read", text: "See sessions", hint: "Their list, state, history and logs" },
  { scope: "sessions:write", text: "Create and end sessions", hint: "" },
  { scope: "sessions:act", text: "Act in sessions", hint: "See the screen; use mouse, keyboard, browser, files and commands" },
  { scope: "artifacts:read", text: "See artifacts", hint: "List and download them" },
  { scope: "artifacts:write", text: "Upload and delete artifacts", hint: "" },
  { scope: "vault:read", text: "See credentials", hint: "Their names, hosts and usage; never their secrets" },
  { scope: "vault:write", text: "Manage credentials", hint: "Add, replace, grant and delete them. Not for agents." },
  { scope: "models:use", text: "Call models", hint: "With the keys of this server, within a budget" },
  { scope: "metrics:read", text: "Read metrics", hint: "For Prometheus" },
  { scope: "audit:read", text: "Read the audit log", hint: "Who did what, for all owners" },
] as const;

/** What an agent needs. */
export const usual: readonly string[] = [
  "sessions:read",
  "sessions:write",
  "sessions:act",
  "artifacts:read",
  "artifacts:write",
];

/** Families whose permissions together have a shorter name. */
const families = [
  { family: "sessions", text: "Create, see and use sessions" },
  { family: "artifacts", text: "See, upload and delete artifacts" },
] as const;

/** What these scopes allow, each in a few words; a scope that is not known here stays as it is. */
export function inWords(scopes: string[]): string[] {
  if (scopes.includes("admin") || scopes.includes("*")) return ["Everything, for all owners"];
  const familyOf = (scope: string) => scope.split(":")[0];
  const has = (scope: string) => scopes.includes(scope) || scopes.includes(`${familyOf(scope)}:*`);
  const whole = families.filter(({ family }) =>
    permissions.every(({ scope }) => familyOf(scope) !== family || has(scope)),
  );
  const inWhole = (scope: string) => whole.some(({ family }) => family === familyOf(scope));
  const known = permissions.filter(({ scope }) => has(scope) && !inWhole(scope));
  const others = scopes.filter((scope) => !isKnown(scope));
  return [...whole.map(({ text }) => text), ...known.map(({ text }) => text), ...others];
}

function isKnown(scope: string): boolean {
  return permissions.some((each) => each.scope === scope || `${each.scope.split(":")[0]}:*` === scope);
}
