import { type FormEvent, useState } from "react";
import { client, explain } from "../api/client";
import type { Forward, Session } from "../api/wire";

/** The session's forwarded ports, and a field to add one. */
export function Forwards({ session }: { session: Session }) {
  const [port, setPort] = useState("");
  const [told, setTold] = useState<string | null>(null);

  const change = async (work: Promise<unknown>, done: string | null) => {
    try {
      await work;
      setPort("");
      setTold(done);
    } catch (error) {
      setTold(explain(error));
    }
  };
  const add = (event: FormEvent) => {
    event.preventDefault();
    const forward = port.trim();
    if (forward) void change(client.addForward(session.id, forward), "Forwarded.");
  };
  const remove = (forward: Forward) => void change(client.removeForward(session.id, forward.port), null);

  return (
    <section>
      <h3>Forwarded ports</h3>
      {(session.forwards ?? []).map((forward) => (
        <p key={forward.port} className="row">
          <code>http://localhost:{forward.port}</code>
          <span className="muted">
            {forward.from === "client" ? "by helmdeck forward, " : ""}to port {forward.to_port} of the{" "}
            {forward.from === "client" ? "client" : "server"}
          </span>
          <button type="button" className="quiet" aria-label={`Remove port ${forward.port}`} onClick={() => remove(forward)}>
            Remove
          </button>
        </p>
      ))}
      <form className="row" onSubmit={add}>
        <input
          value={port}
          onChange={(event) => setPort(event.target.value)}
          placeholder="5173 or 3000:localhost:8080"
          aria-label="Port of the server's machine"
          inputMode="text"
          autoComplete="off"
        />
        <button type="submit" className="quiet">
          Forward a port
        </button>
      </form>
      <p className="muted" role="status">
        {told ??
          "Opens a port of the server's machine inside the session, under the same http://localhost. " +
            `For your own machine: helmdeck forward ${session.id} 5173`}
      </p>
    </section>
  );
}
