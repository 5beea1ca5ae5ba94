import { sentence } from "../format";
import { api } from "../prefix";
import { home } from "../session/files";
import { most, type TraceLog } from "../session/trace";
import { inWords } from "./failure";
import { upload, type UploadOptions } from "./upload";
import type {
  ActionRecord,
  ArtifactFilter,
  ArtifactLink,
  ArtifactList,
  AskVision,
  AuditPage,
  BudgetLimits,
  ChangeSettings,
  ConnectClient,
  ConnectRequest,
  Control,
  CreatedToken,
  CreateSession,
  Credential,
  CredentialGrant,
  CredentialUsage,
  Delivery,
  Folder,
  Forward,
  History,
  Identity,
  Instructions,
  Job,
  JobFilter,
  JobList,
  KeyTest,
  ModelBudget,
  ModelList,
  ModelUsage,
  NewCredential,
  NewProviderKey,
  NewToken,
  Pack,
  Provider,
  ProviderKey,
  Role,
  Session,
  Settings,
  Tab,
  TabAction,
  Ticket,
  Token,
  VisionDecision,
  VisionStatus,
} from "./wire";

/** An error from the server, or a request that did not reach it (status 0). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** Seconds to wait before another try, if the server sent them. */
    readonly retryAfter: number | null,
    readonly body: Record<string, unknown> = {},
  ) {
    super(message);
  }
}

type Unauthorised = () => void;
let onUnauthorised: Unauthorised = () => {};

/** Calls `callback` when a request shows that the login has expired. */
export function whenSignedOut(callback: Unauthorised): void {
  onUnauthorised = callback;
}

/** The cookie alone must not allow a change, because another site can make a browser send it. */
export const guard = { "X-Helmdeck-CSRF": "1" };

async function request(method: string, path: string, body?: unknown): Promise<Response> {
  const headers: Record<string, string> = method === "GET" ? {} : { ...guard };
  if (body !== undefined) headers["Content-Type"] = "application/json";

  let response: Response;
  try {
    response = await fetch(api(path), {
      method,
      headers,
      credentials: "same-origin",
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch {
    throw new ApiError(0, "unreachable", "The server does not answer. Check the connection.", null);
  }
  if (response.ok) return response;
  throw await refusal(response);
}

/** The error in an unsuccessful response. */
export async function refusal(response: Response): Promise<ApiError> {
  const error = await failure(response);
  // A wrong password is an answer for the login form, not an expired login.
  if (error.status === 401 && error.code !== "invalid_credentials") onUnauthorised();
  return error;
}

async function failure(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  const code = typeof body.error === "string" ? body.error : `http_${response.status}`;
  const message =
    typeof body.message === "string" ? body.message : `The server answered ${response.status}.`;
  const wait = Number(response.headers.get("Retry-After") ?? body.retry_after ?? NaN);
  return new ApiError(response.status, code, message, Number.isFinite(wait) ? wait : null, body);
}

async function json<T>(method: string, path: string, body?: unknown): Promise<T> {
  return (await request(method, path, body)).json() as Promise<T>;
}

const session = (id: string) => `sessions/${encodeURIComponent(id)}`;
const job = (id: string) => `jobs/${encodeURIComponent(id)}`;
const credential = (id: string) => `vault/credentials/${encodeURIComponent(id)}`;
const providerKey = (id: string) => `providers/keys/${encodeURIComponent(id)}`;
const budget = (caller: string) => `models/budgets/${encodeURIComponent(caller)}`;

/** A query of the fields that are given. */
function queryOf(fields: Record<string, string | number | undefined>): string {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
}

export const client = {
  logIn: (username: string, password: string) =>
    json<Identity>("POST", "auth/cookie", { username, password }),
  me: () => json<Identity>("GET", "auth/me"),
  logOut: () => request("DELETE", "auth/cookie"),

  sessions: async () => (await json<{ sessions: Session[] }>("GET", "sessions")).sessions,
  session: (id: string) => json<Session>("GET", session(id)),
  /** Ended sessions, latest first. */
  ended: async (limit: number) =>
    (await json<{ sessions: Session[] }>("GET", `sessions?state=ended&limit=${limit}`)).sessions,
  /** An ended session in its last state. */
  endedSession: (id: string) => json<Session>("GET", `${session(id)}/ended`),
  keepAlive: (id: string) => json<Session>("POST", `${session(id)}/keep-alive`),
  create: (spec: CreateSession) => json<Session>("POST", "sessions?wait=false", spec),
  end: (id: string) => request("DELETE", session(id)),
  logs: async (id: string) => (await request("GET", `${session(id)}/logs?tail=400`)).text(),

  actions: async (id: string, before?: number) => {
    const older = before === undefined ? "" : `&before=${before}`;
    const path = `${session(id)}/actions?limit=100${older}`;
    return (await json<{ actions: ActionRecord[] }>("GET", path)).actions;
  },

  /** What happened in a session, after the entry `since`. */
  trace: (id: string, since?: number) => json<TraceLog>("GET", `${session(id)}/trace?${queryOf({ since, limit: most })}`),

  files: (id: string, folder: string) => {
    const query = folder === home ? "" : `?path=${encodeURIComponent(folder)}`;
    return json<Folder>("GET", `${session(id)}/files${query}`);
  },

  addForward: (id: string, forward: string) => json<Forward>("POST", `${session(id)}/forwards`, { forward }),
  removeForward: (id: string, port: number) => request("DELETE", `${session(id)}/forwards/${port}`),

  take: (id: string, force = false) =>
    json<Control>("POST", `${session(id)}/control/take`, { force }),
  release: (id: string, message: string) =>
    json<Control>("POST", `${session(id)}/control/release`, message ? { message } : {}),

  /** Opens the active tab's page where only the caller sees it, until the private sign-in ends. */
  beginPrivate: (id: string) => request("POST", `${session(id)}/private-sign-in`),
  /** Hands the signed-in page to the agent, or discards it. */
  endPrivate: (id: string, discard: boolean) =>
    request("DELETE", `${session(id)}/private-sign-in${discard ? "?discard=true" : ""}`),

  /** The current or last run of vision. */
  vision: async (id: string) =>
    (await json<{ run?: VisionStatus | null }>("GET", `${session(id)}/vision`)).run ?? null,
  setActionMode: (id: string, mode: "structured" | "vision") =>
    json<unknown>("PUT", `${session(id)}/action-mode`, { mode }),
  startVision: (id: string, ask: AskVision) => json<VisionStatus>("POST", `${session(id)}/vision/start`, ask),
  steerVision: (id: string, how: "pause" | "resume" | "stop") =>
    json<VisionStatus>("POST", `${session(id)}/vision/${how}`),
  answerVision: (id: string, question_id: string, decision: VisionDecision) =>
    json<unknown>("POST", `${session(id)}/vision/answer`, { question_id, decision }),

  settings: () => json<Settings>("GET", "settings"),
  changeSettings: (change: ChangeSettings) => json<Settings>("PATCH", "settings", change),

  /** The programs that can be connected, and which of them are. */
  connectClients: async () => (await json<{ clients: ConnectClient[] }>("GET", "connect")).clients,
  instructions: (clientId: string) => json<Instructions>("GET", `connect/${encodeURIComponent(clientId)}`),
  /** The same instructions with a new token in them. */
  connect: (clientId: string, request: ConnectRequest) =>
    json<Instructions>("POST", `connect/${encodeURIComponent(clientId)}`, request),

  tokens: async () => (await json<{ tokens: Token[] }>("GET", "tokens")).tokens,
  createToken: (request: NewToken) => json<CreatedToken>("POST", "tokens", request),
  revokeToken: (id: string) => request("DELETE", `tokens/${encodeURIComponent(id)}`),

  /** Rows of the audit log that match a query, newest first; with `cursor`, older ones. */
  audit: (query: string, cursor?: number) => {
    const older = cursor === undefined ? "" : `&cursor=${cursor}`;
    return json<AuditPage>("GET", `audit?limit=100${query && `&${query}`}${older}`);
  },
  credentials: async () => (await json<{ credentials: Credential[] }>("GET", "vault/credentials")).credentials,
  addCredential: (request: NewCredential) => json<Credential>("POST", "vault/credentials", request),
  rotateCredential: (id: string, value: string) => json<Credential>("PUT", credential(id), { value }),
  deleteCredential: (id: string) => request("DELETE", credential(id)),
  grants: async (id: string) => (await json<{ grants: CredentialGrant[] }>("GET", `${credential(id)}/grants`)).grants,
  grant: (id: string, actor_subject: string, actor_client: string | null) =>
    json<unknown>("POST", `${credential(id)}/grants`, { actor_subject, ...(actor_client ? { actor_client } : {}) }),
  revokeGrant: (id: string, { actor_subject, actor_client }: CredentialGrant) => {
    const label = actor_client ? `?client=${encodeURIComponent(actor_client)}` : "";
    return request("DELETE", `${credential(id)}/grants/${encodeURIComponent(actor_subject)}${label}`);
  },
  usage: async (id: string) => (await json<{ usage: CredentialUsage[] }>("GET", `${credential(id)}/usage`)).usage,

  models: () => json<ModelList>("GET", "models"),
  providers: async () => (await json<{ providers: Provider[] }>("GET", "providers")).providers,
  /** Asks a provider whether it accepts the person's key. */
  testProvider: (name: string) => json<KeyTest>("POST", `providers/${encodeURIComponent(name)}/test`),
  providerKeys: async () => (await json<{ keys: ProviderKey[] }>("GET", "providers/keys")).keys,
  addProviderKey: (request: NewProviderKey) => json<ProviderKey>("POST", "providers/keys", request),
  rotateProviderKey: (id: string, key: string) => json<ProviderKey>("POST", `${providerKey(id)}/rotate`, { key }),
  deleteProviderKey: (id: string) => request("DELETE", providerKey(id)),
  modelUsage: (window: string, caller?: string) => json<ModelUsage>("GET", `models/usage?${queryOf({ window, caller })}`),
  /** The person's own budget. */
  modelBudget: () => json<ModelBudget>("GET", "models/budget"),
  modelBudgets: async () => (await json<{ budgets: ModelBudget[] }>("GET", "models/budgets")).budgets,
  setModelBudget: (caller: string, limits: BudgetLimits) => json<ModelBudget>("PUT", budget(caller), limits),
  removeModelBudget: (caller: string) => request("DELETE", budget(caller)),

  navigate: (id: string, tab: string | null, to: { url: string } | { history: History }) =>
    // A person sees when the page has loaded.
    json<unknown>("POST", "browser/navigate", { session_id: id, ...to, ...(tab === null ? {} : { tab }), wait_until: "dom" }),
  tabs: async (id: string, action: TabAction, tab: string | null = null) =>
    (await json<{ tabs: Tab[] }>("POST", "browser/tabs", { session_id: id, action, ...(tab === null ? {} : { tab }) })).tabs,

  packs: async () => (await json<{ packs: Pack[] }>("GET", "packs")).packs,
  /** A pack, with its schemas. */
  pack: (name: string) => json<Pack>("GET", `packs/${encodeURIComponent(name)}`),
  /** Starts a pack, and does not wait for its result. */
  runPack: (name: string, input: Record<string, unknown>) =>
    json<Job>("POST", `packs/${encodeURIComponent(name)}`, { ...input, wait_s: 0 }),

  jobs: (filter: JobFilter, cursor?: string) => json<JobList>("GET", `jobs?${queryOf({ ...filter, cursor })}`),
  job: (id: string) => json<Job>("GET", job(id)),
  /** What a job was called with. */
  jobInput: async (id: string) => (await json<{ input: Record<string, unknown> }>("GET", `${job(id)}/input`)).input,
  cancelJob: (id: string) => json<Job>("DELETE", job(id)),
  deliveries: async (id: string) =>
    (await json<{ deliveries: Delivery[] }>("GET", `webhooks/deliveries?${queryOf({ job_id: id })}`)).deliveries,
  replayDelivery: (id: string) => request("POST", `webhooks/deliveries/${encodeURIComponent(id)}/replay`),

  artifacts: (filter: ArtifactFilter) => json<ArtifactList>("GET", `artifacts?${queryOf({ ...filter })}`),
  deleteArtifact: (key: string) => request("DELETE", `artifacts/${encodeKey(key)}`),
  linkArtifact: (key: string, ttl_seconds: number) =>
    json<ArtifactLink>("POST", "artifacts/link", { key, ttl_seconds }),

  profiles: async () => (await json<{ profiles: { name: string }[] }>("GET", "profiles")).profiles,

  ticket: (id: string, role: Role, ttl_seconds: number) =>
    json<Ticket>("POST", `${session(id)}/tickets`, { role, ttl_seconds, reusable: true }),
};

const encodeKey = (key: string) => key.split("/").map(encodeURIComponent).join("/");

/** The address of an artifact's content. */
export function artifactUrl(key: string): string {
  return api(`artifacts/download/${encodeKey(key)}`);
}

/** Stores a file as an artifact. */
export function uploadArtifact(file: File, options: UploadOptions): Promise<void> {
  const address = api(`artifacts/upload?filename=${encodeURIComponent(file.name)}`);
  return upload(address, file, { ...options, method: "POST", type: file.type });
}

/** The address of an ended session's last picture. */
export function lastPictureUrl(id: string): string {
  return api(`${session(id)}/last-picture`);
}

/** The address of a small picture in a session's trace. */
export function tracePictureUrl(id: string, picture: string): string {
  return api(`${session(id)}/trace/${encodeURIComponent(picture)}`);
}

/** Describes anything that was thrown. */
export function explain(error: unknown): string {
  return sentence(inWords(error instanceof Error ? error.message : String(error)));
}

/** Whether these scopes allow an operation that needs `scope`. */
export function allows(scopes: string[], scope: string): boolean {
  const family = scope.split(":")[0] ?? scope;
  return [scope, family, `${family}:*`, "*", "admin"].some((enough) => scopes.includes(enough));
}
