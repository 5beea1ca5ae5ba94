import { useEffect, useRef } from "react";
import type { Pack } from "../api/wire";
import { Link } from "../router";
import { Icon } from "../ui/Icon";
import { NoMatch } from "../ui/Nothing";
import { groupsOf, packPage, search, summaryOf } from "./pack";

interface PackListProps {
  packs: Pack[];
  chosen: string | null;
  wanted: string;
  onWant: (wanted: string) => void;
}

/** All packs by group, and a search. */
export function PackList({ packs, chosen, wanted, onWant }: PackListProps) {
  const list = useRef<HTMLElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-current="true"]')?.scrollIntoView({ block: "nearest" });
  }, []);
  const found = search(packs, wanted);
  return (
    <div className="pack-list-side">
      <div className="search" role="search">
        <Icon name="search" />
        <input
          type="search"
          placeholder={`Search ${packs.length} packs`}
          aria-label="Search packs"
          autoComplete="off"
          value={wanted}
          onChange={({ target }) => onWant(target.value)}
        />
      </div>
      <p className="off-screen" role="status">
        {wanted !== "" && `${found.length} of ${packs.length} packs match`}
      </p>
      {found.length === 0 && <NoMatch title="No pack matches" onClear={() => onWant("")} />}
      <nav aria-label="Packs" ref={list}>
        {groupsOf(found).map(({ title, icon, packs }) => (
          <section key={title}>
            <h2>
              <Icon name={icon} /> {title}
            </h2>
            <ul>
              {packs.map((pack) => (
                <li key={pack.name}>
                  <Link to={packPage(pack.name)} aria-current={pack.name === chosen ? "true" : undefined}>
                    <span className="pack-name">
                      <code>{pack.name}</code>
                      {pack.unavailable && <span className="mark">Unavailable</span>}
                    </span>
                    <span className="pack-summary muted">{summaryOf(pack).replaceAll("`", "")}</span>
                  </Link>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </nav>
    </div>
  );
}
