//! What a hint about a repeated action is made of.

use helmdeck_wire::observe::Effect;

use super::{
    After,
    repeats::{self, Action, NoEffect},
};
use crate::{aim::Aimed, begin::Guest};

/// A hint, if the same action had no effect several times.
pub async fn of(guest: &Guest, aimed: &Aimed, action: Action, after: &After) -> Option<String> {
    let effective = after.verdict.effect != Effect::NoVisibleChange;
    let times = guest.observed.repeats.lock().note(action, effective);
    if !repeats::is_time(times) {
        return None;
    }
    let (mut hit, mut near) = (aimed.hit.clone(), Vec::new());
    if let Some(at) = aimed.point {
        // Without an answer, the hint says less.
        if hit.is_none() {
            hit = guest.under(at, None).await.ok().map(|under| under.hit);
        }
        near = guest.usable_near(at, repeats::NEARBY).await.unwrap_or_default();
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
