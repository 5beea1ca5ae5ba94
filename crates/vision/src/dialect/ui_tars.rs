//! UI-TARS: a thought and one action as text, such as `Action: click(start_box='(10,20)')`.

use helmdeck_wire::{point::Pixel, pointer::Button};

use super::fields::numbers;
use crate::{
    Malformed,
    action::{Action, NOTCH, Place},
    keys::{self, Names},
    model_reply::{Call, CallId, ModelReply},
    view::{Grid, View},
};

/// Notches that a scroll turns, which has no amount.
const NOTCHES: i32 = 5;
/// How long `wait` waits, which has no argument.
const WAIT: f64 = 5.0;

/// What a model is told about its actions.
pub const ACTIONS: &str = "\
## Output format
Thought: what you see and what to do next, in one short sentence
Action: one action

## Actions
click(start_box='(x,y)')
left_double(start_box='(x,y)')
right_single(start_box='(x,y)')
drag(start_box='(x1,y1)', end_box='(x2,y2)')
hotkey(key='ctrl c')
type(content='text')  # \\n at the end submits
scroll(start_box='(x,y)', direction='down or up or right or left')
wait()
finished(content='what was reached')
call_user()  # if a person is needed";

/// Reads the text of a reply.
pub fn read(reply: &str, view: &View, grid: Grid) -> Result<ModelReply, Malformed> {
    let (before, after) = reply.rsplit_once("Action:").ok_or_else(|| {
        Malformed::new(
            "the reply has no action: end it with a line such as Action: click(start_box='(x,y)')",
        )
    })?;
    let thought = before.rsplit("Thought:").next().unwrap_or_default().trim().to_owned();
    let action = read_action(after.trim(), view, grid);
    let done = match &action {
        Ok(actions) => actions.iter().find_map(|action| match action {
            Action::Done { text } => Some(text.clone()),
            _ => None,
        }),
        Err(_) => None,
    };
    let calls = vec![Call::new(CallId::default(), action)];
    Ok(ModelReply { thought, calls, done })
}

fn read_action(text: &str, view: &View, grid: Grid) -> Result<Vec<Action>, Malformed> {
    let wrong =
        || Malformed::new(format!("cannot read the action {text:?}: write name(argument='value')"));
    let (name, rest) = text.split_once('(').ok_or_else(wrong)?;
    let rest = rest.get(..rest.rfind(')').ok_or_else(wrong)?).unwrap_or_default();
    let point = |names: [&str; 2]| {
        let given = names.iter().find_map(|name| argument(rest, name));
        let numbers = given.map(|text| numbers(&text)).unwrap_or_default();
        match numbers.as_slice() {
            [x, y] => Some(view.to_screen(grid, *x, *y)),
            [x1, y1, x2, y2] => {
                Some(view.to_screen(grid, f64::midpoint(*x1, *x2), f64::midpoint(*y1, *y2)))
            }
            _ => None,
        }
    };
    let start = || point(["start_box", "point"]).or_else(|| point(["start_point", "box"]));
    let at = || {
        start()
            .map(Place::At)
            .ok_or_else(|| Malformed::new(format!("{name} needs start_box='(x,y)'")))
    };
    let click = |button, count| Ok(vec![Action::clicks(Some(at()?), button, count)]);
    match name.trim() {
        "click" | "left_single" => click(Button::Left, 1),
        "left_double" => click(Button::Left, 2),
        "right_single" => click(Button::Right, 1),
        "hover" => Ok(vec![Action::Move { at: at()? }]),
        "drag" => match (start(), point(["end_box", "end_point"])) {
            (Some(start), Some(end)) => {
                Ok(vec![Action::Drag { path: vec![start, end], modifiers: Vec::new() }])
            }
            _ => Err(Malformed::new("drag needs start_box and end_box")),
        },
        "hotkey" | "press" | "keydown" => {
            let keys = argument(rest, "key").unwrap_or_default();
            let keys = keys::together(keys.split([' ', '+']).filter(|key| !key.is_empty()));
            match keys.is_empty() {
                true => Err(Malformed::new("hotkey needs key, such as hotkey(key='ctrl c')")),
                false => Ok(vec![Action::Key { keys }]),
            }
        }
        "type" => {
            let text = argument(rest, "content").filter(|text| !text.is_empty());
            let text = text.ok_or_else(|| Malformed::new("type needs content='text'"))?;
            Ok(vec![Action::Type { text }])
        }
        "scroll" => {
            let far = NOTCHES * NOTCH;
            let (dx, dy) = match argument(rest, "direction").as_deref() {
                Some("up") => (0, -far),
                Some("down") => (0, far),
                Some("left") => (-far, 0),
                Some("right") => (far, 0),
                _ => return Err(Malformed::new("direction is up, down, left or right")),
            };
            Ok(vec![Action::Scroll { at: start().map(Place::At), dx, dy, modifiers: Vec::new() }])
        }
        "wait" => Ok(vec![Action::Wait { seconds: WAIT }]),
        "finished" => {
            Ok(vec![Action::Done { text: argument(rest, "content").unwrap_or_default() }])
        }
        "call_user" => {
            Ok(vec![Action::AskUser { text: argument(rest, "content").unwrap_or_default() }])
        }
        other => Err(Malformed::new(format!("there is no action {other}"))),
    }
}

/// The value of an argument, without its quotes and escapes.
fn argument(arguments: &str, name: &str) -> Option<String> {
    let mut rest = arguments;
    let value = loop {
        let (before, after) = rest.split_once(name)?;
        let starts = before.is_empty() || before.ends_with([' ', ',', '(']);
        match after.trim_start().strip_prefix('=') {
            Some(value) if starts => break value.trim_start(),
            _ => rest = after,
        }
    };
    let quote = value.chars().next().filter(|first| matches!(first, '\'' | '"'))?;
    let (mut text, mut escaped) = (String::new(), false);
    for letter in value.chars().skip(1) {
        match (escaped, letter) {
            (true, 'n') => text.push('\n'),
            (true, 't') => text.push('\t'),
            (true, other) => text.push(other),
            (false, '\\') => {}
            (false, end) if end == quote => return Some(text),
            (false, other) => text.push(other),
        }
        escaped = !escaped && letter == '\\';
    }
    None
}

/// Writes an action as a model would. Nothing if there is no such action.
pub fn write(action: &Action, view: &View, grid: Grid) -> Option<String> {
    let point = |at: Pixel| {
        let (x, y) = view.from_screen(grid, at);
        format!("'({x},{y})'")
    };
    let quoted = |text: &str| {
        let text = text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n");
        format!("'{}'", text.replace('\t', "\\t"))
    };
    let start = || action.pixel().map(|at| format!("start_box={}", point(at)));
    Some(match action {
        Action::Click { button, count, modifiers, .. } if modifiers.is_empty() => {
            let name = match (button, count) {
                (Button::Left, 1) => "click",
                (Button::Left, 2) => "left_double",
                (Button::Right, 1) => "right_single",
                _ => return None,
            };
            format!("{name}({})", start()?)
        }
        Action::Drag { path, .. } if path.len() > 1 => {
            format!("drag({}, end_box={})", start()?, point(*path.last()?))
        }
        Action::Key { keys } if !keys.contains(' ') => {
            format!("hotkey(key='{}')", keys::named(keys, Names::Lower).join(" "))
        }
        Action::Type { text } => format!("type(content={})", quoted(text)),
        Action::Scroll { dx, dy, .. } => {
            let direction = match (*dx, *dy) {
                (0, 0..) => "down",
                (0, _) => "up",
                (1.., _) => "right",
                _ => "left",
            };
            match start() {
                Some(start) => format!("scroll({start}, direction='{direction}')"),
                None => format!("scroll(direction='{direction}')"),
            }
        }
        Action::Wait { .. } => "wait()".to_owned(),
        Action::Done { text } => format!("finished(content={})", quoted(text)),
        Action::AskUser { text } if text.is_empty() => "call_user()".to_owned(),
        Action::AskUser { text } => format!("call_user(content={})", quoted(text)),
        _ => return None,
    })
}
