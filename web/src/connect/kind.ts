import type { IconName } from "../ui/Icon";

/** What kind of program a client is. */
interface Kind {
  icon: IconName;
  text: string;
}

const terminal: Kind = { icon: "terminal", text: "In a terminal" };
const app: Kind = { icon: "window", text: "Desktop app" };
const editor: Kind = { icon: "code", text: "Code editor" };
const assistant: Kind = { icon: "agent", text: "Self-hosted agent" };

const kinds: Record<string, Kind> = {
  "claude-code": terminal,
  "gemini-cli": terminal,
  codex: terminal,
  opencode: terminal,
  "claude-desktop": app,
  cursor: editor,
  vscode: editor,
  openclaw: assistant,
  hermes: assistant,
};

/** A client that a newer server added is described as any other. */
export function kindOf(clientId: string): Kind {
  return kinds[clientId] ?? { icon: "connect", text: "Any program with MCP" };
}
