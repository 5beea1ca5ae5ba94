//! Which name somebody meant who wrote another.

/// So many letters may be wrong, and at most a third of them.
const MOST: usize = 3;

/// The name that is most like this one, if one is like it at all.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let letters = known.map(|other| (distance(name, other), other));
    let (wrong, other) = letters.min_by_key(|(wrong, _)| *wrong)?;
    // What all names begin with says nothing.
    let own = other.rsplit_once("HELMDECK_").map_or(other, |(_, own)| own);
    (wrong <= MOST && wrong * 3 <= own.len()).then_some(other)
}

/// How many letters have to be put in, left out or changed to make one of the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    // Of what was read of `one`, to each beginning of `other`.
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (read, letter) in one.chars().enumerate() {
        let mut next = vec![read + 1];
        for (index, wanted) in other.iter().enumerate() {
            let at = |row: &[usize], index: usize| row.get(index).copied().unwrap_or(usize::MAX);
            let changed = at(&row, index) + usize::from(letter != *wanted);
            let left_out = at(&row, index + 1) + 1;
            let put_in = at(&next, index) + 1;
            next.push(changed.min(left_out).min(put_in));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_understood_and_another_word_is_not() {
        let meant = |name| nearest(name, ["HELMDECK_ADDR", "HELMDECK_RUN_DIR"].into_iter());
        assert_eq!(meant("HELMDECK_ADRR"), Some("HELMDECK_ADDR"));
        assert_eq!(meant("HELMDECK_RUNDIR"), Some("HELMDECK_RUN_DIR"));
        assert_eq!(meant("HELMDECK_RUN_DIRS"), Some("HELMDECK_RUN_DIR"));
        assert_eq!(meant("HELMDECK_PORT"), None);
        assert_eq!(meant("HELMDECK_"), None);
    }
}
