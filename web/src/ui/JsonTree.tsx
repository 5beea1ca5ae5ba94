import { isObject } from "../json";

/** Deeper levels are folded. */
const open = 2;
/** More entries of one level make the page slow; all of them are in the JSON text. */
const most = 200;

/** A JSON value that can be unfolded level by level. */
export function JsonTree({ value, depth = 0 }: { value: unknown; depth?: number }) {
  if (!isObject(value) && !Array.isArray(value)) return <Leaf value={value} />;
  const entries = Array.isArray(value) ? value.map((item, index) => [String(index), item] as const) : Object.entries(value);
  if (entries.length === 0) return <span className="muted">{Array.isArray(value) ? "[]" : "{}"}</span>;
  return (
    <ul className="json-tree">
      {entries.slice(0, most).map(([name, item]) => (
        <li key={name}>
          {isBranch(item) ? (
            <details open={depth < open - 1 && sizeOf(item) <= 20}>
              <summary>
                <span className="json-name">{name}</span> <span className="muted">{countOf(item)}</span>
              </summary>
              <JsonTree value={item} depth={depth + 1} />
            </details>
          ) : (
            <>
              <span className="json-name">{name}</span> <JsonTree value={item} depth={depth + 1} />
            </>
          )}
        </li>
      ))}
      {entries.length > most && <li className="muted">… {entries.length - most} more</li>}
    </ul>
  );
}

function Leaf({ value }: { value: unknown }) {
  const kind = value === null ? "null" : typeof value;
  return (
    <span className="json-value" data-kind={kind}>
      {typeof value === "string" ? (value === "" ? "“”" : value) : String(value)}
    </span>
  );
}

function isBranch(value: unknown): value is object {
  return (isObject(value) || Array.isArray(value)) && sizeOf(value) > 0;
}

function sizeOf(value: object): number {
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}

function countOf(value: object): string {
  const size = sizeOf(value);
  const noun = Array.isArray(value) ? "item" : "field";
  return `${size} ${noun}${size === 1 ? "" : "s"}`;
}
