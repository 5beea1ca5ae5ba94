//! Checks conditions, again after each change, until they hold or the time is over.

mod look;

use std::time::{Duration, Instant};

use helmdeck_browser::PageWatch;
use helmdeck_display::observe;
use helmdeck_wire::{
    ErrorBody, ErrorCode,
    verify::{Check, Condition, Evidence, Verified, Verify, VerifyPage, holds, place},
};
use tokio::{select, time::sleep_until};

use crate::{begin::Guest, error::GuestError};

/// Pause between two looks, so that a screen that always changes does not keep us busy.
const PAUSE: Duration = Duration::from_millis(50);
/// Pause if a change may have no event: files, programs and the clipboard.
const WITHOUT_EVENTS: Duration = Duration::from_millis(200);

/// Where the conditions are looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Desktop,
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
        loop {
            // Begun before the look, so that no change after it is missed.
            let changes = match within_ms {
                0 => Changes::default(),
                _ => Changes::begin(self, at).await?,
            };
            let looked = Instant::now();
            let mut evidence = Vec::with_capacity(all.len() + any.len());
            for (list, conditions) in [("all", all), ("any", any)] {
                for (nth, condition) in conditions.iter().enumerate() {
                    let (holds, found) = self.look(at, condition).await?;
                    let condition = (place(list, nth), condition.check);
                    let (condition, check) = condition;
                    evidence.push(Evidence { condition, check, holds, found });
                }
            }
            let verdicts: Vec<bool> = evidence.iter().map(|one| one.holds).collect();
            let (of_all, of_any) = verdicts.split_at(all.len().min(verdicts.len()));
            let now = Instant::now();
            if holds(of_all, of_any) || now >= deadline {
                let failed = evidence.iter().filter(|one| !one.holds);
                let failed = failed.map(|one| one.condition.clone()).collect();
                let duration_ms = u32::try_from(begun.elapsed().as_millis()).unwrap_or(u32::MAX);
                let holds = holds(of_all, of_any);
                return Ok(Verified { holds, evidence, failed, duration_ms });
            }
            // A look that takes long, such as one at the text of a picture, is repeated less often.
            let pause = PAUSE.max(looked.elapsed());
            let silent = all.iter().chain(any).any(|condition| has_no_event(condition.check));
            let latest =
                if silent { (now + WITHOUT_EVENTS.max(pause)).min(deadline) } else { deadline };
            changes.next(latest).await;
            tokio::time::sleep_until((now + pause).min(deadline).into()).await;
        }
    }
}

/// Whether nothing announces a change of what is checked.
fn has_no_event(check: Check) -> bool {
    matches!(
        check,
        Check::ClipboardEquals
            | Check::FileExists
            | Check::ProcessRunning
            | Check::DownloadFinished
            | Check::ElementFocused
            | Check::WindowFocused
    )
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
#[derive(Default)]
struct Changes {
    screen: Option<observe::Watch>,
    page: Option<PageWatch>,
}

impl Changes {
    async fn begin(guest: &Guest, at: Place) -> Result<Self, GuestError> {
        let screen = match guest.screen()? {
            Some(display) => Some(display.watch().await?),
            None => None,
        };
        // Pages of a desktop change on the screen.
        let page = match (at, &screen) {
            (Place::Page, None) => guest.browser()?.watch(None).await,
            _ => None,
        };
        Ok(Self { screen, page })
    }

    /// Waits for a change, at most until `latest`.
    async fn next(&self, latest: Instant) {
        // Without events, look again now and then.
        let nothing = self.screen.is_none() && self.page.is_none();
        let latest = if nothing { latest.min(Instant::now() + WITHOUT_EVENTS) } else { latest };
        let screen = async {
            match &self.screen {
                // If the screen is lost, the next look tells.
                Some(watch) => drop(watch.changed().await),
                None => std::future::pending().await,
            }
        };
        let page = async {
            match &self.page {
                Some(page) => page.news().await,
                None => std::future::pending().await,
            }
        };
        select! {
            () = screen => {}
            () = page => {}
            () = sleep_until(latest.into()) => {}
        }
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
    fn a_condition_without_its_field_is_refused_by_name() {
        let all =
            conditions(json!([{"check": "text_visible", "text": "a"}, {"check": "url_matches"}]));
        let Err(GuestError::Refused(body)) = ensure_complete(&all, &[]) else { panic!("accepted") };
        assert_eq!(body.field.as_deref(), Some("all[1].url"));
        assert!(ensure_complete(&[], &[]).is_err());
        assert!(ensure_complete(&all[..1], &[]).is_ok());
    }
}
