//! Where an action acts: finds the target, converts positions of pictures, and checks expectations.

use std::time::Duration;

use helmdeck_a11y::{
    Scene, expect,
    matching::{self, Choice, Match},
};
use helmdeck_wire::{
    ErrorBody, ErrorCode,
    aim::{Aim, Expect, Hit, Source, Target},
    browser::{Patience, Selector, TabId},
    control::Hands,
    observe::{ActionOptions, ShotId},
    point::Pixel,
    pointer::CursorPosition,
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::{
    begin::Guest,
    elements::{self, Extent, Gathered, UnderPoint},
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
/// Pairs of fields that are positions.
const POSITIONS: [[&str; 2]; 5] =
    [["x", "y"], ["start_x", "start_y"], ["end_x", "end_y"], ["x1", "y1"], ["x2", "y2"]];

/// Where an action acts.
#[derive(Debug, Clone, Default)]
pub struct Aimed {
    /// The point on the screen, if the action has one.
    pub point: Option<Pixel>,
    /// What is there, if the caller asked.
    pub hit: Option<Hit>,
}

/// Fills in the position of an action, and fails if something else than expected is there.
pub async fn resolve(
    guest: &Guest,
    hands: Hands,
    options: &ActionOptions,
    aim: Aim,
    value: &mut Value,
) -> Result<Aimed, GuestError> {
    if let Some(shot) = &options.shot {
        convert(guest, shot, value)?;
    }
    let looks = options.hit == Some(true) || options.expect.is_some();
    match aim {
        Aim::Element => element(guest, hands, options, value, looks).await,
        Aim::Nowhere => {
            if options.target.is_some() {
                return Err(no_position());
            }
            Ok(Aimed::default())
        }
        Aim::Focus => {
            if options.target.is_some() {
                return Err(no_position());
            }
            if !looks {
                return Ok(Aimed::default());
            }
            checked(options, Aimed { point: None, hit: guest.focused().await? }, None)
        }
        Aim::Point | Aim::Start => {
            let mut aimed = Aimed { point: point(aim, value), hit: None };
            if let Some(target) = &options.target {
                let at = locate(guest, target).await?;
                for (field, number) in aim.fields().iter().zip([at.x, at.y]) {
                    if let Some(fields) = value.as_object_mut() {
                        fields.insert((*field).to_owned(), json!(number));
                    }
                }
                aimed.point = Some(at);
            }
            if !looks {
                return Ok(aimed);
            }
            let at = match aimed.point {
                Some(at) => at,
                // Without a position, it acts where the pointer is.
                None => pointer(guest).await?,
            };
            let selector = options.expect.as_ref().and_then(|expect| expect.selector.as_deref());
            let UnderPoint { hit, selected } = guest.under(at, selector).await?;
            aimed.hit = Some(hit);
            checked(options, aimed, selected)
        }
    }
}

/// The position that the caller gave.
pub fn point(aim: Aim, value: &Value) -> Option<Pixel> {
    let [x, y] = aim.fields() else { return None };
    let coordinate = |name: &str| value.get(name)?.as_f64().map(|it| it.round() as i32);
    Some(Pixel { x: coordinate(x)?, y: coordinate(y)? })
}

async fn pointer(guest: &Guest) -> Result<Pixel, GuestError> {
    let at = guest.display()?.cursor_position(&CursorPosition {}).await?;
    Ok(Pixel { x: at.x.0, y: at.y.0 })
}

/// Fails if something else than expected is there.
fn checked(
    options: &ActionOptions,
    aimed: Aimed,
    selected: Option<bool>,
) -> Result<Aimed, GuestError> {
    if let Some(wanted) = &options.expect {
        let nothing = Hit::default();
        ensure_expected(wanted, aimed.hit.as_ref().unwrap_or(&nothing), selected)?;
    }
    let hit = aimed.hit.filter(|_| options.hit == Some(true));
    Ok(Aimed { hit, ..aimed })
}

fn ensure_expected(wanted: &Expect, hit: &Hit, selected: Option<bool>) -> Result<(), GuestError> {
    let Some(difference) = expect::mismatch(wanted, hit, selected) else { return Ok(()) };
    let there = match hit.source {
        Source::Window if hit.role.is_empty() => match &hit.window {
            Some(title) => format!("the window {title:?}, whose content is not known"),
            None => "no window".to_owned(),
        },
        _ => {
            let states = if hit.states.is_empty() {
                String::new()
            } else {
                format!(" [{}]", hit.states.join(", "))
            };
            format!("{} {:?}{states}", hit.role, hit.name)
        }
    };
    let message = format!("{difference}; there is {there}, and nothing was done");
    let mut body = ErrorBody::new(ErrorCode::ExpectationFailed, message);
    body.field = Some("expect".to_owned());
    Err(GuestError::Refused(body))
}

/// The target of a browser action: its selector, and what it finds if asked.
async fn element(
    guest: &Guest,
    hands: Hands,
    options: &ActionOptions,
    value: &mut Value,
    looks: bool,
) -> Result<Aimed, GuestError> {
    let tab: Option<TabId> =
        value.get("tab").cloned().and_then(|tab| serde_json::from_value(tab).ok());
    if let Some(target) = &options.target {
        let reference = match &target.reference {
            Some(reference) => reference.clone(),
            None => in_page(guest, target, tab.as_ref()).await?,
        };
        if let Some(fields) = value.as_object_mut() {
            fields.insert("selector".to_owned(), json!(format!("ref={reference}")));
        }
    }
    let selector = value.get("selector").and_then(Value::as_str).map(Selector::parse);
    if selector.is_none() && options.expect.is_some() {
        let message = "expect needs an element: give a selector or a target";
        let body = ErrorBody::new(ErrorCode::InvalidInput, message);
        return Err(GuestError::Refused(ErrorBody { field: Some("expect".to_owned()), ..body }));
    }
    let Some(Ok(selector)) = selector.filter(|_| looks) else { return Ok(Aimed::default()) };
    let wait = value.get("timeout_s").and_then(Value::as_f64);
    let wait = wait.map(Patience::seconds).unwrap_or_default().duration();
    let matches = options.expect.as_ref().and_then(|expect| expect.selector.as_deref());
    let browser = guest.browser()?.in_hands(hands);
    let found = browser.describe(tab.as_ref(), &selector, matches, wait).await?;
    let selected = found.selected;
    let hit = elements::of_page(found, Pixel::default());
    checked(options, Aimed { point: None, hit: Some(hit) }, selected)
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
async fn locate(guest: &Guest, target: &Target) -> Result<Pixel, GuestError> {
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
                        let sure = read.first().filter(|it| it.confidence >= matching::SIMILAR);
                        if let Some(text) = sure {
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

fn ambiguous(scene: &Scene, several: &[Match]) -> GuestError {
    let described: Vec<String> = several
        .iter()
        .filter_map(|found| scene.elements.get(found.at))
        .map(|element| elements::description(scene, element))
        .take(LISTED)
        .collect();
    let message = format!(
        "{} elements match equally well: {}. Add role, window, near or nth, or use a ref",
        several.len(),
        described.join("; ")
    );
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

fn no_position() -> GuestError {
    let message = "this action has no position: it goes to what has the keyboard focus. Click the \
                   target first";
    let mut body = ErrorBody::new(ErrorCode::InvalidInput, message);
    body.field = Some("target".to_owned());
    GuestError::Refused(body)
}

/// Converts the positions of an action from pixels of a picture to those of the screen.
fn convert(guest: &Guest, shot: &ShotId, value: &mut Value) -> Result<(), GuestError> {
    let unknown = || {
        let message = format!("no picture has the id {:?}, or it is too old", shot.0);
        let mut body = ErrorBody::new(ErrorCode::InvalidInput, message);
        body.field = Some("shot".to_owned());
        GuestError::Refused(body)
    };
    let facts = guest.display()?.shots().get(&shot.0).ok_or_else(unknown)?;
    converted(value, &|x, y| facts.on_screen(x, y))
}

/// Converts every position in an action.
fn converted(
    value: &mut Value,
    on_screen: &dyn Fn(i32, i32) -> Option<(i32, i32)>,
) -> Result<(), GuestError> {
    let Some(fields) = value.as_object_mut() else { return Ok(()) };
    let outside = |name: &str| {
        let message = "the point is outside the picture".to_owned();
        let mut body = ErrorBody::new(ErrorCode::InvalidCoordinates, message);
        body.field = Some(name.to_owned());
        GuestError::Refused(body)
    };
    for [x, y] in POSITIONS {
        let number = |name: &str| fields.get(name).and_then(Value::as_f64);
        let (Some(left), Some(top)) = (number(x), number(y)) else { continue };
        let at = on_screen(left.round() as i32, top.round() as i32).ok_or_else(|| outside(x))?;
        fields.insert(x.to_owned(), json!(at.0));
        fields.insert(y.to_owned(), json!(at.1));
    }
    for point in fields.get_mut("path").and_then(Value::as_array_mut).into_iter().flatten() {
        converted(point, on_screen)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_of_an_action_is_converted() {
        let double = |x: i32, y: i32| (x < 100).then_some((x * 2, y * 2));
        let mut drag = json!({
            "start_x": 1, "start_y": 2.4, "end_x": 3, "end_y": 4, "button": "left",
            "path": [{ "x": 5, "y": 6 }],
        });
        converted(&mut drag, &double).unwrap();
        assert_eq!(
            drag,
            json!({
                "start_x": 2, "start_y": 4, "end_x": 6, "end_y": 8, "button": "left",
                "path": [{ "x": 10, "y": 12 }],
            })
        );
        let outside = converted(&mut json!({ "x": 100, "y": 0 }), &double).unwrap_err();
        assert_eq!(outside.body().error, ErrorCode::InvalidCoordinates);
    }

    #[test]
    fn an_expectation_that_fails_says_what_is_there() {
        let wanted = Expect { name: Some("Save".to_owned()), ..Expect::default() };
        let hit = Hit {
            role: "button".to_owned(),
            name: "Delete".to_owned(),
            source: Source::Accessibility,
            states: vec!["focused".to_owned()],
            ..Hit::default()
        };
        let body = ensure_expected(&wanted, &hit, None).unwrap_err().body();
        assert_eq!(body.error, ErrorCode::ExpectationFailed);
        assert_eq!(
            body.message,
            "name is \"Delete\", not \"Save\"; there is button \"Delete\" [focused], and nothing \
             was done"
        );
        let hit = Hit { window: Some("xterm".to_owned()), ..Hit::default() };
        let body = ensure_expected(&wanted, &hit, None).unwrap_err().body();
        assert!(body.message.contains("the window \"xterm\", whose content is not known"));
    }
}
