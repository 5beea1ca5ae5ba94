//! Distinguishes events of this server run from those of earlier runs.

use crate::password::random_hex;

/// Identifies this run.
#[derive(Debug, Clone)]
pub struct EventIds(String);

impl EventIds {
    pub fn new() -> Result<Self, getrandom::Error> {
        Ok(Self(random_hex()?.chars().take(8).collect()))
    }

    /// An event's id.
    pub fn id(&self, number: u64) -> String {
        format!("{}-{number}", self.0)
    }

    /// The number in an id, if it belongs to this run.
    pub fn number(&self, id: &str) -> Option<u64> {
        let (boot, number) = id.split_once('-')?;
        (boot == self.0).then(|| number.parse().ok()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_other_runs_are_ignored() {
        let (one, two) = (EventIds::new().unwrap(), EventIds::new().unwrap());
        assert_eq!(one.number(&one.id(7)), Some(7));
        assert_eq!(one.number(&two.id(7)), None);
        assert_eq!(one.number("7"), None);
    }
}
