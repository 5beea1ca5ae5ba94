//! Browser extensions: unpacked where the browser's sandbox can only read them, and loaded over the
//! debugging pipe, which returns errors where a command line would show a dialog.

use std::{fs, path::Path, time::Duration};

use bytes::Bytes;
use futures_util::Stream;
use helmdeck_cdp::{Cdp, CdpError};
use helmdeck_task::block_in_place;
use helmdeck_wire::extension::ExtensionName;
use serde::de::IgnoredAny;
use serde_json::json;

use crate::{archive, error::GuestError};

/// Their folder outside the nested sandbox, which has another `/tmp`.
pub const OUTSIDE: &str = "/tmp/helmdeck-extensions";
/// Their folder inside. It is constant, because Chromium derives an extension's id from its path.
pub const INSIDE: &str = "/opt/extensions";
/// Enough for a large extension on a busy machine.
const LOAD_DEADLINE: Duration = Duration::from_secs(30);

/// Unpacks an extension, before the agent runs anything.
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

/// Loads the extensions into a browser that just started. The browser forgets them when it ends.
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
