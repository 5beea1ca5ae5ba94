//! Finds the target of an action: on the screen, on a page, or in the text of the picture.

#[cfg(test)]
mod tests;

use std::time::Duration;

use helmdeck_a11y::{
    Scene,
    matching::{self, Choice, Match},
};
use helmdeck_wire::{
    ErrorBody, ErrorCode, aim::Target, browser::TabId, point::Pixel, tree::Candidate,
};
use tokio::time::{Instant, sleep};

use crate::{
    begin::Guest,
    elements::{self, Extent, Gathered},
    error::GuestError,
};

/// How long a target that is not there yet is waited for, and how often it is looked for: a dialog
/// takes a moment to open.
const PATIENCE: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(80);
/// How long scrolling to an element may take.
const REACH: Duration = Duration::from_secs(3);
/// Candidates and similar names that an error lists.
const LISTED: usize = 8;

/// Both ends of a drag.
pub(super) async fn locate_both(
    guest: &Guest,
    start: &Target,
    end: &Target,
) -> Result<(Pixel, Pixel), GuestError> {
    let first = locate(guest, start).await?;
    let to = locate(guest, end).await?;
    // The page may have been scrolled to the end, and back.
    let from = locate(guest, start).await?;
    if from != first && locate(guest, end).await? != to {
        let message = "start and end of the drag are not in view at the same time";
        let body = ErrorBody::new(ErrorCode::ElementNotActionable, message);
        let field = Some("end_target".to_owned());
        return Err(GuestError::Refused(ErrorBody { field, ..body }));
    }
    Ok((from, to))
}

/// The ref of an element of a page that a target names.
pub(super) async fn reference(
    guest: &Guest,
    target: &Target,
    tab: Option<&TabId>,
) -> Result<String, GuestError> {
    let Some(reference) = &target.reference else { return in_page(guest, target, tab).await };
    let Some(field) = beside_ref(target) else { return Ok(reference.clone()) };
    // Refs of pages are listed with what the other fields are compared to.
    if reference.starts_with('p') && reference.contains('.') {
        return in_page(guest, target, tab).await;
    }
    let message = format!(
        "{field} is not compared with the element of a snapshot: leave it out, or leave out ref"
    );
    let body = ErrorBody::new(ErrorCode::InvalidInput, message);
    let field = Some(format!("target.{field}"));
    Err(GuestError::Refused(ErrorBody { field, ..body }))
}

/// The first field of a target that says more than its ref.
fn beside_ref(target: &Target) -> Option<&'static str> {
    let Target { text, role, name, window, near, nth, reference: _, exact: _ } = target;
    let given = [
        ("text", text.is_some()),
        ("role", role.is_some()),
        ("name", name.is_some()),
        ("window", window.is_some()),
        ("near", near.is_some()),
        ("nth", nth.is_some()),
    ];
    given.into_iter().find(|(_, given)| *given).map(|(field, _)| field)
}

/// The ref of an element of a page.
async fn in_page(
    guest: &Guest,
    target: &Target,
    tab: Option<&TabId>,
) -> Result<String, GuestError> {
    let until = Instant::now() + PATIENCE;
    loop {
        let scene = guest.page_scene(tab, target).await?;
        match matching::choose(&scene, target) {
            Choice::One(found) => {
                let element = scene.elements.get(found.at);
                return Ok(element.map(|it| it.reference.clone()).unwrap_or_default());
            }
            Choice::Several(several) => return Err(ambiguous(&scene, &several)),
            Choice::None if Instant::now() >= until => return Err(missing(&scene, target, &[])),
            Choice::None => sleep(PAUSE).await,
        }
    }
}

/// The point of the screen where a target is.
pub(super) async fn locate(guest: &Guest, target: &Target) -> Result<Pixel, GuestError> {
    let until = Instant::now() + PATIENCE;
    let wanted = matching::wanted(target);
    loop {
        let gathered = elements::everything(guest, Extent::Everything, wanted.as_deref()).await?;
        match matching::choose(&gathered.scene, target) {
            Choice::One(found) => return reached(guest, &gathered, found).await,
            Choice::Several(several) => return Err(ambiguous(&gathered.scene, &several)),
            Choice::None if Instant::now() < until => sleep(PAUSE).await,
            Choice::None => {
                let mut notes = gathered.notes;
                match guest.read_text(&gathered.scene, target).await {
                    Ok(read) => {
                        if let Some(text) = text_meant(&gathered.scene, target, &read)? {
                            return Ok(helmdeck_a11y::rect::centre(text.rect));
                        }
                    }
                    Err(note) => notes.push(note),
                }
                return Err(missing(&gathered.scene, target, &notes));
            }
        }
    }
}

/// The point of a match. A page is scrolled to it if it is out of view.
async fn reached(guest: &Guest, gathered: &Gathered, found: Match) -> Result<Pixel, GuestError> {
    let scene = &gathered.scene;
    let gone = || {
        let message = "the target disappeared while it was looked for";
        GuestError::Refused(ErrorBody::new(ErrorCode::TargetNotFound, message))
    };
    let element = scene.elements.get(found.at).ok_or_else(gone)?;
    if let Some(at) = element.point() {
        return Ok(at);
    }
    let page = gathered.pages.iter().find(|page| Some(page.surface) == element.surface);
    let page = page.ok_or_else(gone)?;
    let (x, y) = guest.browser()?.reach(&page.tab, &element.reference, REACH).await?;
    let at = Pixel { x: page.corner.x + x.round() as i32, y: page.corner.y + y.round() as i32 };
    if scene.surface_at(at) == element.surface {
        return Ok(at);
    }
    let above = scene.surface_at(at).and_then(|at| scene.surfaces.get(at));
    let above = above.map(|it| it.window.name.as_str()).unwrap_or_default();
    let described = elements::description(scene, element);
    let message = format!("{described} is covered by the window {above:?}: focus its window first");
    Err(GuestError::Refused(ErrorBody::new(ErrorCode::ElementNotActionable, message)))
}

/// The text of the picture that is meant, if that is clear. Of equals, the one in the focused window
/// is meant, as of elements.
fn text_meant<'a>(
    scene: &Scene,
    target: &Target,
    read: &'a [Candidate],
) -> Result<Option<&'a Candidate>, GuestError> {
    let sure = || read.iter().filter(|it| it.confidence >= matching::SIMILAR);
    let Some(best) = sure().next() else { return Ok(None) };
    if target.near.is_some() || target.nth.is_some() {
        return Ok(Some(best));
    }
    // How well a text was read says nothing about which one is meant.
    let wanted = target.text.as_ref().or(target.name.as_ref());
    let alike = |it: &Candidate| matching::likeness(&it.name, wanted?, target.exact);
    let most = sure().filter_map(alike).fold(0.0, f64::max);
    let equals: Vec<&Candidate> =
        sure().filter(|it| alike(it).is_none_or(|alike| alike >= most)).collect();
    let in_front = |it: &&&Candidate| {
        let window = scene.surfaces.iter().map(|surface| &surface.window);
        let mut window = window.filter(|window| it.window.as_ref() == Some(&window.id));
        window.any(|window| window.focused || window.popup)
    };
    let mut front = equals.iter().filter(in_front);
    match (equals.as_slice(), front.next(), front.next()) {
        ([one], ..) | (_, Some(one), None) => Ok(Some(one)),
        _ => {
            let described = equals.iter().map(|it| {
                let Pixel { x, y } = helmdeck_a11y::rect::centre(it.rect);
                format!("the text {:?} at {x},{y}", it.name)
            });
            Err(several(equals.len(), described, "window, near or nth"))
        }
    }
}

fn ambiguous(scene: &Scene, matches: &[Match]) -> GuestError {
    let found = matches.iter().filter_map(|found| scene.elements.get(found.at));
    let described = found.map(|element| elements::description(scene, element));
    several(matches.len(), described, "role, window, near or nth, or use a ref")
}

fn several(count: usize, described: impl Iterator<Item = String>, add: &str) -> GuestError {
    let described: Vec<String> = described.take(LISTED).collect();
    let message =
        format!("{count} elements match equally well: {}. Add {add}", described.join("; "));
    let mut body = ErrorBody::new(ErrorCode::TargetAmbiguous, message);
    body.field = Some("target".to_owned());
    body.allowed = described;
    GuestError::Refused(body)
}

fn missing(scene: &Scene, target: &Target, notes: &[String]) -> GuestError {
    let nearest = matching::nearest(scene, target, LISTED);
    let mut message = "nothing on the screen matches the target".to_owned();
    if !nearest.is_empty() {
        let names: Vec<String> = nearest.iter().map(|name| format!("{name:?}")).collect();
        message = format!("{message}; the nearest names are {}", names.join(", "));
    }
    for note in notes.iter().chain(&matching::foreign_ref(target)) {
        message = format!("{message}; {note}");
    }
    let mut body = ErrorBody::new(ErrorCode::TargetNotFound, message);
    body.field = Some("target".to_owned());
    body.allowed = nearest;
    GuestError::Refused(body)
}
