import { sentence } from "../format";
import type { Scene } from "./state";

/** The message shown in place of a picture. */
export function SceneCard({ scene }: { scene: Scene }) {
  switch (scene.kind) {
    case "picture":
      return null;
    case "wait":
      return (
        <p className="card">
          <span className="spinner" /> {scene.text}
        </p>
      );
    case "notice":
      return (
        <div className="card">
          <h2>{scene.title}</h2>
          {scene.reason && <p>{sentence(scene.reason)}</p>}
          <p className="muted">{scene.text}</p>
        </div>
      );
  }
}
