//! The mouse.

use std::time::Duration;

use helmdeck_task::block_in_place;
use helmdeck_wire::pointer::{
    Button, Click, Clicked, CursorPosition, Direction, DoubleClick, Drag, Dragged, Modifier,
    ModifierClick, ModifierClicked, MouseDown, MouseMove, MouseUp, Moved, MultiClicked, Point, Px,
    Scroll, Scrolled, TripleClick,
};
use tokio::time::{Instant, sleep};
use x11rb::protocol::xproto::{ConnectionExt as _, KeyButMask};

use crate::{
    display::{Display, Input},
    error::DisplayError,
    held::Held,
    keymap::Keymap,
};

/// Between the clicks of a double click. Programs ignore shorter gaps as a bouncing button.
const CLICK_GAP: Duration = Duration::from_millis(10);
/// Before modifiers are released: Chromium reads them when it handles the click.
const MODIFIER_REST: Duration = Duration::from_millis(20);
/// How long to wait for the pointer to arrive, and how often to check.
const ARRIVAL: Duration = Duration::from_secs(1);
const ARRIVAL_LOOK: Duration = Duration::from_millis(1);
/// How long a window manager may take to handle a click.
const RELEASE: Duration = Duration::from_secs(2);
/// Between two steps of a drag, so that programs can react.
const DRAG_STEP: Duration = Duration::from_millis(5);
/// After the press and before the release of a drag.
const DRAG_REST: Duration = Duration::from_millis(20);
/// Steps in one segment of a drag; fewer if a path has many segments.
const STEPS_PER_LEG: usize = 15;
/// Steps in a whole drag, unless it has more segments than this.
const STEPS_PER_DRAG: usize = 300;
/// Limit on the points of a path.
const MAX_PATH: usize = 1000;

impl Display {
    /// Clicks once.
    pub async fn click(&self, action: &Click) -> Result<Clicked, DisplayError> {
        let Click { x, y, button } = *action;
        self.clicks(x, y, button, 1, &[]).await?;
        Ok(Clicked { ok: true, x, y, button: button.number().to_string() })
    }

    /// Clicks twice, fast.
    pub async fn double_click(&self, action: &DoubleClick) -> Result<MultiClicked, DisplayError> {
        let DoubleClick { x, y, button } = *action;
        self.clicks(x, y, button, 2, &[]).await?;
        Ok(MultiClicked { ok: true, x, y, clicks: 2 })
    }

    /// Clicks three times, fast.
    pub async fn triple_click(&self, action: &TripleClick) -> Result<MultiClicked, DisplayError> {
        let TripleClick { x, y, button } = *action;
        self.clicks(x, y, button, 3, &[]).await?;
        Ok(MultiClicked { ok: true, x, y, clicks: 3 })
    }

    /// Clicks with modifiers held.
    pub async fn modifier_click(
        &self,
        action: &ModifierClick,
    ) -> Result<ModifierClicked, DisplayError> {
        let ModifierClick { x, y, button, ref modifiers } = *action;
        if modifiers.is_empty() {
            return Err(DisplayError::MissingModifiers);
        }
        self.clicks(x, y, button, 1, modifiers).await?;
        Ok(ModifierClicked { ok: true, x, y, modifiers: modifiers.clone() })
    }

    /// Moves the pointer.
    pub async fn mouse_move(&self, action: &MouseMove) -> Result<Moved, DisplayError> {
        let MouseMove { x, y } = *action;
        let input = self.input().await?;
        let (to_x, to_y) = input.point(x.0, y.0)?;
        block_in_place(|| {
            let held = Held::on(&input.connection);
            held.move_to(to_x, to_y)?;
            held.finish()
        })?;
        self.arrival(Point { x, y }).await?;
        Ok(Moved { ok: true, x, y })
    }

    /// Presses a button and leaves it pressed.
    pub async fn mouse_down(&self, action: &MouseDown) -> Result<Clicked, DisplayError> {
        let button = action.button.number();
        self.button(action.x, action.y, button, |mut held| {
            held.press_button(button)?;
            held.keep()
        })
        .await
    }

    /// Releases a button.
    pub async fn mouse_up(&self, action: &MouseUp) -> Result<Clicked, DisplayError> {
        let button = action.button.number();
        let done = self
            .button(action.x, action.y, button, |mut held| {
                held.release_button(button)?;
                held.finish()
            })
            .await?;
        self.released(button).await?;
        Ok(done)
    }

    /// Presses, moves in small steps, and releases.
    pub async fn drag(&self, action: &Drag) -> Result<Dragged, DisplayError> {
        let incomplete = |expected| {
            let field = action.missing_field().unwrap_or("path");
            DisplayError::IncompletePoint { field, expected }
        };
        let points = action.points().ok_or_else(|| {
            let expected =
                "expected start_x, start_y, end_x and end_y, or a path of at least two points";
            incomplete(expected)
        })?;
        if points.len() > MAX_PATH {
            return Err(incomplete("expected a path of at most 1000 points"));
        }
        let input = self.input().await?;
        let path = points.iter().enumerate().map(|(at, point)| {
            input.named_point(point.x.0, point.y.0, |axis| action.coordinate_field(at, axis))
        });
        let path = path.collect::<Result<Vec<_>, _>>()?;
        let ([start, ..], [.., end]) = (points.as_slice(), points.as_slice()) else {
            return Err(incomplete("expected a path of at least two points"));
        };
        let mut held = block_in_place(|| hold(&input, &action.modifiers))?;
        let mut steps = steps(&path).into_iter();
        let button = action.button.number();
        block_in_place(|| {
            if let Some((x, y)) = steps.next() {
                held.move_to(x, y)?;
            }
            held.press_button(button)?;
            input.connection.round_trip()
        })?;
        sleep(DRAG_REST).await;
        for (x, y) in steps {
            block_in_place(|| {
                held.move_to(x, y)?;
                input.connection.round_trip()
            })?;
            sleep(DRAG_STEP).await;
        }
        sleep(DRAG_REST).await;
        block_in_place(|| {
            held.release_button(button)?;
            held.finish()
        })?;
        self.released(button).await?;
        let (start_x, start_y, end_x, end_y) = (start.x, start.y, end.x, end.y);
        Ok(Dragged { ok: true, start_x, start_y, end_x, end_y })
    }

    /// Scrolls the wheel.
    pub async fn scroll(&self, action: &Scroll) -> Result<Scrolled, DisplayError> {
        let amount = action.amount.min(Scroll::MAX_AMOUNT);
        if amount == 0 {
            return Err(DisplayError::ZeroAmount);
        }
        let wheel = match action.direction {
            Direction::Up => 4,
            Direction::Down => 5,
            Direction::Left => 6,
            Direction::Right => 7,
        };
        let input = self.input().await?;
        let point = optional_point(&input, action.x, action.y)?;
        let held = block_in_place(|| {
            let mut held = hold(&input, &action.modifiers)?;
            if let Some((x, y)) = point {
                held.move_to(x, y)?;
            }
            for _ in 0..amount {
                held.tap_button(wheel)?;
            }
            Ok::<_, DisplayError>(held)
        })?;
        rest(&input, &action.modifiers).await?;
        block_in_place(|| held.finish())?;
        Ok(Scrolled { ok: true, direction: action.direction, amount })
    }

    /// Where the pointer is.
    pub async fn cursor_position(&self, _: &CursorPosition) -> Result<Point, DisplayError> {
        block_in_place(|| self.pointer())
    }

    /// The pointer's position, without waiting for the input lock.
    fn pointer(&self) -> Result<Point, DisplayError> {
        let (connection, _) = self.query()?;
        let pointer = connection.query_pointer(connection.root)?.reply()?;
        Ok(Point { x: Px(pointer.root_x.into()), y: Px(pointer.root_y.into()) })
    }

    /// Waits until the pointer has arrived: a window manager that has not handled the last click
    /// blocks it. If a program moves the pointer elsewhere, the wait ends soon.
    async fn arrival(&self, at: Point) -> Result<(), DisplayError> {
        let deadline = Instant::now() + ARRIVAL;
        while block_in_place(|| self.pointer())? != at && Instant::now() < deadline {
            sleep(ARRIVAL_LOOK).await;
        }
        Ok(())
    }

    /// Waits until the server has processed the release of a button. While a window manager has not
    /// handled a press, later pointer events are delayed, and they get the modifiers at the time
    /// they are processed. Without this wait, keys that follow would change the click.
    async fn released(&self, button: u8) -> Result<(), DisplayError> {
        let deadline = Instant::now() + RELEASE;
        while block_in_place(|| self.is_down(button))? && Instant::now() < deadline {
            sleep(ARRIVAL_LOOK).await;
        }
        Ok(())
    }

    /// Whether the server reports a button as pressed.
    fn is_down(&self, button: u8) -> Result<bool, DisplayError> {
        let (connection, _) = self.query()?;
        let mask = connection.query_pointer(connection.root)?.reply()?.mask;
        let bit = match button {
            1 => KeyButMask::BUTTON1,
            2 => KeyButMask::BUTTON2,
            3 => KeyButMask::BUTTON3,
            4 => KeyButMask::BUTTON4,
            5 => KeyButMask::BUTTON5,
            _ => return Ok(false),
        };
        Ok(mask.contains(bit))
    }

    async fn clicks(
        &self,
        x: Px,
        y: Px,
        button: Button,
        count: usize,
        modifiers: &[Modifier],
    ) -> Result<(), DisplayError> {
        let input = self.input().await?;
        let (x, y) = input.point(x.0, y.0)?;
        let mut held = block_in_place(|| {
            let held = hold(&input, modifiers)?;
            held.move_to(x, y)?;
            Ok::<_, DisplayError>(held)
        })?;
        for nth in 0..count {
            if nth > 0 {
                sleep(CLICK_GAP).await;
            }
            held.tap_button(button.number())?;
            block_in_place(|| input.connection.round_trip())?;
            self.released(button.number()).await?;
        }
        rest(&input, modifiers).await?;
        block_in_place(|| held.finish())
    }

    /// Moves if requested, then presses or releases.
    async fn button(
        &self,
        x: Option<Px>,
        y: Option<Px>,
        button: u8,
        act: impl FnOnce(Held) -> Result<(), DisplayError>,
    ) -> Result<Clicked, DisplayError> {
        let input = self.input().await?;
        let point = optional_point(&input, x, y)?;
        block_in_place(|| {
            let held = Held::on(&input.connection);
            if let Some((x, y)) = point {
                held.move_to(x, y)?;
            }
            act(held)
        })?;
        let at = match (x, y) {
            (Some(x), Some(y)) => Point { x, y },
            _ => block_in_place(|| self.pointer())?,
        };
        Ok(Clicked { ok: true, x: at.x, y: at.y, button: button.to_string() })
    }
}

/// Gives the program time to handle the click while modifiers are held.
async fn rest(input: &Input<'_>, modifiers: &[Modifier]) -> Result<(), DisplayError> {
    if !modifiers.is_empty() {
        block_in_place(|| input.connection.round_trip())?;
        sleep(MODIFIER_REST).await;
    }
    Ok(())
}

/// Holds the modifiers down.
fn hold(input: &Input<'_>, modifiers: &[Modifier]) -> Result<Held, DisplayError> {
    let mut held = Held::on(&input.connection);
    if modifiers.is_empty() {
        return Ok(held);
    }
    let keymap = Keymap::read(&input.connection)?;
    for (nth, modifier) in modifiers.iter().enumerate() {
        if modifiers.iter().take(nth).any(|earlier| earlier == modifier) {
            continue;
        }
        let keysym = match modifier {
            Modifier::Shift => xkeysym::key::Shift_L,
            Modifier::Ctrl => xkeysym::key::Control_L,
            Modifier::Alt => xkeysym::key::Alt_L,
            Modifier::Super => xkeysym::key::Super_L,
        };
        held.press_key(keymap.code_of(keysym)?)?;
    }
    Ok(held)
}

fn optional_point(
    input: &Input<'_>,
    x: Option<Px>,
    y: Option<Px>,
) -> Result<Option<(i16, i16)>, DisplayError> {
    match (x, y) {
        (Some(x), Some(y)) => input.point(x.0, y.0).map(Some),
        (None, None) => Ok(None),
        (x, _) => {
            let field = if x.is_none() { "x" } else { "y" };
            let expected = "expected both x and y, or neither";
            Err(DisplayError::IncompletePoint { field, expected })
        }
    }
}

/// The points of a path with intermediate points.
fn steps(path: &[(i16, i16)]) -> Vec<(i16, i16)> {
    let legs = path.len().saturating_sub(1).max(1);
    let per_leg = (STEPS_PER_DRAG / legs).clamp(1, STEPS_PER_LEG);
    let mut steps: Vec<_> = path.first().copied().into_iter().collect();
    for (from, to) in path.iter().zip(path.iter().skip(1)) {
        steps.extend(
            (1..=per_leg).map(|nth| {
                (between(from.0, to.0, nth, per_leg), between(from.1, to.1, nth, per_leg))
            }),
        );
    }
    steps
}

/// The `nth` of `count` steps from one coordinate to another; the last is the target itself.
fn between(from: i16, to: i16, nth: usize, count: usize) -> i16 {
    let way = f64::from(to) - f64::from(from);
    // The result lies between two i16 values, so the cast is exact.
    (f64::from(from) + way * nth as f64 / count as f64).round() as i16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drag_moves_in_steps_and_ends_at_its_target() {
        let way = steps(&[(0, 0), (150, 30)]);
        assert_eq!(way.len(), 1 + STEPS_PER_LEG);
        assert_eq!(way[1], (10, 2));
        assert_eq!(way.last(), Some(&(150, 30)));
    }

    #[test]
    fn a_long_path_is_followed_point_by_point() {
        let path: Vec<_> = (0..1000).map(|i| (i, i)).collect();
        assert_eq!(steps(&path), path);
    }
}
