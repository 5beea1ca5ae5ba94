import { isObject } from "../json";

/** The part of JSON Schema that inputs of packs use. */
interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  type?: string | string[];
  description?: string;
  default?: unknown;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
}

export type FieldKind =
  | "text"
  | "long"
  | "secret"
  | "number"
  | "choice"
  | "switch"
  | "list"
  | "session"
  /** Text, or a JSON value if it is one. */
  | "mixed"
  | "json";

/** A field of the form of a pack. */
export interface Field {
  name: string;
  kind: FieldKind;
  doc: string;
  required: boolean;
  default: unknown;
  /** Of a choice. */
  choices: string[];
  /** Of a number. */
  whole: boolean;
  minimum: number | undefined;
  maximum: number | undefined;
  /** Whether an empty text is a value. */
  keepsEmpty: boolean;
}

/** What the person has entered. Fields without a value are left out. */
export type Draft = Record<string, string | boolean | string[]>;

/** Options that every pack has; they are folded. */
const options = ["workspace", "idempotency_key", "webhook_url", "webhook_secret", "max_age_s"];
/** The form never waits: it shows progress. */
const hidden = ["wait_s"];
/** Longer texts get several lines. */
const oneLine = 2000;

/** The fields of an input: the session and required fields first. */
export function fieldsOf(root: Record<string, unknown>): { main: Field[]; options: Field[] } {
  const schema = root as Schema;
  const required = new Set(schema.required);
  const names = Object.keys(schema.properties ?? {}).filter((name) => !hidden.includes(name));
  const rank = (name: string) => (name === "_session_id" ? 0 : required.has(name) ? 1 : 2);
  const fields = names
    .toSorted((a, b) => rank(a) - rank(b))
    .map((name) => fieldOf(schema, name, required.has(name)));
  const isOption = ({ name, required }: Field) => !required && options.includes(name);
  return { main: fields.filter((field) => !isOption(field)), options: fields.filter(isOption) };
}

function fieldOf(root: Schema, name: string, required: boolean): Field {
  const outer = root.properties?.[name] ?? {};
  const schema = withoutNull(root, outer);
  const kind = name === "_session_id" ? "session" : kindOf(root, name, schema);
  return {
    name,
    kind,
    doc: outer.description ?? schema.description ?? "",
    required,
    default: outer.default ?? schema.default ?? null,
    choices: kind === "choice" ? choicesOf(root, schema) : [],
    whole: typesOf(schema).includes("integer"),
    minimum: schema.minimum,
    maximum: schema.maximum,
    keepsEmpty: (schema.minLength ?? 0) === 0 && schema.pattern === undefined,
  };
}

function kindOf(root: Schema, name: string, schema: Schema): FieldKind {
  if (choicesOf(root, schema).length > 0) return "choice";
  const types = typesOf(schema);
  if (types.length === 1) {
    if (types[0] === "boolean") return "switch";
    if (types[0] === "integer" || types[0] === "number") return "number";
    if (types[0] === "string") return textKindOf(name, schema);
    const items = schema.items && withoutNull(root, schema.items);
    if (types[0] === "array" && items && typesOf(items).join() === "string" && !items.enum) return "list";
  }
  const variants = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].map((each) => resolved(root, each));
  const takesText = types.includes("string") || variants.some((each) => typesOf(each).includes("string"));
  return takesText ? "mixed" : "json";
}

function textKindOf(name: string, { format, pattern, maxLength }: Schema): FieldKind {
  if (format === "password" || name.endsWith("_secret")) return "secret";
  const long = format === undefined && pattern === undefined && (maxLength === undefined || maxLength > oneLine);
  return long ? "long" : "text";
}

function typesOf({ type }: Schema): string[] {
  return (Array.isArray(type) ? type : type === undefined ? [] : [type]).filter((each) => each !== "null");
}

function resolved(root: Schema, schema: Schema): Schema {
  const name = schema.$ref?.replace("#/$defs/", "");
  const target = name === undefined ? undefined : root.$defs?.[name];
  return target === undefined ? schema : resolved(root, target);
}

/** The schema behind a reference, and behind “or null”. */
function withoutNull(root: Schema, schema: Schema): Schema {
  const found = resolved(root, schema);
  const variants = (found.anyOf ?? found.oneOf ?? []).filter((each) => each.type !== "null");
  const [only] = variants;
  return variants.length === 1 && only ? { ...resolved(root, only), default: found.default } : found;
}

/** The allowed texts of an enumeration, however it is written. */
function choicesOf(root: Schema, schema: Schema): string[] {
  const values = schema.enum ?? (schema.anyOf ?? schema.oneOf ?? []).flatMap((each) => {
    const variant = resolved(root, each);
    return variant.const === undefined ? (variant.enum ?? [undefined]) : [variant.const];
  });
  const texts = values.filter((value) => value !== null);
  return texts.every((value) => typeof value === "string") ? (texts as string[]) : [];
}

/** A draft with the values of an input. */
export function draftOf(fields: Field[], input: Record<string, unknown>): Draft {
  const draft: Draft = {};
  for (const field of fields) {
    const value = input[field.name];
    if (value === undefined || value === null) continue;
    draft[field.name] = drafted(field, value);
  }
  return draft;
}

function drafted({ kind }: Field, value: unknown): string | boolean | string[] {
  if (kind === "switch") return value === true;
  if (kind === "list" && Array.isArray(value)) return value.map(String);
  if (typeof value === "string" && kind !== "json") return value;
  return kind === "json" || kind === "mixed" ? JSON.stringify(value, null, 2) : String(value);
}

/** What a draft means, or what is wrong with it, by field. */
export function inputOf(fields: Field[], draft: Draft): { input: Record<string, unknown>; errors: Record<string, string> } {
  const input: Record<string, unknown> = {};
  const errors: Record<string, string> = {};
  for (const field of fields) {
    try {
      const value = valueOf(field, draft[field.name]);
      if (value !== undefined) input[field.name] = value;
      else if (field.required) errors[field.name] = "This field is required.";
    } catch (error) {
      errors[field.name] = error instanceof Error ? error.message : String(error);
    }
  }
  return { input, errors };
}

/** The value of a field; undefined if it has none. Throws an error with a sentence if it is invalid. */
function valueOf(field: Field, entered: Draft[string] | undefined): unknown {
  if (typeof entered === "boolean") {
    return field.required || entered !== (field.default === true) ? entered : undefined;
  }
  if (Array.isArray(entered)) {
    const items = entered.filter((item) => item !== "");
    return items.length > 0 ? items : undefined;
  }
  if (field.kind === "switch") return field.required ? false : undefined;
  if (entered === undefined) return field.required && field.keepsEmpty && field.kind === "long" ? "" : undefined;
  if (field.kind === "text" || field.kind === "long") {
    return entered !== "" || field.keepsEmpty ? entered : undefined;
  }
  if (entered.trim() === "") return undefined;
  if (field.kind === "number") return numberOf(field, entered);
  if (field.kind === "json") return parsed(entered);
  if (field.kind === "mixed") return /^\s*[[{]/.test(entered) ? parsed(entered) : entered;
  return entered;
}

function numberOf({ whole, minimum, maximum }: Field, entered: string): number {
  const value = Number(entered);
  if (Number.isNaN(value)) throw new Error("Enter a number.");
  if (whole && !Number.isInteger(value)) throw new Error("Enter a whole number.");
  if (minimum !== undefined && value < minimum) throw new Error(`Enter ${minimum} or more.`);
  if (maximum !== undefined && value > maximum) throw new Error(`Enter ${maximum} or less.`);
  return value;
}

function parsed(entered: string): unknown {
  try {
    return JSON.parse(entered);
  } catch (error) {
    throw new Error(`This is not valid JSON: ${error instanceof Error ? error.message : "check quotes and commas"}`);
  }
}

/** The field of the form that an error of the server names, such as `edits[0].search`. */
export function fieldNamed(name: unknown): string | null {
  return typeof name === "string" ? (/^[^.[]+/.exec(name)?.[0] ?? null) : null;
}

/** A default as the form shows it; empty if it says nothing. */
export function shownDefault({ default: value }: Field): string {
  if (value === null || value === "") return "";
  if (Array.isArray(value) && value.length === 0) return "";
  if (isObject(value)) return Object.keys(value).length === 0 ? "" : JSON.stringify(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}
