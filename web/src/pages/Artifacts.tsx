import { useCallback, useEffect, useRef, useState } from "react";
import { uploadArtifact } from "../api/client";
import type { Artifact, ArtifactFilter, ArtifactList } from "../api/wire";
import { ArtifactCard } from "../artifacts/ArtifactCard";
import { ArtifactFilters } from "../artifacts/ArtifactFilters";
import { DeleteArtifact } from "../artifacts/DeleteArtifact";
import { LinkArtifact } from "../artifacts/LinkArtifact";
import { useArtifacts } from "../artifacts/useArtifacts";
import { useNow } from "../clock";
import { bytes } from "../format";
import { useDrop, useNoStrayDrops } from "../session/drop";
import { DropHere } from "../session/DropHere";
import { UploadButton } from "../session/UploadButton";
import { UploadTray } from "../session/UploadTray";
import { useUploadQueue } from "../session/useUploads";
import { AppBar } from "../ui/AppBar";
import { NoMatch, Nothing } from "../ui/Nothing";
import { StreamBanner } from "../wall/StreamBanner";

/** Files that packs made and people uploaded. */
export function Artifacts({ onLogOut }: { onLogOut: () => void }) {
  const [filter, setFilter] = useState<ArtifactFilter>({});
  const { artifacts, page, packs, error, reload, more } = useArtifacts(filter);
  const [deleting, setDeleting] = useState<Artifact | null>(null);
  const [linking, setLinking] = useState<Artifact | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const now = useNow();

  useEffect(() => {
    document.title = "Artifacts · helmdeck";
  }, []);
  useNoStrayDrops();
  const uploads = useUploadQueue(
    useCallback(
      (file: File, _folder: string, signal: AbortSignal, edit: (edit: { sent: number }) => void) =>
        uploadArtifact(file, { signal, onProgress: (sent) => edit({ sent }) }),
      [],
    ),
  );
  const { arrived, put } = uploads;
  useEffect(() => {
    if (arrived > 0) void reload();
  }, [arrived, reload]);
  const drop = useDrop((dropped) => put("", dropped), true);

  // The button that opened the dialog goes with its card.
  const cardGone = useRef(false);
  useEffect(() => {
    if (deleting === null && cardGone.current) heading.current?.focus();
    cardGone.current = false;
  }, [deleting]);
  const onDeleted = async () => {
    await reload();
    cardGone.current = true;
  };

  const filtered = Object.values(filter).some((value) => value !== undefined);
  return (
    <div className="plain-page" {...drop.listeners}>
      <AppBar current="artifacts" onLogOut={onLogOut} />
      <StreamBanner />
      <main className="artifacts-page">
        <div className="page-head">
          <h1 ref={heading} tabIndex={-1}>
            Artifacts
          </h1>
          <UploadButton primary folder="artifacts" onFiles={(files) => put("", { files, folders: [] })} />
        </div>
        <p className="lead muted">
          Files that agents made and you uploaded. Each is deleted when it expires: download what you want to keep.
        </p>
        <div className="artifacts-bar">
          <ArtifactFilters filter={filter} packs={packs} onFilter={setFilter} />
          {page && <Usage page={page} />}
        </div>
        {error !== null && (
          <p className="error" role="alert">
            {error}
          </p>
        )}
        {artifacts === null ? (
          error === null && <span className="spinner" role="status" aria-label="Loading" />
        ) : artifacts.length === 0 ? (
          filtered ? (
            <NoMatch title="No artifact matches" onClear={() => setFilter({})} />
          ) : (
            <NoArtifacts />
          )
        ) : (
          <ul className="artifacts" aria-label="Artifacts">
            {artifacts.map((artifact) => (
              <ArtifactCard
                key={artifact.key}
                artifact={artifact}
                now={now}
                onLink={setLinking}
                onDelete={setDeleting}
              />
            ))}
          </ul>
        )}
        {page?.next_before != null && (
          <p className="more-artifacts">
            <button type="button" onClick={() => void more()}>
              Show more
            </button>
          </p>
        )}
      </main>
      <UploadTray uploads={uploads} place={() => "Stored"} />
      {drop.over && <DropHere text="Drop to upload" hint="Only you and admins can see it" />}
      {deleting && <DeleteArtifact artifact={deleting} onDeleted={onDeleted} onClose={() => setDeleting(null)} />}
      {linking && <LinkArtifact artifact={linking} onClose={() => setLinking(null)} />}
    </div>
  );
}

/** The share of the quota from which on the bar warns. */
const nearlyFull = 0.9;

/** How much room is left. */
function Usage({ page: { used_bytes, quota_bytes } }: { page: ArtifactList }) {
  if (quota_bytes == null) return <p className="usage muted tabular">You use {bytes(used_bytes)}</p>;
  return (
    <p className="usage muted tabular">
      <span>
        You use {bytes(used_bytes)} of {bytes(quota_bytes)}
      </span>
      <progress
        max={quota_bytes}
        value={used_bytes}
        data-full={used_bytes > quota_bytes * nearlyFull}
        aria-label="Used storage"
      />
    </p>
  );
}

function NoArtifacts() {
  return (
    <Nothing icon="file" title="No artifacts yet">
      <p className="muted">
        Screenshots, documents and videos that agents make appear here.
        <span className="keys-only"> Drop a file anywhere on this page to upload it.</span>
      </p>
    </Nothing>
  );
}
