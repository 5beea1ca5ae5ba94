//! Tells a listener what happens in the browser.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU64, Ordering},
};

use helmdeck_wire::browser::TabId;

use crate::Browser;

/// Something that happened in the browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageEvent {
    /// A tab shows another document, or has another address.
    Navigated {
        /// The tab.
        tab: TabId,
        /// Its address.
        url: String,
    },
    /// A tab opened.
    TabOpened {
        /// The tab.
        tab: TabId,
        /// Its address.
        url: String,
    },
    /// A tab closed.
    TabClosed {
        /// The tab.
        tab: TabId,
    },
    /// A page opened a dialog.
    Dialog {
        /// The tab.
        tab: TabId,
    },
    /// A download began.
    Download,
}

/// Called for each event. It must not block.
pub type Listener = Arc<dyn Fn(PageEvent) + Send + Sync>;

/// The listener of a browser, once there is one.
#[derive(Clone, Default)]
pub(crate) struct Listeners {
    listener: Arc<OnceLock<Listener>>,
    downloads: Arc<AtomicU64>,
}

impl Listeners {
    pub fn tell(&self, event: PageEvent) {
        if event == PageEvent::Download {
            self.downloads.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(listener) = self.listener.get() {
            listener(event);
        }
    }

    /// How many downloads began so far.
    pub fn downloads(&self) -> u64 {
        self.downloads.load(Ordering::Relaxed)
    }
}

impl Browser {
    /// Sets the listener, once. It hears what happens after the first call of the browser.
    pub fn listen(&self, listener: Listener) {
        // A second listener is not used.
        let _ = self.shared.listeners.listener.set(listener);
    }
}
