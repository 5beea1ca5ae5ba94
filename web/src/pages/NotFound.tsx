import { Link } from "../router";

export function NotFound() {
  return (
    <main className="center-page">
      <div className="card">
        <h1>There is nothing here</h1>
        <p>The page does not exist.</p>
        <Link className="button" to="">
          To all sessions
        </Link>
      </div>
    </main>
  );
}
