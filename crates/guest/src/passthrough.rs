//! What the agent's programs want of a browser: a page in the session's own, or a browser beside it,
//! which is the browser of the session while it has a page.
//!
//! In the browser's places the agent's programs find a wrapper of ours (`passthrough/places.rs`). It asks
//! the guest to open a page (`passthrough/page.rs`), or tells it of a browser and becomes that
//! (`passthrough/wrapper.rs`). Nothing that arrives here is trusted: of a browser only its port counts, on
//! the loopback that guest and nest share.

mod page;
mod places;
mod wrapper;

use std::{fmt, io, num::NonZeroU16, sync::Arc, time::Duration};

use helmdeck_browser::AnyTab;
use helmdeck_cdp::{Cdp, Current};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{UnixListener, UnixStream},
    sync::Semaphore,
    time::{Instant, sleep, timeout},
};

use crate::log::Log;

pub use places::{ENVIRONMENT, arguments};
pub use wrapper::{open_page, run as run_wrapper};

/// Where wrappers find the guest: beside the session bus.
const SOCKET: &str = "/run/user/1000/helmdeck-browsers";
/// What the guest answers to a wrapper.
const SEEN: &[u8] = b"seen\n";
/// More browsers than this at once start unseen.
const MAX_BROWSERS: usize = 8;
/// A wrapper says less than this at once.
const MAX_LINE: u64 = 32 << 10;
/// A wrapper says who it is at once.
const HELLO_DEADLINE: Duration = Duration::from_secs(5);
/// A browser has its port by then, or never.
const PORT_DEADLINE: Duration = Duration::from_secs(90);
/// A browser that has a port answers there by then, even one that starts on a busy machine.
const REACH_DEADLINE: Duration = Duration::from_secs(45);
/// One attempt to reach it, and the pause before the next.
const ATTEMPT_DEADLINE: Duration = Duration::from_secs(10);
const ATTEMPT_PAUSE: Duration = Duration::from_millis(100);
/// After a failure to accept, most likely for want of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A wrapper's first words.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum First {
    Open(page::Open),
    Browser(Hello),
}

/// A browser is about to start.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Hello {
    /// The browser's number, as programs inside see it.
    pid: u32,
    /// What it was called as.
    name: String,
    /// Whether it has no window.
    headless: bool,
}

/// What is said once the browser has a port.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Listening {
    port: NonZeroU16,
}

impl fmt::Display for Hello {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |c: &char| c.is_ascii_alphanumeric() || "-_.".contains(*c);
        let name: String = self.name.chars().filter(plain).take(64).collect();
        let kind = if self.headless { "headless " } else { "" };
        write!(f, "the {kind}browser {name} (process {})", self.pid)
    }
}

/// Listens for browsers that are started, for the life of the guest.
pub fn listen(current: Arc<Current>, log: Log) -> io::Result<()> {
    let listener = UnixListener::bind(SOCKET)?;
    let places = Arc::new(Semaphore::new(MAX_BROWSERS));
    tokio::spawn(async move {
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                sleep(ACCEPT_PAUSE).await;
                continue;
            };
            let Ok(place) = places.clone().try_acquire_owned() else {
                log.line("guest", "too many browsers of the agent's at once: one stays unseen");
                continue;
            };
            let (current, log) = (current.clone(), log.clone());
            tokio::spawn(async move {
                follow(stream, &current, &log).await;
                drop(place);
            });
        }
    });
    Ok(())
}

/// From a wrapper's first words to the end of its browser.
async fn follow(stream: UnixStream, current: &Current, log: &Log) -> Option<()> {
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    let first: First = timeout(HELLO_DEADLINE, message(&mut reader)).await.ok()??;
    let who = match first {
        First::Browser(who) => who,
        First::Open(open) => {
            page::open(&open, current).await?;
            let _ = timeout(HELLO_DEADLINE, writer.write_all(SEEN)).await;
            return Some(());
        }
    };
    timeout(HELLO_DEADLINE, writer.write_all(SEEN)).await.ok()?.ok()?;
    let found: Listening = timeout(PORT_DEADLINE, message(&mut reader)).await.ok()??;
    log.line("guest", &format!("{who} was started by a program of the agent's"));
    let how = tokio::select! {
        // The browser itself holds the other end, and says nothing.
        _ = reader.read_u8() => "has ended",
        () = show(found.port, current) => "does not answer",
    };
    log.line("guest", &format!("{who} {how}"));
    Some(())
}

/// A line of JSON.
async fn message<T: DeserializeOwned>(reader: &mut (impl AsyncBufRead + Unpin)) -> Option<T> {
    let mut line = Vec::new();
    reader.take(MAX_LINE).read_until(b'\n', &mut line).await.ok()?;
    serde_json::from_slice(&line).ok()
}

/// Has a browser among those of the session while it has a tab, until it cannot be reached any more.
async fn show(port: NonZeroU16, current: &Current) {
    let address = format!("http://127.0.0.1:{port}");
    while let Some(cdp) = reach(&address).await {
        let shown = Shown { current, cdp };
        if let Ok(mut tabs) = AnyTab::of(&shown.cdp, ATTEMPT_DEADLINE).await {
            while let Some(any) = tabs.next().await {
                // One that lives on without a page is nothing to look at or to use.
                if any {
                    current.add(shown.cdp.clone());
                } else {
                    current.remove(&shown.cdp);
                }
            }
        }
        drop(shown);
        sleep(ATTEMPT_PAUSE).await;
    }
}

async fn reach(address: &str) -> Option<Cdp> {
    let until = Instant::now() + REACH_DEADLINE;
    while Instant::now() < until {
        if let Ok(cdp) = Cdp::connect(address, ATTEMPT_DEADLINE).await {
            return Some(cdp);
        }
        sleep(ATTEMPT_PAUSE).await;
    }
    None
}

/// A browser among those of the session, until dropped.
struct Shown<'a> {
    current: &'a Current,
    cdp: Cdp,
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        self.current.remove(&self.cdp);
    }
}
