//! Artifacts: listing, up- and downloading, deleting and sharing them.

use helmdeck_wire::{Scope, artifact::Uploaded};
use http::StatusCode;

use crate::{
    operation::{
        Access::{Linked, Needs},
        Operation, get, post,
    },
    routes::artifacts,
    tool::{Nature, json_tool, tool},
};

/// Artifacts.
pub fn operations() -> Vec<Operation> {
    let (looks, keeps) = (Nature::default().reads(), Nature::default().changes_world());
    vec![
        json_tool("artifacts.list", artifacts::list)
            .doc(
                "List the caller's artifacts, newest first: files that packs made or callers uploaded. \
                 An admin sees those of all owners.",
            )
            .scope(Scope::ARTIFACTS_READ)
            .nature(looks)
            .get("/api/v1/artifacts", "list_artifacts"),
        post(
            "/api/v1/artifacts/upload",
            Needs(Scope::ARTIFACTS_WRITE),
            "upload_artifact",
            artifacts::upload,
        )
        .doc(
            "Upload a file, of any size that the quota allows: as the field `file` of a form, or as the \
             body with its `Content-Type`. It is kept for HELMDECK_ARTIFACT_TTL.",
        )
        .query::<artifacts::UploadQuery>()
        .takes_file()
        .returns::<Uploaded>()
        .status(StatusCode::CREATED),
        json_tool("artifacts.link", artifacts::link)
            .doc(
                "Create a link to an artifact that works without a token until it expires. It cannot be \
                 revoked, but deleting the artifact ends it.",
            )
            .scope(Scope::ARTIFACTS_READ)
            .nature(looks)
            .post("/api/v1/artifacts/link", "link_artifact")
            .status(StatusCode::CREATED),
        get(
            "/api/v1/artifacts/download/{*key}",
            Linked(Scope::ARTIFACTS_READ),
            "download_artifact",
            artifacts::download,
        )
        .doc(
            "Download the content of an artifact; with `Range: bytes=`, a part of it (206). Always an \
             attachment: HTML, SVG and scripts are sent as bytes of unknown type.",
        )
        .query::<artifacts::DownloadQuery>()
        .returns_bytes(artifacts::CONTENT),
        json_tool("artifacts.show", artifacts::show)
            .doc("Show one artifact of the caller.")
            .scope(Scope::ARTIFACTS_READ)
            .nature(looks)
            .get("/api/v1/artifacts/{*key}", "show_artifact"),
        tool("artifacts.delete", artifacts::delete)
            .doc("Delete an artifact of the caller. Links to it stop working.")
            .scope(Scope::ARTIFACTS_WRITE)
            .nature(keeps.destroys())
            .delete("/api/v1/artifacts/{*key}", "delete_artifact"),
    ]
}
