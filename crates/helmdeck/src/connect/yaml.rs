//! Changes one entry of a YAML file and keeps the rest, with comments.
//!
//! Supports block style only: keys on lines, with their values indented below. Refuses everything else.

use helmdeck_wire::connect::Format;
use serde_json::Value;

/// The text with this entry at these two keys, whatever was there before.
pub fn put(text: &str, keys: &[&str], entry: &Value) -> Result<String, String> {
    let &[section, name] = keys else { return Err("two keys are expected".to_owned()) };
    let lines: Vec<&str> = text.lines().collect();
    if lines.iter().skip(1).any(|line| line.trim_end() == "---") {
        return Err("it holds several documents".to_owned());
    }
    let block = Format::Yaml.render(keys, entry);
    let is_section = |line: &&str| line.starts_with(&format!("{section}:"));
    let Some(at) = lines.iter().position(is_section) else {
        if lines.iter().any(|line| key(line).trim_matches(['"', '\'']) == section) {
            return Err(format!("{section} is written in a way that is not understood"));
        }
        let text = text.trim_end();
        return Ok(if text.is_empty() { block } else { format!("{text}\n\n{block}") });
    };
    let (head, rest) = lines.split_at_checked(at).unwrap_or_default();
    let (first, rest) = rest.split_first().ok_or("it changed")?;
    let value = first.split_once(':').map_or("", |(_, value)| value.trim());
    if !(value.is_empty() || value.starts_with('#') || value == "{}") {
        return Err(format!("{section} is written in a way that is not understood"));
    }
    // Blank lines and comments between two sections belong to the second.
    let size = rest.iter().take_while(|line| !is_at(line, 0)).count();
    let (children, tail) = rest.split_at_checked(size).unwrap_or_default();
    let kept = children.iter().rposition(|line| indent(line).is_some()).map_or(0, |last| last + 1);
    let (children, gap) = children.split_at_checked(kept).unwrap_or_default();
    if children.iter().any(|line| line.starts_with('\t')) {
        return Err("it is indented with tabs".to_owned());
    }
    let depth = children.iter().find_map(|line| indent(line)).unwrap_or(2);
    let children = without(children, name, depth);

    let mut out: Vec<String> = head.iter().map(|line| (*line).to_owned()).collect();
    out.push(if value == "{}" { format!("{section}:") } else { (*first).to_owned() });
    // The block has the section's own line first; the rest is moved to the depth of its siblings.
    let added = block.lines().skip(1).filter_map(|line| line.strip_prefix("  "));
    out.extend(children.iter().map(|line| (*line).to_owned()));
    out.extend(added.map(|line| format!("{}{line}", " ".repeat(depth))));
    out.extend(gap.iter().chain(tail).map(|line| (*line).to_owned()));
    Ok(out.join("\n") + "\n")
}

/// The lines without a key at this depth and what belongs to it.
fn without<'a>(lines: &[&'a str], name: &str, depth: usize) -> Vec<&'a str> {
    let mut ours = false;
    let kept = lines.iter().filter(|line| {
        if indent(line).is_some_and(|indent| indent <= depth) {
            ours = indent(line) == Some(depth) && key(line).trim_matches(['"', '\'']) == name;
        }
        !ours
    });
    kept.copied().collect()
}

/// How far a line is indented; none for blank lines and comments.
fn indent(line: &str) -> Option<usize> {
    let text = line.trim_start();
    (!text.is_empty() && !text.starts_with('#')).then(|| line.len() - text.len())
}

fn is_at(line: &str, depth: usize) -> bool {
    indent(line) == Some(depth)
}

/// The key of a line.
fn key(line: &str) -> &str {
    line.split(':').next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const KEYS: [&str; 2] = ["mcp_servers", "helmdeck"];
    const BLOCK: &str = "mcp_servers:\n  helmdeck:\n    headers:\n      A: \"b\"\n    url: \"u\"\n";

    fn put_url(text: &str) -> Result<String, String> {
        put(text, &KEYS, &json!({ "url": "u", "headers": { "A": "b" } }))
    }

    #[test]
    fn a_section_is_made_where_there_is_none() {
        assert_eq!(put_url("").unwrap(), BLOCK);
        assert_eq!(put_url("model: x # mine\n").unwrap(), format!("model: x # mine\n\n{BLOCK}"));
        assert_eq!(put_url("mcp_servers: {}\n").unwrap(), BLOCK);
    }

    #[test]
    fn an_entry_is_added_among_its_siblings_and_replaced_as_a_whole() {
        let text =
            "a: 1\nmcp_servers: # tools\n    git:\n        command: uvx\n\n# about b\nb:\n  c: 2\n";
        let expected = "a: 1\nmcp_servers: # tools\n    git:\n        command: uvx\n    helmdeck:\n      \
                        headers:\n        A: \"b\"\n      url: \"u\"\n\n# about b\nb:\n  c: 2\n";
        let changed = put_url(text).unwrap();
        assert_eq!(changed, expected);
        assert_eq!(put_url(&changed).unwrap(), expected);

        let old =
            "mcp_servers:\n  helmdeck:\n    command: old\n    env:\n      K: v\n  git:\n    a: b\n";
        let changed = put_url(old).unwrap();
        assert!(!changed.contains("old") && !changed.contains("K: v"), "{changed}");
        assert!(changed.contains("  git:\n    a: b\n  helmdeck:\n    headers:"), "{changed}");
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for text in [
            "mcp_servers: {git: {command: a}}\n",
            "\"mcp_servers\":\n  git: {}\n",
            "a: 1\n---\nb: 2\n",
            "mcp_servers:\n\tgit: {}\n",
            "mcp_servers: *shared\n",
        ] {
            assert!(put_url(text).is_err(), "{text:?}");
        }
    }
}
