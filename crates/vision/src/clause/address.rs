//! Addresses in instructions.

use super::words;

/// An address or host.
pub fn address(text: &str) -> Option<String> {
    let word = text.split_whitespace().find(|word| {
        let host = word.split_once("://").map_or(*word, |(_, rest)| rest);
        let host = host.split(['/', ':', '?']).next().unwrap_or_default().trim_end_matches('.');
        let dotted = host.split('.').count() > 1
            && host.split('.').all(|part| {
                !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '-')
            })
            && host.split('.').next_back().is_some_and(|last| {
                last.len() >= 2 || host.split('.').all(|part| part.parse::<u8>().is_ok())
            });
        word.contains("://") || dotted || host == "localhost"
    })?;
    Some(
        word.trim_matches(['"', '\'', ',', ';', '(', ')', '“', '”'])
            .trim_end_matches('.')
            .to_owned(),
    )
}

/// An address, if a text says nothing else.
pub(super) fn only_address(text: &str) -> Option<String> {
    let url = address(text)?;
    let plain = ["the", "page", "site", "website", "address", "url", "at", "web"];
    let mut others = text.split_whitespace().filter(|word| !word.contains(&url)).flat_map(words);
    others.all(|word| plain.contains(&word.as_str())).then_some(url)
}
