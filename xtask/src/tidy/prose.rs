//! Refuses words that the house style avoids.

use super::{Report, Repository};

/// Joins strings from halves, so that this file does not report itself.
macro_rules! halves {
    ($($left:literal $right:literal $fix:literal),+ $(,)?) => { [$((concat!($left, $right), $fix)),+] };
}

/// Words, and what to write instead.
const WORDS: [(&str, &str); 2] = halves![
    "some" "body" "write \"a user\", \"a caller\" or \"another\"",
    "who" "ever" "write \"anyone who\"",
];
/// Refused at the end of a clause; `in the name of its own session` is allowed.
const ENDINGS: [(&str, &str); 2] = halves![
    "of its" " own" "write \"its own …\" or \"a separate …\"",
    "of their" " own" "write \"their own …\" or \"a separate …\"",
];

pub(super) fn check(repository: &Repository, report: &mut Report) {
    for (path, text) in repository.texts(&[""]) {
        for (index, line) in text.lines().enumerate() {
            let lower = line.to_lowercase();
            let words = WORDS.iter().filter(|(word, _)| has_word(&lower, word));
            let endings = ENDINGS.iter().filter(|(ending, _)| ends_clause(&lower, ending));
            for (word, fix) in words.chain(endings) {
                report.refuse(path, index + 1, format!("says \"{word}\""), *fix);
            }
        }
    }
}

fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let after = line.get(at + word.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

fn ends_clause(line: &str, ending: &str) -> bool {
    line.match_indices(ending).any(|(at, _)| {
        let after = line.get(at + ending.len()..).and_then(|text| text.chars().next());
        after.is_none_or(|c| ".,:;!?)<".contains(c))
    })
}
