//! Profiles and extensions, which are kept between sessions.

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
            .doc("List the caller's browser profiles, which sessions use as `profile`.")
            .scope(Scope::SESSIONS_WRITE)
            .nature(looks)
            .get("/api/v1/profiles", "list_profiles"),
        tool("profile.delete", profiles::delete_profile)
            .doc("Delete a profile of the caller that no session uses.")
            .scope(Scope::SESSIONS_WRITE)
            .nature(keeps.destroys())
            .delete("/api/v1/profiles/{name}", "delete_profile"),
        json_tool("extension.list", extensions::list_extensions)
            .doc("List the caller's browser extensions, which sessions use as `extensions`.")
            .scope(Scope::SESSIONS_WRITE)
            .nature(looks)
            .get("/api/v1/extensions", "list_extensions"),
        json_tool("extension.add", extensions::add_extension)
            .doc(
                "Add or replace a browser extension: a .zip or .crx of at most 64 MB, for example \
                 with `curl -T`. Its `manifest.json` is at the root or in a single folder.",
            )
            .scope(Scope::SESSIONS_WRITE)
            .nature(keeps.idempotent())
            .takes_bytes()
            .put("/api/v1/extensions/{name}", "add_extension")
            .hidden(&["content_base64"])
            .status(StatusCode::CREATED),
        tool("extension.delete", extensions::delete_extension)
            .doc("Delete an extension of the caller. Sessions that use it keep it.")
            .scope(Scope::SESSIONS_WRITE)
            .nature(keeps.destroys())
            .delete("/api/v1/extensions/{name}", "delete_extension"),
    ]
}
