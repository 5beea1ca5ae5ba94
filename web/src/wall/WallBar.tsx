import { Icon } from "../ui/Icon";

export type Shown = "live" | "recent";

interface WallBarProps {
  shown: Shown;
  onShow: (shown: Shown) => void;
  wanted: string;
  onWant: (wanted: string) => void;
}

/** Chooses running or ended sessions, and searches them. */
export function WallBar({ shown, onShow, wanted, onWant }: WallBarProps) {
  const choice = (name: Shown, text: string) => (
    <button type="button" aria-pressed={shown === name} onClick={() => onShow(name)}>
      {text}
    </button>
  );
  return (
    <div className="wall-bar">
      <div className="segments" role="group" aria-label="Which sessions">
        {choice("live", "Live")}
        {choice("recent", "Recent")}
      </div>
      <label className="search">
        <Icon name="search" />
        <input
          type="search"
          aria-label="Search sessions"
          placeholder="Search"
          autoComplete="off"
          value={wanted}
          onChange={(event) => onWant(event.target.value)}
        />
      </label>
    </div>
  );
}

/** The filter in the wall's address. */
export function shownBy(search: string): Shown {
  return new URLSearchParams(search).get("view") === "recent" ? "recent" : "live";
}
