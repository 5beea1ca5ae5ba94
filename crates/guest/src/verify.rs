//! Checks conditions, again after each change, until they hold or the time is over.

mod look;

use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use helmdeck_browser::PageWatch;
use helmdeck_display::observe;
use helmdeck_wire::{
    ErrorBody, ErrorCode,
    verify::{Check, Condition, Evidence, Verified, Verify, VerifyPage, holds, place},
};
use tokio::{select, time::sleep_until};

use crate::{begin::Guest, error::GuestError, observe::Trace};

/// Pause between two looks, so that a screen that always changes does not keep us busy.
const PAUSE: Duration = Duration::from_millis(50);
/// Pause if a change has no event: files, programs, the clipboard, and what scripts change on a page
/// without a screen.
const WITHOUT_EVENTS: Duration = Duration::from_millis(200);
/// The longest pause: elements out of view change without being drawn.
const SELDOM: Duration = Duration::from_secs(1);

/// A look that began in time may end this much later. One that takes longer is given up.
const LATE: Duration = Duration::from_millis(250);

/// Where the conditions are looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Desktop,
    /// The elements of the desktop. The picture is not read, which takes seconds.
    Elements,
    Page,
}

impl Guest {
    /// Checks conditions on the desktop.
    pub async fn verify(&self, verify: &Verify) -> Result<Verified, GuestError> {
        self.display()?;
        self.check(Place::Desktop, &verify.all, &verify.any, verify.within_ms).await
    }

    /// Checks conditions in the browser.
    pub async fn verify_page(&self, verify: &VerifyPage) -> Result<Verified, GuestError> {
        self.check(Place::Page, &verify.all, &verify.any, verify.within_ms).await
    }

    async fn check(
        &self,
        at: Place,
        all: &[Condition],
        any: &[Condition],
        within_ms: u32,
    ) -> Result<Verified, GuestError> {
        ensure_complete(all, any)?;
        let begun = Instant::now();
        let deadline = begun + Duration::from_millis(within_ms.into());
        // What holds already is answered at once.
        let quick = match at {
            Place::Desktop if within_ms > 0 => Place::Elements,
            at => at,
        };
        let first = self.look_at_all(quick, all, any, begun).await?;
        if first.holds || within_ms == 0 {
            return Ok(first);
        }
        let checks: Vec<Check> = all.iter().chain(any).map(|condition| condition.check).collect();
        let changes = Changes::begin(self, at, &checks).await?;
        let mut last = first;
        loop {
            // Created before the look, so that a change during it is not missed.
            let next = changes.next();
            let looked = Instant::now();
            let appears = async {
                match at {
                    // What appears as an element needs no reading.
                    Place::Desktop => self.elements_that_hold(all, any, begun, &changes).await,
                    _ => std::future::pending().await,
                }
            };
            last = select! {
                verified = self.look_at_all(at, all, any, begun) => verified?,
                verified = appears => verified?,
                () = sleep_until((deadline.max(looked) + LATE).into()) => {
                    return Ok(not_in_time(last, at, begun.elapsed()));
                }
            };
            let now = Instant::now();
            if last.holds || now >= deadline {
                return Ok(last);
            }
            // A look that takes long, such as one at the text of a picture, is repeated less often.
            let pause = PAUSE.max(looked.elapsed());
            let latest = (now + changes.longest_pause.max(pause)).min(deadline);
            select! {
                () = next => {}
                () = sleep_until(latest.into()) => {}
            }
            sleep_until((now + pause).min(deadline).into()).await;
        }
    }

    /// Looks at the elements of the desktop after each change, until the conditions hold.
    async fn elements_that_hold(
        &self,
        all: &[Condition],
        any: &[Condition],
        begun: Instant,
        changes: &Changes,
    ) -> Result<Verified, GuestError> {
        loop {
            let next = changes.next();
            sleep_until((Instant::now() + PAUSE).into()).await;
            let verified = self.look_at_all(Place::Elements, all, any, begun).await?;
            if verified.holds {
                return Ok(verified);
            }
            next.await;
        }
    }

    /// One look at all conditions.
    async fn look_at_all(
        &self,
        at: Place,
        all: &[Condition],
        any: &[Condition],
        begun: Instant,
    ) -> Result<Verified, GuestError> {
        let mut evidence = Vec::with_capacity(all.len() + any.len());
        for (list, conditions) in [("all", all), ("any", any)] {
            for (nth, condition) in conditions.iter().enumerate() {
                let (holds, found) = self.look(at, condition).await?;
                let (condition, check) = (place(list, nth), condition.check);
                evidence.push(Evidence { condition, check, holds, found });
            }
        }
        let verdicts: Vec<bool> = evidence.iter().map(|one| one.holds).collect();
        let (of_all, of_any) = verdicts.split_at(all.len().min(verdicts.len()));
        let failed = evidence.iter().filter(|one| !one.holds);
        let failed = failed.map(|one| one.condition.clone()).collect();
        let duration_ms = whole_ms(begun.elapsed());
        Ok(Verified { holds: holds(of_all, of_any), evidence, failed, duration_ms })
    }
}

/// The evidence of the last look, if the next one does not end in time.
fn not_in_time(last: Verified, at: Place, took: Duration) -> Verified {
    let note = match at {
        Place::Page => "the page did not answer in time",
        Place::Desktop | Place::Elements => "the picture was not read in time",
    };
    let of_element = |check: Check| {
        matches!(
            check,
            Check::TextVisible
                | Check::ElementExists
                | Check::ElementFocused
                | Check::ElementEnabled
                | Check::ElementChecked
                | Check::ElementValue
        )
    };
    let evidence = last.evidence.into_iter().map(|one| {
        if one.holds || !of_element(one.check) {
            return one;
        }
        Evidence { found: format!("{} ({note})", one.found), ..one }
    });
    Verified { evidence: evidence.collect(), duration_ms: whole_ms(took), ..last }
}

fn whole_ms(took: Duration) -> u32 {
    u32::try_from(took.as_millis()).unwrap_or(u32::MAX)
}

/// The longest pause between two looks. With a screen, what is drawn announces most changes.
fn longest_pause(screen: bool, checks: &[Check]) -> Duration {
    let silent = |check: &Check| {
        matches!(
            check,
            Check::ClipboardEquals
                | Check::FileExists
                | Check::ProcessRunning
                | Check::DownloadFinished
        )
    };
    if !screen || checks.iter().any(silent) { WITHOUT_EVENTS } else { SELDOM }
}

/// Fails if there are no conditions, or one lacks a field.
fn ensure_complete(all: &[Condition], any: &[Condition]) -> Result<(), GuestError> {
    let refused = |field: String, message: String| {
        let body = ErrorBody::new(ErrorCode::InvalidInput, message);
        Err(GuestError::Refused(ErrorBody { field: Some(field), ..body }))
    };
    if all.is_empty() && any.is_empty() {
        let message = "no conditions are given: list them in all or any";
        return refused("all".to_owned(), message.to_owned());
    }
    for (list, conditions) in [("all", all), ("any", any)] {
        for (nth, condition) in conditions.iter().enumerate() {
            if let Some(missing) = condition.missing() {
                let field = format!("{}.{missing}", place(list, nth));
                let message = format!("{field} is missing: the check needs it");
                return refused(field, message);
            }
        }
    }
    Ok(())
}

/// Events after which conditions are checked again.
struct Changes {
    screen: Option<observe::Watch>,
    page: Option<PageWatch>,
    windows: Option<Trace>,
    longest_pause: Duration,
}

impl Changes {
    async fn begin(guest: &Guest, at: Place, checks: &[Check]) -> Result<Self, GuestError> {
        let screen = match guest.screen()? {
            Some(display) => Some(display.watch().await?),
            None => None,
        };
        // Addresses and downloads may change without being drawn, as pages without a screen do.
        let of_browser =
            |check: &Check| matches!(check, Check::UrlMatches | Check::DownloadFinished);
        let page = match guest.browser() {
            Ok(browser) if screen.is_none() || checks.iter().any(of_browser) => {
                browser.watch(None).await
            }
            Err(error) if at == Place::Page => return Err(error),
            _ => None,
        };
        let window = |check: &Check| {
            matches!(check, Check::WindowOpen | Check::WindowFocused | Check::WindowClosed)
        };
        let windows = checks.iter().any(window).then(|| guest.trace.clone());
        let longest_pause = longest_pause(screen.is_some(), checks);
        Ok(Self { screen, page, windows, longest_pause })
    }

    /// Waits for a change after this call, also if the future is polled later.
    fn next(&self) -> impl Future<Output = ()> + use<'_> {
        // If the screen is lost, the next look tells.
        let screen = self.screen.as_ref().map(|watch| watch.changed().map(drop));
        let page = self.page.as_ref().map(PageWatch::news);
        let windows = self.windows.as_ref().map(Trace::windows_changed);
        async move {
            select! {
                () = or_never(screen) => {}
                () = or_never(page) => {}
                () = or_never(windows) => {}
            }
        }
    }
}

async fn or_never(change: Option<impl Future<Output = ()>>) {
    match change {
        Some(change) => change.await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn conditions(value: serde_json::Value) -> Vec<Condition> {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_page_without_a_screen_is_looked_at_again_soon_as_scripts_change_it_without_an_event() {
        assert_eq!(longest_pause(false, &[Check::TextVisible]), WITHOUT_EVENTS);
        assert_eq!(longest_pause(true, &[Check::ElementFocused, Check::WindowFocused]), SELDOM);
        let with_a_file = [Check::TextVisible, Check::FileExists];
        assert_eq!(longest_pause(true, &with_a_file), WITHOUT_EVENTS);
    }

    #[test]
    fn a_look_that_is_given_up_leaves_the_last_evidence_and_says_what_was_not_read() {
        let evidence = |check: Check, holds: bool| Evidence {
            condition: "all[0]".to_owned(),
            check,
            holds,
            found: "nothing that matches".to_owned(),
        };
        let last = Verified {
            holds: false,
            evidence: vec![
                evidence(Check::TextVisible, false),
                evidence(Check::ElementExists, true),
                evidence(Check::FileExists, false),
            ],
            failed: vec!["all[0]".to_owned()],
            duration_ms: 20,
        };
        let given_up = not_in_time(last, Place::Desktop, Duration::from_millis(550));
        let found: Vec<_> = given_up.evidence.iter().map(|one| one.found.as_str()).collect();
        let nothing = "nothing that matches";
        let unread = "nothing that matches (the picture was not read in time)";
        assert_eq!(found, [unread, nothing, nothing]);
        assert_eq!((given_up.holds, given_up.duration_ms), (false, 550));
    }

    #[test]
    fn a_condition_without_its_field_is_refused_by_name() {
        let all =
            conditions(json!([{"check": "text_visible", "text": "a"}, {"check": "url_matches"}]));
        let Err(GuestError::Refused(body)) = ensure_complete(&all, &[]) else { panic!("accepted") };
        assert_eq!(body.field.as_deref(), Some("all[1].url"));
        assert!(ensure_complete(&[], &[]).is_err());
        assert!(ensure_complete(&all[..1], &[]).is_ok());
    }
}
