//! Extensions of the browser: unpacked where the browser's sandbox can only read them, and loaded over
//! the debugging pipe, which says what is wrong with one where a command line would show a dialog.

use std::{fs, path::Path, time::Duration};

use bytes::Bytes;
use futures_util::Stream;
use helmdeck_cdp::{Cdp, CdpError};
use helmdeck_wire::extension::ExtensionName;
use serde::de::IgnoredAny;
use serde_json::json;
use tokio::task::block_in_place;

use crate::{archive, error::GuestError};

/// Where they are out here: the nested sandbox has another `/tmp`.
pub const OUTSIDE: &str = "/tmp/helmdeck-extensions";
/// Where they are in there. Chromium makes an extension's id of its path, so it stays the same.
pub const INSIDE: &str = "/opt/extensions";
/// A large one on a busy machine.
const LOAD_DEADLINE: Duration = Duration::from_secs(30);

/// Unpacks an extension. Nothing of the agent runs yet.
pub async fn unpack<E>(
    name: &ExtensionName,
    pieces: impl Stream<Item = Result<Bytes, E>> + Unpin,
) -> Result<(), GuestError>
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let failed = |error| GuestError::Io("the extension", error);
    let folder = Path::new(OUTSIDE).join(name.as_str());
    block_in_place(|| fs::create_dir_all(&folder)).map_err(failed)?;
    archive::unpack(&folder, pieces, "the extension").await
}

/// Has a browser that just started load them. It forgets them when it ends.
pub async fn load(cdp: &Cdp, extensions: &[ExtensionName]) -> Result<(), GuestError> {
    for name in extensions {
        let params = json!({ "path": format!("{INSIDE}/{}", name.as_str()) });
        let loading =
            cdp.call::<IgnoredAny>(None, "Extensions.loadUnpacked", params, LOAD_DEADLINE).await;
        loading.map_err(|error| {
            let reason = match error {
                CdpError::Refused { message, .. } => message,
                other => other.to_string(),
            };
            GuestError::Extension { name: name.as_str().to_owned(), reason }
        })?;
    }
    Ok(())
}
