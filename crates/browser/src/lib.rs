//! The structured browser: pages and elements by name, in a Chromium that a person may see.
//!
//! [`Browser`] is the whole interface: each method takes an action of [`helmdeck_wire`] and returns
//! its reply. It talks to Chromium through [`helmdeck_cdp`] and survives restarts of it. It knows
//! nothing about HTTP or sandboxes. Other clients may use the same browser at the same time.

mod address;
mod any_tab;
mod attach;
mod browser;
mod browser_session;
mod cast;
mod conceal;
mod context;
mod download_files;
mod downloads;
mod elements;
mod emulation;
mod error;
mod events;
mod field;
mod follow;
mod frames;
mod hidden_page;
mod hit_test;
mod keyboard;
mod keys;
mod loading;
mod locate;
mod markdown;
mod navigate;
mod network;
mod observe;
mod page;
mod page_action;
mod page_requests;
mod pdf;
mod picture;
mod pointer;
mod private;
mod read;
mod record;
mod refs;
mod running;
mod script;
mod site_limit;
mod snapshot;
mod state;
mod tabs;
mod view;
mod wait;
mod world;

pub use any_tab::AnyTab;
pub use browser::Browser;
pub use cast::{Screen, ScreenMessage, ThumbnailCast, ViewerInput};
pub use download_files::DownloadFiles;
pub use elements::{Exposure, PageElement, PageElements, PageHit, ShownTab};
pub use error::BrowserError;
pub use events::{Listener, PageEvent};
pub use observe::{
    Area, Inserted, PageActivity, PageChanges, PagePeriodic, PageWatch, PeriodicKind, ShownTitle,
    hashed,
};
pub use private::{Carried, SignIn};
