//! Browsers for the agent's programs: opens pages in the session's own browser, or makes another
//! browser the session's current one while it has a page.
//!
//! At the usual paths of a browser, the agent's programs find a wrapper (`passthrough/places.rs`).
//! It asks the guest to open a page (`passthrough/page.rs`), or reports a browser to the guest and
//! becomes it (`passthrough/wrapper.rs`). Nothing received here is trusted: only a browser's port
//! is used, on the loopback shared by guest and nest.

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

/// The socket on which wrappers reach the guest, beside the session bus.
const SOCKET: &str = "/run/user/1000/helmdeck-browsers";
/// The guest's answer to a wrapper.
const SEEN: &[u8] = b"seen\n";
/// Limit on followed browsers; further ones are not followed.
const MAX_BROWSERS: usize = 8;
/// Limit on a wrapper's message.
const MAX_LINE: u64 = 32 << 10;
/// A wrapper sends its first message at once.
const HELLO_DEADLINE: Duration = Duration::from_secs(5);
/// A browser has its port by then, or never.
const PORT_DEADLINE: Duration = Duration::from_secs(90);
/// A browser with a port answers by then, even one that starts on a busy machine.
const REACH_DEADLINE: Duration = Duration::from_secs(45);
/// Limit on one attempt to connect, and the pause before the next.
const ATTEMPT_DEADLINE: Duration = Duration::from_secs(10);
const ATTEMPT_PAUSE: Duration = Duration::from_millis(100);
/// Pause after a failure to accept, most likely caused by a lack of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A wrapper's first message.
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
    /// The browser's process id inside the sandbox.
    pid: u32,
    /// The name it was called by.
    name: String,
    /// Whether it is headless.
    headless: bool,
}

/// Sent once the browser has a port.
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
    helmdeck_task::spawn(async move {
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                sleep(ACCEPT_PAUSE).await;
                continue;
            };
            let Ok(place) = places.clone().try_acquire_owned() else {
                log.line("guest", "too many browsers started by the agent; one is not followed");
                continue;
            };
            let (current, log) = (current.clone(), log.clone());
            helmdeck_task::spawn(async move {
                follow(stream, &current, &log).await;
                drop(place);
            });
        }
    });
    Ok(())
}

/// Follows a browser from its wrapper's first message to its end.
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
    log.line("guest", &format!("{who} was started by the agent"));
    let how = tokio::select! {
        // The browser holds the other end and sends nothing.
        _ = reader.read_u8() => "has ended",
        () = show(found.port, current) => "does not answer",
    };
    log.line("guest", &format!("{who} {how}"));
    Some(())
}

/// Reads a line of JSON.
async fn message<T: DeserializeOwned>(reader: &mut (impl AsyncBufRead + Unpin)) -> Option<T> {
    let mut line = Vec::new();
    reader.take(MAX_LINE).read_until(b'\n', &mut line).await.ok()?;
    serde_json::from_slice(&line).ok()
}

/// Adds a browser to the session's while it has a tab, until it is no longer reachable.
async fn show(port: NonZeroU16, current: &Current) {
    let address = format!("http://127.0.0.1:{port}");
    while let Some(cdp) = reach(&address).await {
        let shown = Shown { current, cdp };
        if let Ok(mut tabs) = AnyTab::of(&shown.cdp, ATTEMPT_DEADLINE).await {
            while let Some(any) = tabs.next().await {
                // A browser without a page is of no use.
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

/// A browser added to the session's, until dropped.
struct Shown<'a> {
    current: &'a Current,
    cdp: Cdp,
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        self.current.remove(&self.cdp);
    }
}
