// An agent that drives a session through the API.

import assert from "node:assert/strict";
import { until } from "./until.mjs";

export class Agent {
  static async of(server, subject = "agent", scopes = "admin") {
    return new Agent(server, await server.token(subject, scopes));
  }

  constructor(server, token) {
    this.server = server;
    this.token = token;
  }

  /** Sends a request and returns any response. */
  async ask(method, path, body) {
    const answer = await fetch(`${this.server.url}/api/v1/${path}`, {
      method,
      headers: { authorization: `Bearer ${this.token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const json = answer.headers.get("content-type")?.startsWith("application/json");
    return { status: answer.status, headers: answer.headers, body: json ? JSON.parse(text) : text };
  }

  async get(path) {
    return expect(await this.ask("GET", path), path);
  }

  async post(path, body = {}) {
    return expect(await this.ask("POST", path, body), path);
  }

  /** Creates a desktop that is cheap to paint, and waits until it is ready. */
  async desktop(label, more = {}) {
    const spec = { mode: "desktop", geometry: "1024x768", idle_timeout_s: 0, label, ...more };
    return new Desk(this, (await this.post("sessions", spec)).id);
  }

  /** Creates a session without a desktop, and waits until it is ready. */
  async headless(label, more = {}) {
    const spec = { mode: "headless", idle_timeout_s: 0, label, ...more };
    return new Desk(this, (await this.post("sessions", spec)).id);
  }
}

/** A session for actions. */
export class Desk {
  constructor(agent, id) {
    this.agent = agent;
    this.id = id;
  }

  /** Requests an action and returns any response. */
  ask(action, body = {}) {
    return this.agent.ask("POST", `desktop/${action}`, { session_id: this.id, ...body });
  }

  /** Performs an action that must succeed. */
  async act(action, body) {
    return expect(await this.ask(action, body), action);
  }

  /** Performs a browser action that must succeed. */
  inBrowser(action, body) {
    return this.agent.post(`browser/${action}`, { session_id: this.id, ...body });
  }

  show() {
    return this.agent.get(`sessions/${this.id}`);
  }

  control() {
    return this.agent.get(`sessions/${this.id}/control`);
  }

  ticket(role, more = {}) {
    return this.agent.post(`sessions/${this.id}/tickets`, { role, ...more });
  }

  /** Writes a file to its home. */
  async putFile(path, bytes) {
    const answer = await this.#file(path, { method: "PUT", body: bytes });
    assert.equal(answer.status, 201, await answer.text());
  }

  /** The bytes of a file in its home. */
  async file(path) {
    const answer = await this.#file(path, {});
    assert.equal(answer.status, 200, path);
    return Buffer.from(await answer.arrayBuffer());
  }

  /** The names in a folder of its home. */
  async names(folder) {
    const { entries } = await this.agent.get(`sessions/${this.id}/files?path=${encodeURIComponent(folder)}`);
    return entries.map(({ name }) => name);
  }

  #file(path, request) {
    const { server, token } = this.agent;
    const encoded = path.split("/").map(encodeURIComponent).join("/");
    const address = `${server.url}/api/v1/sessions/${this.id}/files/${encoded}`;
    return fetch(address, { ...request, headers: { authorization: `Bearer ${token}` } });
  }

  end() {
    return this.agent.ask("DELETE", `sessions/${this.id}`);
  }

  /** The titles of all windows. Test pages report their state in their title. */
  async titles() {
    const { windows } = await this.agent.get(`desktop/windows?session_id=${this.id}`);
    return windows.map(({ name }) => name);
  }

  /** Waits for a title with this beginning, and returns it. */
  async titled(beginning) {
    const find = async () => (await this.titles()).find((title) => title.startsWith(beginning));
    return until(async () => `a window titled ${beginning}: ${await this.titles()}`, find);
  }

  /** Opens a page in the session's browser through its address bar, and waits for its title. */
  async browse(html, title) {
    const page = html.replaceAll("%", "%25").replaceAll("#", "%23");
    await this.act("key", { keys: "ctrl+l" });
    await this.act("type", { text: `data:text/html,${page}\n` });
    await this.titled(title);
  }

  async clipboard() {
    return (await this.act("clipboard")).text;
  }

  async cursor() {
    const { x, y } = await this.act("cursor_position");
    return { x, y };
  }
}

/**
 * A page that reports clicks, keys and the content of its field in its title. It is red, and green after an odd number
 * of clicks. Short, because the agent types it.
 */
export const feelingPage =
  "<body bgcolor=d00000><textarea autofocus></textarea><script>c=k=0;f=document.querySelector('textarea');" +
  "t=()=>document.title=`felt ${c} clicks ${k} keys [${f.value}]`;" +
  "onmousedown=()=>{document.body.bgColor=++c%2?'00a000':'d00000';t();setTimeout(()=>f.focus())};" +
  "onkeydown=()=>{k++;t()};oninput=t;t()</script>";

function expect(answer, what) {
  assert.ok(answer.status < 300, `${what}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}
