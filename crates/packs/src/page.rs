//! Pages in the browser of a session.

use std::time::Duration;

use bytes::Bytes;
use helmdeck_wire::{
    ActionCall, ErrorCode,
    browser::{Navigate, Navigated, PageScreenshot, Patience, Until},
    job::JobArtifact,
    screen::Format,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::sleep;

use crate::{Context, PackError, PackResult};

/// How long a page may take to load.
const LOADING: Patience = Patience::seconds(60.0);

/// The address of a page.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub struct PageUrl(
    #[schemars(
        length(min = 1, max = 16384),
        regex(pattern = r"^[Hh][Tt][Tt][Pp][Ss]?://[^\s\x00]+$"),
        extend("x-expected" = "an address that begins with http:// or https://")
    )]
    String,
);

impl PageUrl {
    /// The address in a text that the schema did not check.
    pub fn parse(field: &str, text: &str) -> PackResult<Self> {
        let lower = text.to_ascii_lowercase();
        if lower.starts_with("http://") || lower.starts_with("https://") {
            return Ok(Self(text.to_owned()));
        }
        let message = format!("{field}: {text:?} does not begin with http:// or https://");
        Err(PackError::invalid(field, message))
    }

    /// The address as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Loads a page.
pub async fn open(context: &Context, url: &PageUrl, until: Until) -> PackResult<Navigated> {
    context.act(&navigation(url, until)).await.map_err(explain)
}

/// The action that loads a page.
pub fn navigation(url: &PageUrl, until: Until) -> Navigate {
    Navigate {
        url: Some(url.0.clone()),
        history: None,
        wait_until: until,
        tab: None,
        timeout_s: LOADING,
    }
}

/// Waits. Cancelling the job ends it.
pub async fn pause(ms: u32) {
    sleep(Duration::from_millis(ms.into())).await;
}

/// Takes a picture of the page and stores it.
pub async fn picture(
    context: &Context,
    name: &str,
    wanted: &PageScreenshot,
) -> PackResult<JobArtifact> {
    let session = context.session()?;
    let taken = session.act(&context.caller, &ActionCall::new(wanted)).await;
    let bytes: Bytes = taken.map_err(|error| explain(error.into()))?.body;
    let format = wanted.format.unwrap_or_default();
    let file = format!("{name}.{}", format.name());
    context.artifacts.put(&file, format.media_type(), bytes).await
}

/// The format of a picture, for `picture`.
pub fn png() -> Option<Format> {
    Some(Format::Png)
}

/// An error of the browser as an error of a pack.
pub fn explain(error: PackError) -> PackError {
    let message = error.to_string();
    let new = match error.code() {
        ErrorCode::EgressDenied if message.starts_with("egress denied") => return error,
        ErrorCode::EgressDenied => {
            PackError::new(ErrorCode::EgressDenied, format!("egress denied: {message}"))
        }
        ErrorCode::InvalidSelector => PackError::invalid("selector", message),
        ErrorCode::InvalidKeys => PackError::invalid("keys", message),
        // The next step may work, so it is not a lost session yet.
        ErrorCode::BrowserRestarted => return error,
        _ => return error.of_job(),
    };
    match &error.body().hint {
        Some(hint) => new.hint(hint),
        None => new,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_browser_become_those_of_packs() {
        for (code, expected) in [
            (ErrorCode::NavigationFailed, ErrorCode::HandlerFailed),
            (ErrorCode::ElementNotFound, ErrorCode::SchemaMismatch),
            (ErrorCode::InvalidSelector, ErrorCode::InvalidInput),
            (ErrorCode::ControlHeld, ErrorCode::ControlHeld),
        ] {
            assert_eq!(explain(PackError::new(code, "x")).code(), expected);
        }
        let denied = explain(PackError::new(ErrorCode::EgressDenied, "10.0.0.1 is refused"));
        assert_eq!(denied.to_string(), "egress denied: 10.0.0.1 is refused");
        assert_eq!(explain(denied.clone()).to_string(), denied.to_string());
    }
}
