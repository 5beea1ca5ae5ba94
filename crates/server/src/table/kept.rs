//! What is kept between sessions.

use helmdeck_wire::Scope;
use http::StatusCode;

use crate::{
    operation::Operation,
    routes::{extensions, profiles},
    tool::{Nature, json_tool, tool},
};

/// Browser profiles and extensions.
pub fn profiles_and_extensions() -> Vec<Operation> {
    let (looks, keeps) = (Nature::default().reads(), Nature::default().changes_world());
    vec![
        json_tool("profile.list", profiles::list_profiles)
            .doc("The caller's browser profiles: what sessions were created with as `profile`.")
            .scope(Scope::SESSIONS_WRITE)
            .nature(looks)
            .get("/api/v1/profiles", "list_profiles"),
        tool("profile.delete", profiles::delete_profile)
            .doc("Delete a profile of the caller's that no session has.")
            .scope(Scope::SESSIONS_WRITE)
            .nature(keeps.destroys())
            .delete("/api/v1/profiles/{name}", "delete_profile"),
        json_tool("extension.list", extensions::list_extensions)
            .doc(
                "The caller's browser extensions: what sessions can be created with as `extensions`.",
            )
            .scope(Scope::SESSIONS_WRITE)
            .nature(looks)
            .get("/api/v1/extensions", "list_extensions"),
        json_tool("extension.add", extensions::add_extension)
            .doc(
                "Add a browser extension, a .zip or .crx of at most 64 MB, or put it in another's \
                 place: `curl -T`. Its `manifest.json` is at the root or in a single folder.",
            )
            .scope(Scope::SESSIONS_WRITE)
            .nature(keeps.idempotent())
            .takes_bytes()
            .put("/api/v1/extensions/{name}", "add_extension")
            .hidden(&["content_base64"])
            .status(StatusCode::CREATED),
        tool("extension.delete", extensions::delete_extension)
            .doc("Delete an extension of the caller's. Sessions that have it keep it.")
            .scope(Scope::SESSIONS_WRITE)
            .nature(keeps.destroys())
            .delete("/api/v1/extensions/{name}", "delete_extension"),
    ]
}
