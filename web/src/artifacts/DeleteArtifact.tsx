import { client } from "../api/client";
import type { Artifact } from "../api/wire";
import { Confirm } from "../ui/Confirm";

interface DeleteArtifactProps {
  artifact: Artifact;
  onDeleted: () => Promise<void>;
  onClose: () => void;
}

export function DeleteArtifact({ artifact, onDeleted, onClose }: DeleteArtifactProps) {
  const remove = async () => {
    await client.deleteArtifact(artifact.key);
    await onDeleted();
  };
  return (
    <Confirm title="Delete artifact?" action="Delete" danger onConfirm={remove} onClose={onClose}>
      <p className="break-words">
        <b>{artifact.filename}</b> is deleted for good, and links to it stop working.
      </p>
    </Confirm>
  );
}
