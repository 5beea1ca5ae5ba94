import { LinkedBrowser } from "../link/LinkedBrowser";
import { LinkedDesktop } from "../link/LinkedDesktop";
import { page } from "../prefix";
import type { ViewerAddress } from "../viewer/address";

/** Only the picture of one session, opened with a link. */
export function StandAlone({ address }: { address: ViewerAddress | null }) {
  if (address === null) {
    return (
      <main className="center-page">
        <div className="card">
          <p role="alert">This link does not lead to a session.</p>
          <a className="button" href={page("")}>
            Log in
          </a>
        </div>
      </main>
    );
  }
  return address.picture === "desktop" ? <LinkedDesktop address={address} /> : <LinkedBrowser address={address} />;
}
