//! A task: a goal on a screen, and what the application's own log says when it is reached.

use serde_json::Value;

/// One thing that a model who knows the page does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Do {
    /// Click a spot of the page.
    Click(&'static str),
    /// Double-click it.
    Double(&'static str),
    /// Click it with the right button.
    Right(&'static str),
    /// Click an element of the browser or of a program, by its name.
    Named(&'static str),
    /// Click the middle of the window.
    Middle,
    /// Type.
    Type(&'static str),
    /// Press keys.
    Key(&'static str),
    /// Press the key of each letter.
    Keys(&'static str),
    /// Turn the wheel down by notches, at the middle.
    Scroll(u32),
}

/// What is on the screen at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// A page with this content.
    Page(&'static str),
    /// The GTK program of `xtask/effects`, with a kind.
    Gtk(&'static str),
    /// The terminal of `xtask/effects`, with a kind.
    Xterm(&'static str),
}

/// What an application logs when the goal is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Oracle {
    /// Lines of its log, each as often as it is listed.
    Logged(&'static [&'static str]),
    /// An address that is typed next is opened, and the page still logs that it is alive: there is another tab.
    Tab,
    /// What is typed next goes to the address bar: the site gets the request.
    Bar,
}

/// A task.
#[derive(Debug, Clone, Copy)]
pub struct Task {
    /// Its name.
    pub name: &'static str,
    /// What the run is told.
    pub instruction: &'static str,
    /// The start.
    pub start: Start,
    /// Conditions, as JSON; empty for none.
    pub success: &'static str,
    /// How to reach it.
    pub plan: &'static [Do],
    /// The judge.
    pub oracle: Oracle,
    /// Whether each target is smaller than 32 pixels on both sides.
    pub small: bool,
}

impl Task {
    /// The conditions of success.
    pub fn success(&self) -> Option<Value> {
        serde_json::from_str(self.success).ok()
    }

    /// Whether it is one of the three goals of issue 112 of the reference.
    pub fn easy(&self) -> bool {
        self.name.starts_with("112/")
    }
}

/// Whether a log has what an oracle wants.
pub fn logged(wanted: &[&str], log: &[String]) -> bool {
    wanted.iter().all(|line| {
        let times = wanted.iter().filter(|other| *other == line).count();
        log.iter().filter(|own| own == line).count() >= times
    })
}
