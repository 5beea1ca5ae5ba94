//! The judgement of each case, and the table of a run.

use std::fmt;

use serde_json::Value;

use super::{
    case::{App, Case, Fact},
    stage::Outcome,
};

/// The part of cases that must be right, in percent.
const ENOUGH: usize = 99;

/// A case that was performed.
pub struct Judged {
    name: String,
    app: App,
    /// Whether the reply says what the log says.
    pub right: bool,
    effect: String,
    accepted: String,
    detail: String,
}

impl Judged {
    /// Judges what a case came to.
    pub fn new(case: &Case, outcome: Result<Outcome, String>) -> Self {
        let accepted = case.accepted();
        let (right, effect, detail) = match outcome {
            Err(why) => (false, "an error".to_owned(), why),
            Ok(Outcome { reply, log }) => {
                let effect = reply.get("effect").and_then(Value::as_str).unwrap_or("nothing");
                let logged = Fact::main(&log);
                let said = log.join(" ");
                // A case whose own log says something else proves nothing.
                let detail = if logged == case.fact {
                    format!("log [{said}], reply {reply}")
                } else {
                    format!("BROKEN, the log says {logged:?}: [{said}], reply {reply}")
                };
                let right = logged == case.fact && accepted.contains(&effect);
                (right, effect.to_owned(), detail)
            }
        };
        let name = case.name.clone();
        Self { name, app: case.app, right, effect, accepted: accepted.join(" or "), detail }
    }

    /// One line about it.
    pub fn line(&self) -> String {
        let verdict = if self.right { "right" } else { "WRONG" };
        format!("{verdict} {}: {}, expected {}", self.name, self.effect, self.accepted)
    }
}

/// All cases of a run.
#[derive(Default)]
pub struct Table {
    judged: Vec<Judged>,
}

impl Table {
    /// Adds a case.
    pub fn add(&mut self, judged: Judged) {
        self.judged.push(judged);
    }

    /// Whether enough cases are right.
    pub fn passes(&self) -> bool {
        !self.judged.is_empty() && self.right() * 100 >= self.judged.len() * ENOUGH
    }

    /// How many cases there are.
    pub fn len(&self) -> usize {
        self.judged.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.judged.is_empty()
    }

    fn right(&self) -> usize {
        self.judged.iter().filter(|judged| judged.right).count()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for judged in self.judged.iter().filter(|judged| !judged.right) {
            writeln!(f, "\n{}\n  {}", judged.line(), judged.detail)?;
        }
        writeln!(
            f,
            "\n| application | cases | right | wrong | right in % |\n|---|---|---|---|---|"
        )?;
        for app in App::ALL {
            let own = |judged: &&Judged| judged.app == app;
            let (count, right) = (
                self.judged.iter().filter(own).count(),
                self.judged.iter().filter(own).filter(|judged| judged.right).count(),
            );
            if count > 0 {
                writeln!(f, "{}", line(app.name(), count, right))?;
            }
        }
        write!(f, "{}", line("all", self.len(), self.right()))
    }
}

fn line(name: &str, count: usize, right: usize) -> String {
    let percent = right as f64 * 100.0 / count.max(1) as f64;
    format!("| {name} | {count} | {right} | {} | {percent:.1} |", count - right)
}
