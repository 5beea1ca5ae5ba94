//! Changes one table of a TOML file and keeps the rest, with comments.

use helmdeck_wire::connect::Format;
use serde_json::Value;
use toml::Table;

/// The text with this entry as the table of these keys, whatever was there before.
pub fn put(text: &str, keys: &[&str], entry: &Value) -> Result<String, String> {
    let mut expected = parse(text)?;
    let name = keys.join(".");
    let block = Format::Toml.render(keys, entry);
    let (before, after) = around(text, &name);
    let changed = match (before.trim().is_empty(), after.trim().is_empty()) {
        (true, true) => block,
        (true, false) => format!("{block}\n{after}"),
        (false, _) => {
            let gap = if after.trim().is_empty() { "" } else { "\n" };
            format!("{}\n\n{block}{gap}{after}", before.trim_end())
        }
    };
    set(&mut expected, keys, entry)?;
    match parse(&changed) {
        Ok(after) if after == expected => Ok(changed),
        _ => Err(format!("{name} is written in a way that is not understood")),
    }
}

fn parse(text: &str) -> Result<Table, String> {
    toml::from_str(text).map_err(|error| format!("it is not valid TOML: {error}"))
}

fn set(table: &mut Table, keys: &[&str], entry: &Value) -> Result<(), String> {
    let Some((first, rest)) = keys.split_first() else { return Ok(()) };
    if rest.is_empty() {
        let entry = toml::Value::try_from(entry).map_err(|error| error.to_string())?;
        table.insert((*first).to_owned(), entry);
        return Ok(());
    }
    let inner = table.entry(*first).or_insert_with(|| toml::Value::Table(Table::new()));
    match inner {
        toml::Value::Table(inner) => set(inner, rest, entry),
        _ => Err(format!("{first:?} in it is not a table")),
    }
}

/// The text before and after the table with this name and its subtables.
fn around(text: &str, name: &str) -> (String, String) {
    let (mut before, mut after, mut held) = (String::new(), String::new(), String::new());
    let (mut ours, mut found) = (false, false);
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        if trimmed.starts_with('[') {
            ours = is_table(trimmed, name);
            found |= ours;
            // Comments before the next table belong to that one.
            let held = std::mem::take(&mut held);
            if !ours {
                after += &held;
            }
        } else if ours {
            let is_comment = trimmed.is_empty() || trimmed.starts_with('#');
            if is_comment {
                held += line;
            } else {
                held.clear();
            }
        }
        if !ours {
            if found { after += line } else { before += line }
        }
    }
    (before, after)
}

fn is_table(header: &str, name: &str) -> bool {
    let inner = header.trim_start_matches('[').split(']').next().unwrap_or_default();
    let inner: String = inner.chars().filter(|c| !c.is_whitespace() && *c != '"').collect();
    inner == name || inner.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const KEYS: [&str; 2] = ["mcp_servers", "helmdeck"];

    fn put_url(text: &str) -> Result<String, String> {
        put(text, &KEYS, &json!({ "url": "u", "http_headers": { "A": "b" } }))
    }

    #[test]
    fn the_table_is_added_and_replaced_and_everything_else_stays() {
        const BLOCK: &str = "[mcp_servers.helmdeck]\nhttp_headers = { A = \"b\" }\nurl = \"u\"\n";
        assert_eq!(put_url("").unwrap(), BLOCK);
        let text = "# mine\nmodel = \"x\"\n\n[mcp_servers.git]\ncommand = \"uvx\" # yes\n";
        let changed = put_url(text).unwrap();
        assert_eq!(changed, format!("{text}\n{BLOCK}"));
        assert_eq!(put_url(&changed).unwrap(), changed);

        let old = "a = 1\n\n[mcp_servers.helmdeck]\ncommand = \"x\"\n[mcp_servers.helmdeck.env]\n\
                   K = \"v\"\n\n# about tui\n[tui]\nb = [\n  2,\n]\n";
        let changed = put_url(old).unwrap();
        assert_eq!(changed, format!("a = 1\n\n{BLOCK}\n\n# about tui\n[tui]\nb = [\n  2,\n]\n"));
    }

    #[test]
    fn a_file_that_is_not_valid_or_not_understood_is_refused() {
        for text in
            ["a = ", "[x", "mcp_servers = 1\n", "mcp_servers = { git = { command = \"a\" } }\n"]
        {
            assert!(put_url(text).is_err(), "{text:?}");
        }
    }
}
