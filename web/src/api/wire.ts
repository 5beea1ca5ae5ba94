/** Types of the API, under the names the page uses. */
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Mode = Schemas["Mode"];
export type Status = Schemas["Status"];
export type EndReason = Schemas["EndReason"];
export type CreateSession = Schemas["CreateSession"];
export type Session = Schemas["Session"];
export type Control = Schemas["Control"];
export type Driver = Schemas["Driver"];
export type Identity = Schemas["Me"];
export type Role = Schemas["Role"];
export type Ticket = Schemas["Ticket"];
export type Settings = Schemas["Settings"];
export type ChangeSettings = Schemas["ChangeSettings"];
export type Forward = Schemas["Forward"];
export type Folder = Schemas["FileList"];
export type Entry = Schemas["FileEntry"];

export type Tab = Schemas["Tab"];
export type History = Schemas["History"];
export type TabAction = Schemas["TabAction"];
export type BrowserView = Schemas["BrowserView"];
export type BrowserStatus = Schemas["ViewStatus"];

export type ToolProfile = Schemas["ToolProfile"];
/** A program that can be connected. */
export type ConnectClient = Schemas["ConnectClient"];
/** A token with which a program has connected. */
export type ClientConnection = Schemas["Connected"];
/** How to connect a program: with a placeholder, or with a token that was just created. */
export type Instructions = Schemas["ConnectGuide"];
export type ConnectStep = Schemas["Step"];
export type StepFile = Schemas["StepFile"];
export type ConnectRequest = Schemas["NewConnection"];

export type Token = Schemas["TokenInfo"];
export type NewToken = Schemas["NewToken"];
/** The token itself is in this answer only. */
export type CreatedToken = Schemas["CreatedToken"];

export type Artifact = Schemas["Artifact"];
export type ArtifactList = Schemas["ArtifactList"];
export type ArtifactLink = Schemas["ArtifactLink"];
/** Which artifacts to list: by source, a part of the name, and the beginning of the media type. */
export interface ArtifactFilter {
  pack?: string | undefined;
  name?: string | undefined;
  content_type?: string | undefined;
  before?: number | undefined;
}
/** A pack; `unavailable` says why it cannot run here. */
export type Pack = Omit<Schemas["PackInfo"], "routing" | "nature"> & {
  routing: Routing;
  nature: Nature;
  unavailable?: string | null;
};
export interface Routing {
  accepts?: string[];
  produces?: string[];
  intent_keywords?: string[];
  typical_use?: string;
  limitations?: string[];
}
export interface Nature {
  effect?: string;
  destructive?: boolean;
  open_world?: boolean;
}
export type Job = Schemas["Job"];
export type JobState = Schemas["JobState"];
export type JobList = Schemas["JobList"];
export type JobArtifact = Schemas["JobArtifact"];
/** Which jobs to list. */
export interface JobFilter {
  state?: JobState | undefined;
  pack?: string | undefined;
}
/** A result of a job on its way to a webhook. */
export interface Delivery {
  id: string;
  job_id: string;
  url: string;
  state: string;
  attempts: number;
  last_status?: number | null;
  last_error?: string | null;
  next_attempt_at?: string | null;
  created_at: string;
}
/** A row of the audit log. */
export type AuditEntry = Schemas["AuditRecord"];
export type AuditPage = Schemas["AuditPage"];
/** A credential, without its secret. */
export type Credential = Schemas["Credential"];
export type CredentialType = Schemas["CredentialType"];
export type NewCredential = Schemas["NewCredential"];
export type CredentialGrant = Schemas["CredentialGrant"];
export type CredentialUsage = Schemas["CredentialUsage"];

export type Model = Schemas["Model"];
export type ModelList = Schemas["ModelList"];
export type ProviderProblem = Schemas["ProviderProblem"];
/** Who runs models. */
export type Provider = Schemas["Provider"];
/** The key of a provider, without the key itself. */
export type ProviderKey = Schemas["ProviderKey"];
export type NewProviderKey = Schemas["NewProviderKey"];
export type KeyTest = Schemas["KeyTest"];
export type ModelUsage = Schemas["ModelUsage"];
export type ModelUsageRow = Schemas["ModelUsageRow"];
export type ModelBudget = Schemas["ModelBudget"];
/** How much a caller may use in 24 hours; no limit for what is not given. */
export interface BudgetLimits {
  daily_usd?: number;
  daily_tokens?: number;
}

/** The current or last run of vision in a session. The server leaves empty fields out. */
export type VisionStatus = Schemas["VisionStatus"];
export type VisionStep = Schemas["VisionStep"];
export type VisionQuestion = Schemas["VisionQuestion"];
export type VisionOutcome = Schemas["Outcome"];
export type VisionDecision = Schemas["VisionDecision"];
/** What to ask for, and what it may use. */
export interface AskVision {
  instruction: string;
  model?: string;
  max_steps?: number;
  budget?: { usd: number };
}

export interface Point {
  x: number;
  y: number;
}

/** Details of an action: positions and counts, never typed text. The OpenAPI document leaves it open. */
export interface ActionDetail {
  x?: number;
  y?: number;
  button?: string;
  direction?: string;
  amount?: number;
  /** Of a drag, or of a file. */
  path?: Point[] | string;
  size?: number;
  characters?: number;
  keys?: string;
  command?: string;
  geometry?: string;
  seconds?: number;
  /** The agent's status, or a person's message when releasing control. */
  status?: string;
  message?: string;
  /** Of browser calls: the element, the address, and the operation. */
  selector?: string | null;
  url?: string | null;
  history?: History | null;
  action?: string;
  [other: string]: unknown;
}

export type ActionRecord = Omit<Schemas["ActionRecord"], "detail"> & { detail: ActionDetail };
