import type { ReactNode } from "react";

/** A block of a Markdown text. */
export type Block =
  | { kind: "heading"; level: number; text: string }
  | { kind: "code"; text: string }
  | { kind: "list"; ordered: boolean; items: string[] }
  | { kind: "quote"; text: string }
  | { kind: "table"; head: string[]; rows: string[][] }
  | { kind: "rule" }
  | { kind: "paragraph"; text: string };

const bullet = /^\s{0,3}[-*+]\s+/;
const number = /^\s{0,3}\d{1,9}[.)]\s+/;
const separator = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

/** The blocks of a text. What is not known here stays a paragraph. */
export function blocksOf(text: string): Block[] {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const blocks: Block[] = [];
  let at = 0;
  /** Takes lines as long as they belong to the block. */
  const take = (belongs: (line: string) => boolean): string[] => {
    const from = at;
    while (at < lines.length && belongs(lines[at] ?? "")) at += 1;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at] ?? "";
    const fence = /^\s{0,3}(```+|~~~+)/.exec(line)?.[1];
    const heading = /^\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$/.exec(line);
    if (fence !== undefined) {
      at += 1;
      blocks.push({ kind: "code", text: take((each) => !each.trim().startsWith(fence)).join("\n") });
      at += 1;
    } else if (heading) {
      at += 1;
      blocks.push({ kind: "heading", level: (heading[1] ?? "#").length, text: heading[2] ?? "" });
    } else if (/^\s{0,3}([-*_])(\s*\1){2,}\s*$/.test(line)) {
      at += 1;
      blocks.push({ kind: "rule" });
    } else if (line.includes("|") && separator.test(lines[at + 1] ?? "")) {
      const [head = "", , ...rows] = take((each) => each.includes("|"));
      blocks.push({ kind: "table", head: cellsOf(head), rows: rows.map(cellsOf) });
    } else if (bullet.test(line) || number.test(line)) {
      const ordered = number.test(line);
      const taken = take((each) => bullet.test(each) || number.test(each) || /^\s+\S/.test(each));
      blocks.push({ kind: "list", ordered, items: itemsOf(taken) });
    } else if (/^\s{0,3}>/.test(line)) {
      const quoted = take((each) => /^\s{0,3}>/.test(each)).map((each) => each.replace(/^\s{0,3}>\s?/, ""));
      blocks.push({ kind: "quote", text: quoted.join("\n") });
    } else if (line.trim() === "") {
      at += 1;
    } else {
      at += 1;
      const rest = take((each) => each.trim() !== "" && !/^\s{0,3}(#{1,6}\s|```|~~~|>|[-*+]\s|\d{1,9}[.)]\s)/.test(each));
      blocks.push({ kind: "paragraph", text: [line, ...rest].join("\n") });
    }
  }
  return blocks;
}

function cellsOf(row: string): string[] {
  return row.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
}

/** Items of a list; indented lines continue the item before. */
function itemsOf(lines: string[]): string[] {
  const items: string[] = [];
  for (const line of lines) {
    const text = line.replace(/^\s*([-*+]|\d{1,9}[.)])\s+/, "");
    if (text !== line || items.length === 0) items.push(text);
    else items.push(`${items.pop() ?? ""} ${line.trim()}`);
  }
  return items;
}

/** A Markdown text. Its HTML is shown as text, and its pictures are not loaded. */
export function Markdown({ text }: { text: string }) {
  return (
    <div className="markdown">
      {blocksOf(text).map((block, index) => (
        <BlockView key={index} block={block} />
      ))}
    </div>
  );
}

function BlockView({ block }: { block: Block }) {
  switch (block.kind) {
    case "heading": {
      // Headings of the page are above these.
      const Heading = `h${Math.min(6, block.level + 2)}` as "h3";
      return <Heading data-level={block.level}>{inline(block.text)}</Heading>;
    }
    case "code":
      return (
        <pre tabIndex={0}>
          <code>{block.text}</code>
        </pre>
      );
    case "list": {
      const List = block.ordered ? "ol" : "ul";
      return (
        <List>
          {block.items.map((item, index) => (
            <li key={index}>{inline(item)}</li>
          ))}
        </List>
      );
    }
    case "quote":
      return <blockquote>{inline(block.text)}</blockquote>;
    case "table":
      return (
        <div className="markdown-table">
          <table>
            <thead>
              <tr>
                {block.head.map((cell, index) => (
                  <th key={index}>{inline(cell)}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row, index) => (
                <tr key={index}>
                  {row.map((cell, column) => (
                    <td key={column}>{inline(cell)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    case "rule":
      return <hr />;
    case "paragraph":
      return <p>{inline(block.text)}</p>;
  }
}

const marks = /(`[^`\n]+`)|(!?\[[^\]\n]*\]\([^()\s]*(?:\s+"[^"\n]*")?\))|(\*\*[^*\n]+\*\*)|(\*[^*\s][^*\n]*\*)/;

function inline(text: string): ReactNode[] {
  return text.split(marks).flatMap((part, index): ReactNode[] => {
    if (part === undefined || part === "") return [];
    const link = /^(!?)\[([^\]]*)\]\(([^()\s]*)/.exec(part);
    if (link) return [<LinkOrName key={index} name={link[2] ?? ""} address={link[3] ?? ""} />];
    if (/^`.+`$/.test(part)) return [<code key={index}>{part.slice(1, -1)}</code>];
    if (/^\*\*.+\*\*$/.test(part)) return [<b key={index}>{part.slice(2, -2)}</b>];
    if (/^\*.+\*$/.test(part)) return [<em key={index}>{part.slice(1, -1)}</em>];
    return [part];
  });
}

/** Only web addresses become links. */
function LinkOrName({ name, address }: { name: string; address: string }) {
  if (!/^https?:\/\//i.test(address)) return name;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer nofollow">
      {name || address}
    </a>
  );
}
