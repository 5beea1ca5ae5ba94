//! One look at one condition.

use std::fs;

use helmdeck_a11y::matching;
use helmdeck_display::observe::{Changes, Difference, Prints, Rect};
use helmdeck_wire::{
    ErrorBody, ErrorCode,
    aim::Target,
    browser::Tabs,
    clipboard::Clipboard,
    file::HomePath,
    tree::{Candidate, Find, Found},
    verify::{Check, Condition, url_matches},
    window::{ListWindows, Window},
};

use super::Place;
use crate::{begin::Guest, elements::is_seen, error::GuestError, files, observe};

/// How much of a region may differ.
const TOLERANCE: f64 = 0.02;
/// Limit on candidates of a look.
const CANDIDATES: u32 = 100;
/// Limit on names in a description.
const LISTED: usize = 8;

/// Whether a condition holds, and what was found.
type Looked = Result<(bool, String), GuestError>;

impl Guest {
    /// Checks one condition now.
    pub(super) async fn look(&self, at: Place, condition: &Condition) -> Looked {
        let text = condition.text.as_deref().unwrap_or_default();
        let name = condition.name.as_deref().unwrap_or_default();
        match condition.check {
            Check::TextVisible => {
                let target = Target { text: Some(text.to_owned()), ..Target::default() };
                self.look_for_text(at, &target).await
            }
            Check::ElementExists => self.look_for(at, &target(condition), |_| true).await,
            Check::ElementFocused => {
                self.look_for(at, &target(condition), |it| has(it, &["focused"])).await
            }
            Check::ElementEnabled => {
                self.look_for(at, &target(condition), |it| !has(it, &["disabled"])).await
            }
            Check::ElementChecked => {
                let checked = ["checked", "selected", "pressed"];
                self.look_for(at, &target(condition), |it| has(it, &checked)).await
            }
            Check::ElementValue => {
                self.look_for(at, &target(condition), |it| it.value.trim() == text.trim()).await
            }
            Check::WindowOpen => self.look_at_windows(name, |found| !found.is_empty()).await,
            Check::WindowFocused => {
                self.look_at_windows(name, |found| found.iter().any(|it| it.focused)).await
            }
            Check::WindowClosed => self.look_at_windows(name, <[_]>::is_empty).await,
            Check::UrlMatches => {
                self.look_at_tabs(condition.url.as_deref().unwrap_or_default()).await
            }
            Check::ScreenChanged => {
                let (same, found) = self.look_at_screen(condition).await?;
                Ok((same == Some(false), found))
            }
            Check::ScreenUnchanged | Check::RegionSimilar => {
                let (same, found) = self.look_at_screen(condition).await?;
                Ok((same == Some(true), found))
            }
            Check::ClipboardEquals => {
                let held = self.display()?.clipboard(&Clipboard::default()).await?.text;
                // The content may be a secret, so it is not repeated.
                let found = format!("the clipboard holds {} characters", held.chars().count());
                Ok((held == text, found))
            }
            Check::FileExists => self.look_at_file(condition.path.as_deref().unwrap_or_default()),
            Check::ProcessRunning => self.look_at_processes(name),
            Check::DownloadFinished => self.look_at_downloads(name),
        }
    }

    /// Looks for an element, and whether it is as it should be. It may be out of view.
    async fn look_for(
        &self,
        at: Place,
        target: &Target,
        right: impl Fn(&Candidate) -> bool,
    ) -> Looked {
        let found = match at {
            Place::Desktop | Place::Elements => self.find(&sought(target, at)).await?,
            Place::Page => self.find_in_tab(None, target, Some(CANDIDATES)).await?,
        };
        Ok(told(&matching::meant(&found.candidates, target), &found, right))
    }

    /// Looks for a text that can be seen, in whatever it is a part of.
    async fn look_for_text(&self, at: Place, target: &Target) -> Looked {
        let found = match at {
            Place::Desktop | Place::Elements => self.find_visible(&sought(target, at)).await?,
            Place::Page => self.find_in_tab(None, target, Some(CANDIDATES)).await?,
        };
        let seen: Vec<_> = found.candidates.iter().filter(|it| is_seen(it)).collect();
        Ok(told(&seen, &found, |_| true))
    }

    async fn look_at_windows(&self, name: &str, right: impl Fn(&[Window]) -> bool) -> Looked {
        let open = self.display()?.windows(&ListWindows::default()).await?.windows;
        let wanted = name.to_lowercase();
        let titles: Vec<_> = open.iter().map(|window| window.name.clone()).collect();
        let found: Vec<_> = open
            .into_iter()
            .filter(|it| {
                it.name.to_lowercase().contains(&wanted) || it.class.to_lowercase() == wanted
            })
            .collect();
        let focused = found.iter().find(|window| window.focused);
        let said = match (focused, found.first()) {
            (Some(window), _) => format!("{:?} is open and focused", window.name),
            (None, Some(window)) => format!("{:?} is open", window.name),
            (None, None) if titles.is_empty() => "no window is open".to_owned(),
            (None, None) => format!("open are {}", listed(&titles)),
        };
        Ok((right(&found), said))
    }

    async fn look_at_tabs(&self, pattern: &str) -> Looked {
        let tabs = self.browser()?.tabs(&Tabs::default()).await?.tabs;
        let found = tabs.iter().find(|tab| url_matches(pattern, &tab.url));
        let urls: Vec<_> = tabs.iter().map(|tab| tab.url.clone()).collect();
        Ok(match found {
            Some(tab) => (true, tab.url.clone()),
            None => (false, format!("open are {}", listed(&urls))),
        })
    }

    /// Whether the screen, or a region of it, is like an earlier picture. Nothing if they cannot be compared.
    async fn look_at_screen(
        &self,
        condition: &Condition,
    ) -> Result<(Option<bool>, String), GuestError> {
        let refused = |field: &str, message: String| {
            let body = ErrorBody::new(ErrorCode::InvalidInput, message);
            Err(GuestError::Refused(ErrorBody { field: Some(field.to_owned()), ..body }))
        };
        let id = condition.shot.as_ref().map(|shot| shot.0.as_str()).unwrap_or_default();
        let screen = self.screen()?;
        let before = match &screen {
            Some(display) => display.shots().prints(id),
            None => self.observed.pages.prints(id),
        };
        let Some(before) = before else {
            let message = format!(
                "{id} is unknown, too old, or does not show the whole screen: use the id of a recent \
                 screenshot"
            );
            return refused("shot", message);
        };
        let region = condition.region.map(Into::into);
        if region.is_some_and(|region| before.whole().intersection(&region).is_none()) {
            let Rect { width, height, .. } = before.whole();
            let message =
                format!("the region is outside the picture, which has {width}x{height} pixels");
            return refused("region", message);
        }
        let (now, ignored): (_, Vec<Rect>) = match &screen {
            Some(display) => {
                let given = match self.browser() {
                    Ok(browser) => browser.watch(None).await,
                    Err(_) => None,
                };
                let given = given.as_ref().map(observe::periodic_on).unwrap_or_default();
                let changes = display.watch().await?.changes(&given, &[]).await?;
                (Prints::of(&changes.after), alone(&changes))
            }
            None => match self.browser()?.watch(None).await {
                Some(page) => match observe::canvas_of(&page).await {
                    Some(canvas) => {
                        let periodic = observe::periodic_on(&page);
                        let places = periodic.iter().map(|place| place.rect).collect();
                        (Prints::of(&canvas), places)
                    }
                    None => return Ok((None, "the page does not answer".to_owned())),
                },
                None => return Ok((None, "there is no page".to_owned())),
            },
        };
        let difference = before.difference(&now, region.as_ref(), &ignored);
        let tolerance = match condition.check {
            Check::RegionSimilar => condition.tolerance.unwrap_or(TOLERANCE),
            _ => 0.0,
        };
        Ok(match difference {
            Difference::Share(share) => {
                (Some(share <= tolerance), format!("{:.1} % differs", share * 100.0))
            }
            Difference::Size => (Some(false), "the screen has another size".to_owned()),
            Difference::Nothing => {
                let found = "only what changes by itself is there";
                (region.is_none().then_some(true), found.to_owned())
            }
        })
    }

    fn look_at_file(&self, path: &str) -> Looked {
        self.ensure_own()?;
        let path = HomePath::parse(path).map_err(|message| {
            let body = ErrorBody::new(ErrorCode::InvalidPath, message);
            GuestError::Refused(ErrorBody { field: Some("path".to_owned()), ..body })
        })?;
        Ok(match files::open(path.as_str(), rustix::fs::OFlags::PATH) {
            Ok(_) => (true, format!("{path} exists")),
            Err(errno) => (false, format!("{path}: {errno}")),
        })
    }

    fn look_at_processes(&self, name: &str) -> Looked {
        self.ensure_own()?;
        let running = fs::read_dir("/proc").map_err(|error| GuestError::Io("/proc", error))?;
        for entry in running.flatten() {
            let folder = entry.path();
            let Ok(status) = fs::read_to_string(folder.join("status")) else { continue };
            // Programs of the session have an id in their sandbox as well.
            let Some(number) = crate::owners::number_inside(&status) else { continue };
            let comm = fs::read_to_string(folder.join("comm")).unwrap_or_default();
            let line = fs::read(folder.join("cmdline")).unwrap_or_default();
            let program = line.split(|byte| *byte == 0).next().unwrap_or_default();
            let program = String::from_utf8_lossy(program);
            let program = program.rsplit('/').next().unwrap_or_default();
            if comm.trim_end() == name || program == name {
                return Ok((true, format!("{name} runs with the id {number}")));
            }
        }
        Ok((false, format!("no program with the name {name:?} runs")))
    }

    fn look_at_downloads(&self, name: &str) -> Looked {
        self.ensure_own()?;
        let folder = HomePath::parse("Downloads").unwrap_or_default();
        // Without downloads, there is no folder.
        let entries = files::list(&folder).map(|list| list.entries).unwrap_or_default();
        let complete = entries.iter().filter(|entry| !entry.name.ends_with(".crdownload"));
        let names: Vec<_> = complete.map(|entry| entry.name.clone()).collect();
        Ok(match names.iter().find(|entry| entry.contains(name)) {
            Some(entry) => (true, format!("Downloads/{entry} is complete")),
            None if names.is_empty() => (false, "there are no downloads".to_owned()),
            None => (false, format!("there are {}", listed(&names))),
        })
    }
}

fn sought(target: &Target, at: Place) -> Find {
    let Target { text, role, name, reference, window, near, nth, exact } = target.clone();
    let limit = Some(CANDIDATES);
    let ocr = at == Place::Desktop;
    Find { text, role, name, reference, window, near, nth, exact, limit, ocr }
}

/// Where the screen changes by itself: now, or at any time before in the same way.
fn alone(changes: &Changes) -> Vec<Rect> {
    let now = changes.periodic.iter().map(|place| place.rect);
    now.chain(changes.left_out.iter().copied()).collect()
}

/// Whether one of the elements is as it should be, and what was found.
fn told(
    elements: &[&Candidate],
    found: &Found,
    right: impl Fn(&Candidate) -> bool,
) -> (bool, String) {
    if let Some(it) = elements.iter().find(|it| right(it)) {
        return (true, described(it));
    }
    let Found { nearest, notes, .. } = found;
    let mut answer = match elements.first() {
        Some(it) => described(it),
        None if nearest.is_empty() => "nothing that matches".to_owned(),
        None => format!("nothing that matches; near matches are {}", listed(nearest)),
    };
    if elements.is_empty() && !notes.is_empty() {
        answer = format!("{answer} ({})", notes.join("; "));
    }
    (false, answer)
}

fn target(condition: &Condition) -> Target {
    condition.target.clone().unwrap_or_default()
}

fn has(candidate: &Candidate, states: &[&str]) -> bool {
    candidate.states.iter().any(|state| states.contains(&state.as_str()))
}

/// An element in a sentence: `checkbox "Subscribe" (focused, checked)`.
fn described(it: &Candidate) -> String {
    let mut text = format!("{} {:?}", it.role, it.name);
    if !it.value.is_empty() {
        text = format!("{text} with value {:?}", it.value);
    }
    if !it.states.is_empty() {
        text = format!("{text} ({})", it.states.join(", "));
    }
    text
}

fn listed(names: &[String]) -> String {
    let shown: Vec<_> = names.iter().take(LISTED).map(|name| format!("{name:?}")).collect();
    let more = if names.len() > LISTED { " and more" } else { "" };
    format!("{}{more}", shown.join(", "))
}
