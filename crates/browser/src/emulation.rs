//! Emulation: geolocation, locale, time zone and media features. Kept for the life of the session
//! and applied to every page and frame before it is used.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use helmdeck_cdp::{Cdp, SessionId};
use helmdeck_wire::browser::{ColorScheme, Emulate, Emulated, Emulation};
use parking_lot::Mutex;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json};
use tokio::{join, time::timeout_at};

use crate::{
    BrowserError, attach::auto_attach, context::Context, hidden_page::Hidden, page::Page,
    running::Running,
};

/// Limit on waiting for a busy page, which applies the change later.
const TOLD: Duration = Duration::from_secs(5);
/// These calls involve only the browser.
const GRANTED: Duration = Duration::from_secs(5);

/// Returns the browser's spelling of a time zone and a language, or null for unknown names.
const SPELL: &str = "({ zone, language }) => {
    const known = (spell) => { try { return spell() ?? null } catch { return null } };
    return {
        zone: known(() => new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone),
        language: known(() => Intl.DateTimeFormat.supportedLocalesOf(language)[0]),
    } }";

/// What is emulated in a session's browser.
#[derive(Default)]
pub(crate) struct Emulating {
    /// The browser's defaults, which a reset restores.
    own: Emulation,
    now: Mutex<Emulation>,
    /// Held during a change, so that changes do not overlap.
    changing: tokio::sync::Mutex<()>,
}

#[derive(Deserialize)]
struct Spelled {
    zone: Option<String>,
    language: Option<String>,
}

/// A protocol call: method and parameters.
type Call = (&'static str, Value);

impl Emulating {
    pub fn new(own: Emulation, now: Emulation) -> Self {
        Self { own, now: Mutex::new(now), changing: tokio::sync::Mutex::default() }
    }

    /// Whether anything is emulated.
    pub fn any(&self) -> bool {
        *self.now.lock() != Emulation::default()
    }

    /// The values in force: emulated, else the browser's defaults.
    fn in_force(&self) -> Emulation {
        let Emulation { geolocation, locale, timezone, color_scheme, reduced_motion } =
            self.now.lock().clone();
        Emulation {
            geolocation,
            locale: locale.or_else(|| self.own.locale.clone()),
            timezone: timezone.or_else(|| self.own.timezone.clone()),
            color_scheme,
            reduced_motion,
        }
    }

    /// Applies browser-wide settings to a browser that just started.
    pub async fn tell_browser(&self, cdp: &Cdp) {
        if self.now.lock().geolocation.is_some() {
            grant(cdp, &Context::default(), true).await;
        }
    }

    /// Applies the emulation to a new page or frame.
    pub async fn tell(&self, page: &Page, session: &SessionId, deadline: Instant) {
        let now = self.now.lock().clone();
        let granted = async {
            // The page may be the first of its context.
            if now.geolocation.is_some() && session == page.session() {
                grant(page.cdp(), page.context(), true).await;
            }
        };
        let calls = calls(&now, &Emulation::default());
        join!(granted, tell(page, session, &calls, deadline));
    }

    /// Applies time zone and language again. Pages of one process share them, and lose them when the
    /// page that set them first goes away.
    pub async fn remind(&self, page: &Page, session: &SessionId) {
        let Emulation { timezone, locale, .. } = self.now.lock().clone();
        let shared = Emulation { timezone, locale, ..Emulation::default() };
        let deadline = Instant::now() + TOLD;
        tell(page, session, &calls(&shared, &Emulation::default()), deadline).await;
    }

    /// Whether any setting is shared by the pages of a process.
    pub fn is_shared(&self) -> bool {
        let now = self.now.lock();
        now.timezone.is_some() || now.locale.is_some()
    }
}

impl Running {
    /// Changes the emulation; returns the values now in force.
    pub async fn emulate(
        &self,
        emulate: &Emulate,
        deadline: Instant,
    ) -> Result<Emulated, BrowserError> {
        let emulating = &self.known.emulating;
        let _alone =
            timeout_at(deadline.into(), emulating.changing.lock()).await.map_err(|_| {
                BrowserError::Timeout(
                    "another call is changing the emulation: try again".to_owned(),
                )
            })?;
        let (timezone, locale) = self.spelled(emulate, deadline).await?;
        let before = emulating.now.lock().clone();
        let kept = if emulate.reset { Emulation::default() } else { before.clone() };
        let now = Emulation {
            geolocation: emulate.geolocation.or(kept.geolocation),
            locale: locale.or(kept.locale),
            timezone: timezone.or(kept.timezone),
            color_scheme: emulate.color_scheme.or(kept.color_scheme),
            reduced_motion: emulate.reduced_motion.or(kept.reduced_motion),
        };
        // Set first, so that a page that opens meanwhile gets it.
        *emulating.now.lock() = now.clone();
        if now.geolocation.is_some() != before.geolocation.is_some() {
            self.grant_all(now.geolocation.is_some()).await;
        }
        let until = deadline.min(Instant::now() + TOLD);
        // Pages of one process share time zone and language. All must drop the old value before one
        // can take the new one.
        let let_go = Emulation {
            timezone: before.timezone.clone().filter(|_| now.timezone == before.timezone),
            locale: before.locale.clone().filter(|_| now.locale == before.locale),
            ..before.clone()
        };
        for (now, before) in [(&let_go, &before), (&now, &let_go)] {
            let mut calls = calls(now, before);
            let waits = |emulation: &Emulation| *emulation != Emulation::default();
            if waits(now) != waits(before) {
                // Frames and workers wait for us only if they must be told something first.
                calls.push(auto_attach(waits(now)));
            }
            let pages = self.known.tabs.lock().pages();
            let sessions = pages.iter().flat_map(|page| {
                let sessions = page.sessions();
                sessions.into_iter().map(move |session| (page, session))
            });
            join_all(sessions.map(async |(page, session)| {
                tell(page, &session, &calls, until).await;
            }))
            .await;
        }
        Ok(Emulated { ok: true, emulation: emulating.in_force() })
    }

    /// Grants or withdraws geolocation in all contexts.
    async fn grant_all(&self, granted: bool) {
        let mut contexts = vec![Context::default()];
        for page in self.known.tabs.lock().pages() {
            if !contexts.contains(page.context()) {
                contexts.push(page.context().clone());
            }
        }
        join_all(contexts.iter().map(|context| grant(&self.cdp, context, granted))).await;
    }

    /// Time zone and language in the browser's spelling.
    async fn spelled(
        &self,
        emulate: &Emulate,
        deadline: Instant,
    ) -> Result<(Option<String>, Option<String>), BrowserError> {
        let (zone, language) = (&emulate.timezone, &emulate.locale);
        if zone.is_none() && language.is_none() {
            return Ok((None, None));
        }
        let hidden = Hidden::open(&self.cdp, &Context::default(), deadline).await?;
        let language = language.as_ref().map(|language| language.replace('_', "-"));
        let asked = json!({ "zone": zone, "language": language });
        let spelled: Spelled = hidden.run(SPELL, asked).await?;
        let unknown = |field: &str, given: &str, such: &str| BrowserError::Field {
            field: field.to_owned(),
            why: format!("the browser does not know {given:?}; use a name such as {such}"),
        };
        if let Some(given) = zone
            && (spelled.zone.is_none() || !given.starts_with(|c: char| c.is_ascii_alphabetic()))
        {
            return Err(unknown("timezone", given, "Europe/Paris"));
        }
        if let Some(given) = &language
            && spelled.language.is_none()
        {
            return Err(unknown("locale", given, "de-DE"));
        }
        // For zones with two names, keep the one that was given.
        let zone = zone.as_ref().map(|given| match spelled.zone {
            Some(zone) if zone.eq_ignore_ascii_case(given) => zone,
            _ => given.clone(),
        });
        Ok((zone, language.and(spelled.language)))
    }
}

/// Grants geolocation to all pages of a context, or restores the prompt.
async fn grant(cdp: &Cdp, context: &Context, granted: bool) {
    let setting = if granted { "granted" } else { "prompt" };
    let permission = json!({ "permission": { "name": "geolocation" }, "setting": setting });
    let params = context.about(permission);
    // If this fails, the page asks a person.
    let _ = cdp.call::<IgnoredAny>(None, "Browser.setPermission", params, GRANTED).await;
}

/// Errors are ignored: the page may be gone, or another client may have set the value.
async fn tell(page: &Page, session: &SessionId, calls: &[Call], deadline: Instant) {
    let asked = calls
        .iter()
        .map(|(method, params)| page.call::<IgnoredAny>(session, method, params, deadline));
    join_all(asked).await;
}

/// The calls that change a page from `before` to `now`.
fn calls(now: &Emulation, before: &Emulation) -> Vec<Call> {
    let mut calls = Vec::new();
    if now.timezone != before.timezone {
        let zone = now.timezone.as_deref().unwrap_or_default();
        calls.push(("Emulation.setTimezoneOverride", json!({ "timezoneId": zone })));
    }
    if now.locale != before.locale {
        let language = now.locale.as_deref().unwrap_or_default();
        calls.push(("Emulation.setLocaleOverride", json!({ "locale": language })));
        let params = json!({ "userAgent": "", "acceptLanguage": language });
        calls.push(("Emulation.setUserAgentOverride", params));
    }
    if (now.color_scheme, now.reduced_motion) != (before.color_scheme, before.reduced_motion) {
        let colours = match now.color_scheme {
            Some(ColorScheme::Light) => "light",
            Some(ColorScheme::Dark) => "dark",
            Some(ColorScheme::NoPreference) | None => "",
        };
        let motion = match now.reduced_motion {
            Some(true) => "reduce",
            Some(false) => "no-preference",
            None => "",
        };
        let features = json!([
            { "name": "prefers-color-scheme", "value": colours },
            { "name": "prefers-reduced-motion", "value": motion },
        ]);
        calls.push(("Emulation.setEmulatedMedia", json!({ "features": features })));
    }
    if now.geolocation != before.geolocation {
        calls.push(match now.geolocation {
            Some(place) => ("Emulation.setGeolocationOverride", json!(place)),
            None => ("Emulation.clearGeolocationOverride", json!({})),
        });
    }
    calls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_sent_only_what_changed() {
        let paris = Emulation { timezone: Some("Europe/Paris".into()), ..Emulation::default() };
        let nothing = Emulation::default();
        assert_eq!(calls(&paris, &paris), []);
        let set = ("Emulation.setTimezoneOverride", json!({ "timezoneId": "Europe/Paris" }));
        assert_eq!(calls(&paris, &nothing), [set]);
        let clear = ("Emulation.setTimezoneOverride", json!({ "timezoneId": "" }));
        assert_eq!(calls(&nothing, &paris), [clear]);
    }
}
