import { Link } from "../router";

export function NotFound() {
  return (
    <main className="center-page">
      <div className="card">
        <h1>Page not found</h1>
        <p>This page does not exist.</p>
        <Link className="button" to="">
          Go to all sessions
        </Link>
      </div>
    </main>
  );
}
