//! Waits until a program is idle, when there is no better sign that it has read its events.
//!
//! The kernel wakes a program when the server writes events to it. If the program sleeps, and has
//! not been awake for some milliseconds while the server answered us, it has read them all.

use std::{fs, sync::Arc, time::Duration};

use helmdeck_task::block_in_place;
use tokio::time::{Instant, sleep};
use x11rb::protocol::{
    res::{ClientIdMask, ClientIdSpec, ConnectionExt as _},
    xproto::Window,
};

use crate::{connection::Connection, error::DisplayError};

/// The wait for a program whose process we cannot see.
const UNSEEN: Duration = Duration::from_millis(30);
/// The interval between two checks of a process.
const LOOK: Duration = Duration::from_millis(2);
/// How many checks in a row must find the process continuously asleep.
const LOOKS: u32 = 4;
/// Limit on waiting for a program that is never idle, for example while it plays a video. A
/// terminal that searches fonts for new characters may be busy for seconds on a busy machine, and
/// would show other characters if their keys changed meanwhile.
const PATIENCE: Duration = Duration::from_secs(15);

/// Waits until the program that created `window` sleeps, or until the limit.
pub(crate) async fn wait(
    connection: &Arc<Connection>,
    window: Option<Window>,
) -> Result<(), DisplayError> {
    let process = match window {
        Some(window) => block_in_place(|| process_of(connection, window))?,
        None => None,
    };
    let Some(process) = process.filter(|process| asleep_since(*process).is_some()) else {
        sleep(UNSEEN).await;
        return Ok(());
    };
    let deadline = Instant::now() + PATIENCE;
    let (mut last, mut looks) = (None, 0);
    while looks < LOOKS && Instant::now() < deadline {
        // Replies to earlier requests of the program are sent before this one.
        block_in_place(|| connection.round_trip())?;
        sleep(LOOK).await;
        let now = asleep_since(process).flatten();
        looks = if now.is_some() && now == last { looks + 1 } else { 0 };
        last = now;
    }
    Ok(())
}

/// The process of the connection that created a window.
fn process_of(x: &Connection, window: Window) -> Result<Option<u32>, DisplayError> {
    let ask = ClientIdSpec { client: window, mask: ClientIdMask::LOCAL_CLIENT_PID };
    match x.res_query_client_ids(&[ask])?.reply().map_err(DisplayError::from) {
        Ok(reply) => Ok(reply.ids.iter().find_map(|id| id.value.first().copied())),
        Err(DisplayError::Refused(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// How often the process has gone to sleep; `Some(None)` if it is awake, `None` if it cannot be
/// seen.
fn asleep_since(process: u32) -> Option<Option<u64>> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let field = |name: &str| {
        status.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim())
    };
    let asleep = field("State:")?.starts_with('S');
    let times = field("voluntary_ctxt_switches:")?.parse().ok()?;
    Some(asleep.then_some(times))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiting_process_is_asleep_and_a_missing_one_is_not_seen() {
        let mut sleeper = std::process::Command::new("sleep").arg("10").spawn().unwrap();
        let deadline = std::time::Instant::now() + Duration::from_secs(5);
        while !matches!(asleep_since(sleeper.id()), Some(Some(_))) {
            assert!(std::time::Instant::now() < deadline);
        }
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        assert_eq!(asleep_since(sleeper.id()), None);
    }
}
