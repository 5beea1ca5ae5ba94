//! The structured browser: pages and elements are addressed by name instead of by pixel.
//!
//! In a desktop session the actions happen in the VISIBLE Chromium; in a headless session nothing
//! is visible.

mod element;
mod emulate;
mod page;
mod pdf;
mod record;
mod selector;
mod state;
mod tab;

pub use element::{
    ClickElement, Clicked, ConcealField, Concealed, Extract, ExtractFormat, Extracted, Hit,
    HoverElement, Interact, Interaction, Pixel, PressKeys, SelectOptions, Selected, TypeInto,
    UploadFiles,
};
pub use emulate::{ColorScheme, Emulate, Emulated, Emulation, Geolocation};
pub use page::{
    Acted, Dialog, DialogKind, Downloaded, Execute, Executed, History, Markdown, MarkdownText,
    Navigate, Navigated, PageScreenshot, Snapshot, SnapshotText, Until, Vault, WaitFor, Waited,
    without_secrets,
};
pub use pdf::{PageRanges, Paper, Pdf, PdfDocument};
pub use record::{
    ConsoleEntry, ConsoleLevel, ConsoleLog, ExportHar, Har, NetworkLog, NetworkRequest,
    ReadConsole, ReadNetwork, RequestKind,
};
pub use selector::Selector;
pub use state::{
    Cookie, CookieDomain, ExportState, ImportState, Imported, Origin, OriginStorage, SameSite,
    StorageItem, StorageState,
};
pub use tab::{Tab, TabAction, TabId, TabList, Tabs};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How many seconds an action waits for what it needs. Defaults to 10, at most 120.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Patience(#[schemars(range(min = 0.0, max = 120.0))] f64);

impl Patience {
    /// The longest wait.
    pub const MAX: Duration = Duration::from_secs(120);

    /// This many seconds.
    pub const fn seconds(seconds: f64) -> Self {
        Self(seconds)
    }

    /// The wait as a duration. NaN counts as zero.
    pub fn duration(self) -> Duration {
        Duration::try_from_secs_f64(self.0.max(0.0)).unwrap_or(Self::MAX).min(Self::MAX)
    }
}

impl Default for Patience {
    fn default() -> Self {
        Self(10.0)
    }
}
