//! Suggests settings for misspelled names.

use strsim::levenshtein;

/// Maximum number of wrong letters. At most a third of the name's letters may be wrong, too.
const MOST: usize = 3;

/// The known name that is closest to `name`, if one is close enough.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let letters = known.map(|other| (levenshtein(name, other), other));
    let (wrong, other) = letters.min_by_key(|(wrong, _)| *wrong)?;
    // All names share this prefix.
    let own = other.rsplit_once("HELMDECK_").map_or(other, |(_, own)| own);
    (wrong <= MOST && wrong * 3 <= own.len()).then_some(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_is_recognized_and_another_word_is_not() {
        let meant = |name| nearest(name, ["HELMDECK_ADDR", "HELMDECK_RUN_DIR"].into_iter());
        assert_eq!(meant("HELMDECK_ADRR"), Some("HELMDECK_ADDR"));
        assert_eq!(meant("HELMDECK_RUNDIR"), Some("HELMDECK_RUN_DIR"));
        assert_eq!(meant("HELMDECK_RUN_DIRS"), Some("HELMDECK_RUN_DIR"));
        assert_eq!(meant("HELMDECK_PORT"), None);
        assert_eq!(meant("HELMDECK_"), None);
    }
}
