// Drives a server with the client that @hey-api/openapi-ts generated.
import assert from "node:assert/strict";
import { client } from "./generated/client.gen";
import { createSession, desktopClick, desktopScreenshot, endSession, listSessions, readFile, writeFile } from "./generated";

client.setConfig({ baseUrl: process.env.HELMDECK_URL, auth: process.env.HELMDECK_TOKEN });

async function drive() {
  const created = await createSession({ body: { mode: "desktop", label: "typescript" }, throwOnError: true });
  const { id: session_id, status } = created.data;
  assert.equal(status, "running");

  await desktopClick({ body: { session_id, x: 10, y: 10, button: "right" }, throwOnError: true });

  const picture = await desktopScreenshot({ body: { session_id }, throwOnError: true });
  const bytes = Buffer.from(await (picture.data as Blob).arrayBuffer());
  assert.deepEqual([...bytes.subarray(1, 4)], [...Buffer.from("PNG")]);

  const path = { id: session_id, path: "Desktop/notes.txt" };
  await writeFile({ path, body: new Blob(["hello"]), throwOnError: true });
  const notes = await readFile({ path, throwOnError: true });
  assert.equal(await (notes.data as Blob).text(), "hello");

  const wrong = await desktopClick({ body: { session_id, x: -1, y: 10 } });
  assert.equal(wrong.error?.error, "invalid_coordinates");

  const ended = await endSession({ path: { id: session_id }, throwOnError: true });
  assert.equal(ended.response.status, 204);
  const left = await listSessions({ throwOnError: true });
  assert.ok(left.data.sessions.every((other) => other.id !== session_id));
  console.log("@hey-api/openapi-ts: created, clicked, pictured, stored and read a file, ended");
}

void drive();
