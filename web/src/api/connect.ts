/** What the server says about agents that connect over MCP, and about tokens. */

/** Which tools an agent gets. */
export type ToolProfile = "core" | "browser" | "desktop" | "code" | "all";

/** An agent that has connected with a token. */
export interface McpClient {
  name: string;
  version: string;
  last_seen: string;
}

export interface ClientConnection extends McpClient {
  token_id: string;
  /** The token's label. */
  label?: string | null;
}

/** A program that can be connected. */
export interface ConnectClient {
  id: string;
  title: string;
  profile: ToolProfile;
  connected: ClientConnection[];
}

export interface StepFile {
  /** Where it is on Linux. */
  path: string;
  macos: string;
  windows: string;
  language: string;
  content: string;
}

export interface ConnectStep {
  title: string;
  text: string;
  command?: string | null;
  file?: StepFile | null;
}

/** How to connect one program: with a placeholder, or with a token that was just made. */
export interface Instructions {
  client: string;
  title: string;
  profile: ToolProfile;
  url: string;
  steps: ConnectStep[];
  /** How to take it back. */
  undo: string;
  /** A page of the documentation. */
  docs: string;
  token?: string | null;
  token_id?: string | null;
  expires_at?: string | null;
}

export interface ConnectRequest {
  label?: string;
  ttl_s?: number;
  profile?: ToolProfile;
}

export interface Token {
  id: string;
  subject: string;
  /** Its label. */
  client?: string | null;
  human?: boolean;
  scopes: string[];
  created_at: string;
  expires_at: string;
  revoked_at?: string | null;
  last_used_at?: string | null;
  mcp_client?: McpClient | null;
}

export interface CreateToken {
  label: string;
  scopes?: string[];
  ttl_s?: number;
}

/** The token itself is in this answer only. */
export interface CreatedToken {
  id: string;
  token: string;
  expires_at?: string;
}
