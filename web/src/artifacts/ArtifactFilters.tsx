import type { ArtifactFilter } from "../api/wire";
import { Icon } from "../ui/Icon";
import { kinds, sourceName } from "./kind";

interface ArtifactFiltersProps {
  filter: ArtifactFilter;
  /** The packs to choose from. */
  packs: string[];
  onFilter: (filter: ArtifactFilter) => void;
}

export function ArtifactFilters({ filter, packs, onFilter }: ArtifactFiltersProps) {
  return (
    <div className="artifact-filters" role="search">
      <div className="search">
        <Icon name="search" />
        <input
          type="search"
          placeholder="Search by name"
          aria-label="Search by name"
          value={filter.name ?? ""}
          onChange={({ target }) => onFilter({ ...filter, name: target.value || undefined })}
        />
      </div>
      <select
        aria-label="Type"
        value={filter.content_type ?? ""}
        onChange={({ target }) => onFilter({ ...filter, content_type: target.value || undefined })}
      >
        {kinds.map(({ prefix, text }) => (
          <option key={prefix} value={prefix}>
            {text}
          </option>
        ))}
      </select>
      <select
        aria-label="Source"
        value={filter.pack ?? ""}
        onChange={({ target }) => onFilter({ ...filter, pack: target.value || undefined })}
      >
        <option value="">All sources</option>
        {packs.map((pack) => (
          <option key={pack} value={pack}>
            {sourceName(pack) === pack ? pack : "Uploads"}
          </option>
        ))}
      </select>
    </div>
  );
}
