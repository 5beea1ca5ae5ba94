import type { Credential, CredentialGrant, CredentialType, CredentialUsage, NewCredential } from "../api/wire";

/** What a credential can be, in words. */
export const types: { type: CredentialType; text: string; hint: string }[] = [
  { type: "api_key", text: "API key", hint: "A key or token, as the service shows it." },
  { type: "login", text: "Login", hint: 'JSON: {"username": "…", "password": "…"}' },
  { type: "cookie", text: "Cookies", hint: "A JSON array of cookies." },
  { type: "oauth", text: "OAuth", hint: "JSON with the tokens." },
  { type: "ssh", text: "SSH key", hint: "A private key, from BEGIN to END." },
  { type: "totp", text: "One-time code", hint: "The setup key, or the otpauth:// address. Agents get the current code." },
];

export function typeOf(type: CredentialType): string {
  return types.find((each) => each.type === type)?.text ?? type;
}

/** Whether a secret of this type has several lines. */
export function isLong(type: CredentialType): boolean {
  return type !== "api_key" && type !== "totp";
}

/** Services that packs know by name. */
export const services = [
  { text: "GitHub", name: "github-token", host: "api.github.com" },
  { text: "ElevenLabs", name: "elevenlabs-key", host: "api.elevenlabs.io" },
  { text: "fal.ai", name: "fal-key", host: "fal.run" },
  { text: "Pexels", name: "pexels-key", host: "api.pexels.com" },
  { text: "Ghost", name: "ghost-admin-key", host: "" },
  { text: "Resend", name: "resend-api-key", host: "api.resend.com" },
] as const;

export function placeholderOf(name: string): string {
  return `\${vault:${name}}`;
}

/** Those of the vault, and those in variables of the server. */
export function sortCredentials(credentials: Credential[]): { kept: Credential[]; environment: Credential[] } {
  return {
    kept: credentials.filter(({ source }) => source === "vault"),
    environment: credentials.filter(({ source }) => source === "environment"),
  };
}

/** Who a grant is for. */
export function granteeOf({ actor_subject, actor_client }: CredentialGrant): string {
  const who = actor_subject === "*" ? "Everyone" : actor_subject;
  return actor_client ? `${who}, only ${actor_client}` : who;
}

export const results: Record<CredentialUsage["result"], string> = {
  allowed: "Used",
  denied: "Refused: not granted",
  no_match: "Refused: other host or path",
};

const text = (form: FormData, field: string) => String(form.get(field) ?? "").trim();

/** The fields of the form for a new credential, as the API takes them. */
export function readCredential(form: FormData): NewCredential {
  const path = text(form, "path_pattern");
  return {
    name: text(form, "name"),
    type: text(form, "type") as CredentialType,
    host_pattern: text(form, "host_pattern"),
    ...(path === "" ? {} : { path_pattern: path }),
    value: readSecret(form),
  };
}

/** The secret of a form. Only line breaks at its end are not part of it. */
export function readSecret(form: FormData): string {
  return String(form.get("value") ?? "").replace(/[\r\n]+$/, "");
}
