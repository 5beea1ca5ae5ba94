/** The parts of an OpenAPI document that the reference shows, and functions to read them. */

export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  enum?: unknown[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  required?: string[];
  /** What is also required if there is no target. */
  "x-required-unless-target"?: string[];
}

interface Body {
  description?: string;
  required?: boolean;
  content?: Record<string, { schema?: Schema }>;
  headers?: Record<string, unknown>;
}

export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string | null;
  schema: Schema;
}

interface Described {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  parameters: Parameter[];
  requestBody?: Body;
  responses: Record<string, Body & { $ref?: string }>;
  security: Record<string, string[]>[];
  "x-scope"?: string;
}

export interface ApiDocument {
  info: { version: string; description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema> };
}

export interface Operation extends Described {
  method: string;
  path: string;
}

export interface Group {
  name: string;
  description: string;
  operations: Operation[];
}

/** Operations by tag, in the order of the document's tags; older names of a path come last. */
export function groupsOf(document: ApiDocument): Group[] {
  const all: Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ ...described, method: method.toUpperCase(), path })),
  );
  const older = ({ path }: Operation) => Number(path.startsWith("/api/") && !path.startsWith("/api/v1/"));
  all.sort((one, other) => older(one) - older(other));
  return document.tags
    .map((tag) => ({ ...tag, operations: all.filter((operation) => operation.tags.includes(tag.name)) }))
    .filter((group) => group.operations.length > 0);
}

/** Operations that contain every word of the search in their name, path or text. */
export function search(groups: Group[], words: string): Group[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ operationId, method, path, description, tags }: Operation) => {
    const text = [operationId, method, path, description, ...tags].join(" ").toLowerCase();
    return wanted.every((word) => text.includes(word));
  };
  return groups
    .map((group) => ({ ...group, operations: group.operations.filter(fits) }))
    .filter((group) => group.operations.length > 0);
}

/** Resolves a reference. */
export function resolve(document: ApiDocument, schema: Schema): Schema {
  const name = nameOf(schema);
  return name === null ? schema : (document.components.schemas[name] ?? {});
}

/** The component that a schema refers to, even if it is nullable. */
export function nameOf(schema: Schema): string | null {
  const choices = notNull(schema);
  if (choices.length === 1 && choices[0] !== schema && choices[0]) return nameOf(choices[0]);
  return schema.$ref?.split("/").pop() ?? null;
}

function notNull(schema: Schema): Schema[] {
  return (schema.anyOf ?? schema.oneOf ?? []).filter((choice) => choice.type !== "null");
}

/** A short description of a type: `string`, `array of Button`, `"png" | "webp"`. */
export function typeOf(document: ApiDocument, schema: Schema): string {
  const target = resolve(document, schema);
  if (target.enum) return target.enum.map((value) => JSON.stringify(value)).join(" | ");
  const choices = notNull(target);
  if (choices.length > 0) return choices.map((choice) => typeOf(document, choice)).join(" or ");
  const types = [target.type ?? []].flat().filter((type) => type !== "null");
  if (types.length === 0) return "any";
  if (types[0] === "array") return `array of ${target.items ? typeOf(document, target.items) : "any"}`;
  if (types[0] === "object") return nameOf(schema) ?? "object";
  if (target.format === "binary") return "bytes";
  return types.join(" or ");
}

/** Maxima of integer types, which say nothing about a field. */
const ofType = new Set<number | undefined>([2 ** 31 - 1, 2 ** 32 - 1, Number.MAX_SAFE_INTEGER]);

/** A short description of limits and default. */
export function boundsOf(document: ApiDocument, schema: Schema): string {
  const limits = { ...resolve(document, schema), ...schema };
  const range = (low: number | undefined, high: number | undefined, unit: string) => {
    if (low === undefined && high === undefined) return [];
    if (low === undefined) return [`at most ${high}${unit}`];
    if (high === undefined) return [`at least ${low}${unit}`];
    return [`${low} to ${high}${unit}`];
  };
  const parts = [
    ...range(limits.minimum, ofType.has(limits.maximum) ? undefined : limits.maximum, ""),
    ...range(limits.minLength, limits.maxLength, " characters"),
    ...range(limits.minItems, limits.maxItems, " items"),
  ];
  const preset = limits.default;
  if (preset !== undefined && preset !== null) parts.push(`default ${JSON.stringify(preset)}`);
  return parts.join(", ");
}

/** The object whose properties can be shown below a value of this schema, if any. */
export function objectBelow(document: ApiDocument, schema: Schema): Schema | null {
  const target = resolve(document, schema);
  if (target.properties && Object.keys(target.properties).length > 0) return target;
  return target.items ? objectBelow(document, target.items) : null;
}

/** A command that calls the operation with its required input. */
export function curlFor(document: ApiDocument, operation: Operation, base: string): string {
  const query = operation.parameters.filter((parameter) => parameter.in === "query" && parameter.required);
  const questions = query.map(({ name }) => `${name}=${placeholder(name)}`).join("&");
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => placeholder(name));
  const lines = [`curl "${base}${path}${questions && `?${questions}`}"`];
  if (operation.security.length > 0) lines.push(`-H "Authorization: Bearer $JWT"`);
  const content = Object.entries(operation.requestBody?.content ?? {})[0];
  const bytes = content?.[1].schema?.format === "binary";
  if (bytes) lines.push("-T file");
  else if (content?.[1].schema) {
    const example = JSON.stringify(sample(document, content[1].schema));
    const quoted = JSON.stringify(example).slice(1, -1);
    lines.push(`-d "${quoted.replaceAll("$SESSION", "$SESSION_ID")}"`);
  }
  const implied = bytes ? "PUT" : content ? "POST" : "GET";
  if (operation.method !== implied) lines.splice(1, 0, `-X ${operation.method}`);
  if (Object.keys(operation.responses["200"]?.content ?? {})[0]?.startsWith("image/")) lines.push("-o picture.png");
  return lines.join(" \\\n  ");
}

function placeholder(name: string): string {
  return name === "id" || name === "session_id" ? "$SESSION_ID" : `$${name.toUpperCase()}`;
}

/** A sample value of this schema with only required parts. */
export function sample(document: ApiDocument, schema: Schema, name = ""): unknown {
  if (name === "session_id") return "$SESSION";
  const target = resolve(document, schema);
  if (target.enum) return target.enum[0];
  const type = [target.type ?? []].flat()[0];
  switch (type) {
    case "object": {
      const required = [...(target.required ?? []), ...(target["x-required-unless-target"] ?? [])];
      return Object.fromEntries(required.map((key) => [key, sample(document, target.properties?.[key] ?? {}, key)]));
    }
    case "array":
      return target.minItems && target.items ? [sample(document, target.items)] : [];
    case "integer":
    case "number":
      return Math.max(1, target.minimum ?? 1);
    case "boolean":
      return true;
    default:
      return name ? `<${name}>` : "";
  }
}
