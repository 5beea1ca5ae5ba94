//! Refs of elements: short names that stay the same as long as the element exists.

use std::collections::{BTreeMap, HashMap};

/// Limit on refs; the oldest are forgotten first.
const MAX_REFS: usize = 50_000;

/// Names elements by a key, which identifies an element within a session.
#[derive(Debug, Default)]
pub struct Refs {
    last: u64,
    numbers: HashMap<String, u64>,
    keys: BTreeMap<u64, String>,
}

impl Refs {
    /// The ref of an element; assigns one if it has none.
    pub fn name(&mut self, key: &str) -> String {
        if let Some(number) = self.numbers.get(key) {
            return format!("a{number}");
        }
        self.last += 1;
        self.numbers.insert(key.to_owned(), self.last);
        self.keys.insert(self.last, key.to_owned());
        if self.keys.len() > MAX_REFS
            && let Some((_, oldest)) = self.keys.pop_first()
        {
            self.numbers.remove(&oldest);
        }
        format!("a{}", self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_keeps_its_ref_and_no_other_gets_it() {
        let mut refs = Refs::default();
        assert_eq!(
            (refs.name("x"), refs.name("y"), refs.name("x")),
            ("a1".into(), "a2".into(), "a1".into())
        );
        for other in 0..=MAX_REFS {
            refs.name(&format!("other {other}"));
        }
        assert_ne!(refs.name("x"), "a1");
        assert!(refs.keys.len() <= MAX_REFS && refs.numbers.len() == refs.keys.len());
    }
}
