//! What a hint about a repeated action is made of, and what an action acted on.

pub mod repeats;

use std::time::Duration;

use helmdeck_wire::{aim::Hit, control::Hands, observe::Effect, point::Pixel};
use tokio::time::timeout;

use self::repeats::{Action, NoEffect};
use super::After;
use crate::{
    aim::{self, Aimed},
    begin::Guest,
};

/// How long an action may be delayed to know what is under its point, for the trace.
const UNDER: Duration = Duration::from_millis(100);

/// A hint, if the same action had no effect several times. `found` is what it acted on, if that is
/// known.
pub async fn of(
    guest: &Guest,
    aimed: &Aimed,
    found: Option<&Hit>,
    action: Action,
    after: &After,
) -> Option<String> {
    let effective = after.verdict.effect != Effect::NoVisibleChange;
    let keys = action.goes_to_focus();
    let times = guest.observed.repeats.lock().note(action, effective);
    if !repeats::is_time(times) {
        return None;
    }
    let (mut hit, mut near) = (found.cloned(), Vec::new());
    if let Some(at) = aimed.point {
        // Without an answer, the hint says less.
        if hit.is_none() {
            hit = guest.under(at, None).await.ok().map(|under| under.hit);
        }
        near = guest.usable_near(at, repeats::NEARBY).await.unwrap_or_default();
    } else if hit.is_none() && keys {
        hit = match guest.screen() {
            Ok(Some(_)) => guest.focused().await.ok().flatten(),
            _ => aim::page_focus(guest, Hands::Agent, None, None).await.map(|(hit, _)| hit),
        };
    }
    let windows = after.windows.as_ref();
    let open: Vec<_> =
        windows.iter().flat_map(|all| &all.windows).filter(|one| !one.panel).collect();
    let focused = open.iter().find(|one| windows.and_then(|all| all.active) == Some(one.id));
    let nothing = NoEffect {
        hit: hit.as_ref(),
        near: &near,
        window: focused.map(|window| window.title.as_str()),
        out_of_view: after.page.as_ref().is_some_and(|page| page.changed_out_of_view),
        windows: open.len(),
    };
    Some(repeats::hint(times, &nothing))
}

/// What is under a point, within a limit. The reader itself is left to finish, or it would have to
/// start again.
pub async fn under(guest: &Guest, (x, y): (i32, i32)) -> Option<Hit> {
    let guest = guest.clone();
    let reading = helmdeck_task::spawn(async move { guest.under(Pixel { x, y }, None).await });
    Some(timeout(UNDER, reading).await.ok()?.ok()?.ok()?.hit)
}
