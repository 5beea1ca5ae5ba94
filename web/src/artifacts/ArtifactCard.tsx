import { artifactUrl } from "../api/client";
import type { Artifact } from "../api/wire";
import { ago, ahead, bytes, dateAndTime } from "../format";
import { useIdentity } from "../identity";
import { Icon } from "../ui/Icon";
import { IconButton } from "../ui/IconButton";
import { ArtifactPreview } from "./ArtifactPreview";
import { sourceName, typeName } from "./kind";

interface ArtifactCardProps {
  artifact: Artifact;
  now: number;
  onLink: (artifact: Artifact) => void;
  onDelete: (artifact: Artifact) => void;
}

export function ArtifactCard({ artifact, now, onLink, onDelete }: ArtifactCardProps) {
  const { subject } = useIdentity();
  const { filename, created_at, expires_at, owner, pack, size } = artifact;
  return (
    <li className="artifact">
      <div className="artifact-preview">
        <ArtifactPreview artifact={artifact} />
        <span className="artifact-type">{typeName(artifact)}</span>
      </div>
      <div className="artifact-words">
        <h2 className="one-line" title={filename}>
          {filename}
        </h2>
        <p className="muted one-line">
          {bytes(size)} · {sourceName(pack)}
          {owner !== subject && ` · ${owner}`}
        </p>
        <p className="muted one-line">
          <time dateTime={created_at} title={dateAndTime(created_at)}>
            {ago(created_at, now)}
          </time>
          {expires_at && (
            <span title={`Deleted ${dateAndTime(expires_at)}`}> · expires {ahead(expires_at, now)}</span>
          )}
        </p>
      </div>
      <div className="artifact-actions">
        <a className="button quiet" href={artifactUrl(artifact.key)} download={filename}>
          <Icon name="download" /> Download
        </a>
        <span className="room" />
        <IconButton
          icon="link"
          label={`Link to ${filename}`}
          className="quiet"
          onClick={() => onLink(artifact)}
        />
        <IconButton
          icon="bin"
          label={`Delete ${filename}`}
          className="quiet"
          onClick={() => onDelete(artifact)}
        />
      </div>
    </li>
  );
}
