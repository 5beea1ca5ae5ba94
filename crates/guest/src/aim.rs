//! Where an action acts: finds the target, converts positions of pictures, and checks expectations.

mod locate;

use std::time::Duration;

use helmdeck_a11y::expect;
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

use self::locate::{locate, locate_both, reference};
use crate::{
    begin::Guest,
    elements::{self, UnderPoint},
    error::GuestError,
};

/// How long the element with the focus of a page is looked for.
const FOCUS: Duration = Duration::from_millis(300);
/// What has the keyboard focus on a page: an element, or else the page itself.
const FOCUSED: &str = "css=:focus, body:not(:has(:focus))";
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
    /// What is there, if anything asked.
    pub found: Option<Hit>,
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
            checked(options, Aimed::default(), guest.focused().await?, None)
        }
        Aim::Point | Aim::Start => {
            let mut aimed = Aimed { point: point(aim, value), ..Aimed::default() };
            let (start, end) = (options.target.as_ref(), options.end_target.as_ref());
            let (from, to) = match (start, end) {
                (Some(start), Some(end)) => {
                    let (from, to) = locate_both(guest, start, end).await?;
                    (Some(from), Some(to))
                }
                (Some(start), None) => (Some(locate(guest, start).await?), None),
                (None, Some(end)) => (None, Some(locate(guest, end).await?)),
                (None, None) => (None, None),
            };
            put(value, aim.fields(), from);
            put(value, aim.end_fields(), to);
            aimed.point = from.or(aimed.point);
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
            checked(options, aimed, Some(hit), selected)
        }
    }
}

/// The position that the caller gave.
pub fn point(aim: Aim, value: &Value) -> Option<Pixel> {
    let [x, y] = aim.fields() else { return None };
    let coordinate = |name: &str| value.get(name)?.as_f64().map(|it| it.round() as i32);
    Some(Pixel { x: coordinate(x)?, y: coordinate(y)? })
}

/// Writes a position into the fields of an action.
fn put(value: &mut Value, names: &[&'static str], at: Option<Pixel>) {
    let (Some(at), Some(fields)) = (at, value.as_object_mut()) else { return };
    for (field, number) in names.iter().zip([at.x, at.y]) {
        fields.insert((*field).to_owned(), json!(number));
    }
}

async fn pointer(guest: &Guest) -> Result<Pixel, GuestError> {
    let at = guest.display()?.cursor_position(&CursorPosition {}).await?;
    Ok(Pixel { x: at.x.0, y: at.y.0 })
}

/// Fails if something else than expected is there.
fn checked(
    options: &ActionOptions,
    aimed: Aimed,
    found: Option<Hit>,
    selected: Option<bool>,
) -> Result<Aimed, GuestError> {
    if let Some(wanted) = &options.expect {
        let nothing = Hit::default();
        ensure_expected(wanted, found.as_ref().unwrap_or(&nothing), selected)?;
    }
    let hit = found.clone().filter(|_| options.hit == Some(true));
    Ok(Aimed { hit, found, ..aimed })
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
        let reference = reference(guest, target, tab.as_ref()).await?;
        if let Some(fields) = value.as_object_mut() {
            fields.insert("selector".to_owned(), json!(format!("ref={reference}")));
        }
    }
    if !looks {
        return Ok(Aimed::default());
    }
    let matches = options.expect.as_ref().and_then(|expect| expect.selector.as_deref());
    let selector = match value.get("selector").and_then(Value::as_str).map(Selector::parse) {
        Some(Ok(selector)) => selector,
        // The action itself says what is wrong with it.
        Some(Err(_)) => return Ok(Aimed::default()),
        // Without a selector, keys go to what has the focus.
        None => {
            let (hit, selected) = match page_focus(guest, hands, tab.as_ref(), matches).await {
                Some((hit, selected)) => (Some(hit), selected),
                None => (None, None),
            };
            return checked(
                options,
                Aimed::default(),
                titled(guest, options, tab, hit).await?,
                selected,
            );
        }
    };
    let wait = value.get("timeout_s").and_then(Value::as_f64);
    let wait = wait.map(Patience::seconds).unwrap_or_default().duration();
    let browser = guest.browser()?.in_hands(hands);
    let found = browser.describe(tab.as_ref(), &selector, matches, wait).await?;
    let selected = found.selected;
    let hit = Some(elements::of_page(found, Pixel::default()));
    checked(options, Aimed::default(), titled(guest, options, tab, hit).await?, selected)
}

/// Adds the title of the page to an element of it, if a window is expected.
async fn titled(
    guest: &Guest,
    options: &ActionOptions,
    tab: Option<TabId>,
    hit: Option<Hit>,
) -> Result<Option<Hit>, GuestError> {
    let wanted = options.expect.as_ref().is_some_and(|expect| expect.window.is_some());
    if !wanted || hit.is_none() {
        return Ok(hit);
    }
    let scene = guest.page_scene(tab.as_ref(), &Target::default()).await?;
    let window = scene.surfaces.into_iter().next().map(|page| page.window.name);
    Ok(hit.map(|hit| Hit { window, ..hit }))
}

/// What has the keyboard focus on a page, and whether it matches a selector; `None` if that is not
/// known.
pub async fn page_focus(
    guest: &Guest,
    hands: Hands,
    tab: Option<&TabId>,
    matches: Option<&str>,
) -> Option<(Hit, Option<bool>)> {
    let selector = Selector::parse(FOCUSED).ok()?;
    let browser = guest.browser().ok()?.in_hands(hands);
    let found = browser.describe(tab, &selector, matches, FOCUS).await.ok()?;
    let selected = found.selected;
    Some((elements::of_page(found, Pixel::default()), selected))
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
