// A small agent: it opens a page on a desktop, fills in a form, takes a screenshot and ends the session.
//
//     JWT=… npx tsx examples/agent.ts      # or node, from version 22.18; HELMDECK_URL, unless it is localhost:3000
import { writeFile } from "node:fs/promises";

const url = process.env.HELMDECK_URL ?? "http://localhost:3000";
const page = `<h1>Order</h1><input placeholder=Name>
  <button onclick="document.body.append('Thanks, ', document.querySelector('input').value)">Send</button>`;

async function call(method: string, path: string, body?: object): Promise<Response> {
  const headers = { authorization: `Bearer ${process.env.JWT}`, "content-type": "application/json" };
  const answer = await fetch(`${url}/api/v1/${path}`, { method, headers, body: body && JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  return answer;
}

const created = await call("POST", "sessions", { mode: "desktop", label: "typescript agent" });
const { id } = (await created.json()) as { id: string };
try {
  console.log(`watch it live: ${url}/sessions/${id}`);
  const act = (action: string, fields: object = {}) => call("POST", action, { session_id: id, ...fields });
  await act("browser/navigate", { url: `data:text/html,${encodeURIComponent(page)}` });
  await act("browser/click", { selector: "[placeholder=Name]" }); // by element …
  await act("desktop/type", { text: "Ada Lovelace 世界" }); // … or with the keyboard of the desktop
  await act("browser/click", { selector: 'role=button[name="Send"]' });
  const read = (await (await act("browser/markdown")).json()) as { content: string };
  console.log(read.content);
  await writeFile("screen.png", Buffer.from(await (await act("desktop/screenshot")).arrayBuffer()));
} finally {
  await call("DELETE", `sessions/${id}`);
}
