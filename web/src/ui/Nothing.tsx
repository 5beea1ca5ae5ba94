import type { ReactNode } from "react";
import { Icon, type IconName } from "./Icon";

interface NothingProps {
  icon: IconName;
  title: string;
  /** How to change that. */
  children?: ReactNode;
}

/** Stands where a list is empty. */
export function Nothing({ icon, title, children }: NothingProps) {
  return (
    <div className="nothing">
      <Icon name={icon} />
      <p>
        <b>{title}</b>
      </p>
      {children}
    </div>
  );
}

/** Stands where a filter excludes everything. */
export function NoMatch({ title, onClear }: { title: string; onClear: () => void }) {
  return (
    <Nothing icon="search" title={title}>
      <button type="button" onClick={onClear}>
        Show all
      </button>
    </Nothing>
  );
}
