//! Warns about variables that no setting has, and suggests one for a misspelled name.

use strsim::levenshtein;

use super::layers::PREFIX;

/// Variables that other parts of helmdeck read.
const READ_ELSEWHERE: [&str; 6] = [
    "HELMDECK_BIN",
    "HELMDECK_CA_FILE",
    "HELMDECK_CONFIG",
    "HELMDECK_TOKEN",
    "HELMDECK_UPDATE_SNAPSHOTS",
    "HELMDECK_URL",
];

/// Maximum number of wrong letters. At most a third of the name's letters may be wrong, too.
const MOST: usize = 3;

/// A warning for each of these variables of the environment that is helmdeck's by its name, but not `known`.
pub fn variables(set: impl Iterator<Item = String>, known: &[String]) -> Vec<String> {
    let ours = || known.iter().map(String::as_str).chain(READ_ELSEWHERE);
    set.filter(|name| name.starts_with(PREFIX) && ours().all(|ours| ours != name))
        .map(|name| {
            let meant = nearest(&name, ours()).map(|it| format!(": did you mean {it}?"));
            let meant = meant.unwrap_or_default();
            format!("{name} is set, but helmdeck does not know it{meant}")
        })
        .collect()
}

/// The known name that is closest to `name`, if one is close enough.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let letters = known.map(|other| (levenshtein(name, other), other));
    let (wrong, other) = letters.min_by_key(|(wrong, _)| *wrong)?;
    // All names share this prefix.
    let own = other.rsplit_once(PREFIX).map_or(other, |(_, own)| own);
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
