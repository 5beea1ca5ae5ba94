import { useEffect, useRef, useState, type FormEvent } from "react";
import { ApiError, client, explain } from "../api/client";
import type { Identity } from "../api/wire";
import { Brand } from "../ui/Brand";
import { ThemeButton } from "../ui/ThemeButton";

export function Login({ onLogin }: { onLogin: (identity: Identity) => void }) {
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const password = useRef<HTMLInputElement>(null);

  useEffect(() => {
    document.title = "Log in · helmdeck";
  }, []);

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    setError(null);
    try {
      onLogin(await client.logIn(String(form.get("username")), String(form.get("password"))));
    } catch (caught) {
      setError(loginError(caught));
      setBusy(false);
      password.current?.select();
    }
  };

  return (
    <main className="center-page">
      <form className="card login" onSubmit={(event) => void submit(event)}>
        <header>
          <h1>
            <Brand />
          </h1>
          <ThemeButton />
        </header>
        <label>
          User name
          <input name="username" autoComplete="username" required autoFocus autoCapitalize="none" />
        </label>
        <label>
          Password
          <input ref={password} name="password" type="password" autoComplete="current-password" required />
        </label>
        <p className="error" role="alert">
          {error}
        </p>
        <button type="submit" className="primary" disabled={busy}>
          {busy ? "Logging in…" : "Log in"}
        </button>
        <p className="muted">
          Lost the password? Run <code>helmdeck admin reset-password</code> on the server’s machine: it prints a new one.
        </p>
      </form>
    </main>
  );
}

function loginError(error: unknown): string {
  if (!(error instanceof ApiError)) return explain(error);
  if (error.status === 429) {
    const wait = error.retryAfter === null ? "Wait a moment" : `Wait ${Math.ceil(error.retryAfter)} s`;
    return `Too many failed attempts. ${wait} and try again.`;
  }
  return error.code === "invalid_credentials" ? "User name or password is wrong." : error.message;
}
