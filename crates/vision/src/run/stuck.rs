//! Whether a model repeats itself without effect.

use crate::action::Action;

/// Positions closer than this are the same.
const SAME: i32 = 8;
/// Equal actions without effect before the model is told.
const HINT_AFTER: u32 = 3;
/// Equal actions without effect before the run ends.
const SAME_END: u32 = 6;
/// Steps of any kind without effect before the run ends.
const IDLE_END: u32 = 12;

/// Steps without effect before the model is shown the whole screen again.
const LOST_AFTER: u32 = 4;

/// What was done without effect so far.
#[derive(Debug, Default)]
pub struct Repetition {
    last: Option<Action>,
    same: u32,
    idle: u32,
}

/// What to do about it.
#[derive(Debug, PartialEq, Eq)]
pub enum Advice {
    /// Nothing.
    None,
    /// Tell the model.
    Hint(String),
    /// End the run.
    End(String),
}

impl Repetition {
    /// Whether several steps in a row had no effect: now, and after as many more.
    pub fn is_lost(&self) -> bool {
        self.idle > 0 && self.idle.is_multiple_of(LOST_AFTER)
    }

    /// Counts an action.
    pub fn count(&mut self, action: &Action, changed: bool) -> Advice {
        if changed {
            *self = Self::default();
            return Advice::None;
        }
        let repeated = self.last.as_ref().is_some_and(|last| alike(last, action));
        self.same = if repeated { self.same + 1 } else { 1 };
        self.idle += 1;
        self.last = Some(action.clone());
        if self.same >= SAME_END || self.idle >= IDLE_END {
            let reason = match self.same >= SAME_END {
                true => {
                    format!("{} was repeated {} times without effect", action.label(), self.same)
                }
                false => format!("the last {} steps had no effect", self.idle),
            };
            return Advice::End(reason);
        }
        match self.same >= HINT_AFTER {
            true => Advice::Hint(format!(
                "You did the same {} times, and nothing changed. Do something else: another position, a key, \
                 scrolling, or a closer look.",
                self.same
            )),
            false => Advice::None,
        }
    }
}

fn alike(one: &Action, two: &Action) -> bool {
    match (one.pixel(), two.pixel()) {
        (Some(here), Some(there)) => {
            std::mem::discriminant(one) == std::mem::discriminant(two)
                && (here.x - there.x).abs() <= SAME
                && (here.y - there.y).abs() <= SAME
        }
        _ => one == two,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_click_without_effect_gets_a_hint_and_then_ends_the_run() {
        let mut repetition = Repetition::default();
        let advice: Vec<_> =
            (0..6).map(|at| repetition.count(&Action::click(100 + at, 100), false)).collect();
        assert_eq!(advice.first(), Some(&Advice::None));
        assert!(matches!(advice.get(2), Some(Advice::Hint(_))));
        assert!(matches!(advice.last(), Some(Advice::End(_))));
    }

    #[test]
    fn an_effect_starts_the_count_anew_and_different_actions_are_patient() {
        let mut repetition = Repetition::default();
        for at in 0..30 {
            assert_eq!(repetition.count(&Action::click(5, 5), at % 2 == 0), Advice::None);
        }
        let mut repetition = Repetition::default();
        let advice: Vec<_> =
            (0..12).map(|at| repetition.count(&Action::click(at * 50, 5), false)).collect();
        assert!(advice.iter().take(11).all(|it| *it == Advice::None));
        assert!(matches!(advice.last(), Some(Advice::End(_))));
    }
}
