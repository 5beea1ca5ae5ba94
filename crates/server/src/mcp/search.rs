//! Finding tools by what they do.

use std::sync::Arc;

use super::{
    catalogue::{Catalogue, Entry, mcp_name},
    client::Client,
};

/// The most tools in an answer.
const MOST: usize = 8;
/// Words that say nothing about what is wanted.
const NOISE: [&str; 18] = [
    "a", "an", "and", "at", "for", "from", "i", "in", "into", "it", "my", "of", "on", "or", "the",
    "to", "want", "with",
];
/// Words that users say for words of our descriptions.
const SYNONYMS: [(&str, &str); 17] = [
    ("bash", "exec command"),
    ("command", "exec"),
    ("download", "file read"),
    ("fill", "type field"),
    ("goto", "navigate"),
    ("html", "extract snapshot"),
    ("keyboard", "key type"),
    ("localhost", "forward port"),
    ("mouse", "click move"),
    ("open", "navigate launch"),
    ("picture", "screenshot"),
    ("run", "exec launch"),
    ("scrape", "extract markdown headless"),
    ("screen", "desktop"),
    ("shell", "exec"),
    ("visible", "desktop"),
    ("watch", "desktop visible"),
];

/// The tools that fit a description of what is wanted, best first.
pub fn search(client: &Client, wanted: &str) -> Vec<Arc<Entry>> {
    let words = words(wanted);
    let catalogue = Catalogue::of(&client.app);
    let entries = catalogue.available(client);
    let mut scored: Vec<_> = entries.map(|entry| (score(entry, &words), entry)).collect();
    scored.retain(|(score, _)| *score > 0);
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored.into_iter().take(MOST).map(|(_, entry)| entry.clone()).collect()
}

/// Words and what they also mean, with the weight of each.
fn words(text: &str) -> Vec<(String, u32)> {
    let text = text.to_lowercase();
    let mut words = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if NOISE.contains(&word) {
            continue;
        }
        let synonyms = SYNONYMS.iter().filter(|(from, _)| *from == word);
        let synonyms = synonyms.flat_map(|(_, to)| to.split(' ')).map(|word| (word.to_owned(), 2));
        words.extend(synonyms);
        words.push((stem(word).to_owned(), 3));
    }
    words
}

/// Without endings, so that "clicking" finds "click".
fn stem(word: &str) -> &str {
    let ending = ["ing", "es", "s"]
        .iter()
        .find(|ending| word.len() > ending.len() + 2 && word.ends_with(**ending));
    ending.map_or(word, |ending| word.strip_suffix(ending).unwrap_or(word))
}

fn score(entry: &Entry, words: &[(String, u32)]) -> u32 {
    let name = mcp_name(&entry.tool.name).to_lowercase();
    let doc = entry.tool.doc.to_lowercase();
    let summary = doc.split('.').next().unwrap_or_default();
    let score = words.iter().map(|(word, weight)| {
        let found = if name.split(['-', '_']).any(|part| part == word) {
            4
        } else if name.contains(word.as_str()) {
            3
        } else if summary.contains(word.as_str()) {
            2
        } else {
            u32::from(doc.contains(word.as_str()))
        };
        found * weight
    });
    score.sum()
}
