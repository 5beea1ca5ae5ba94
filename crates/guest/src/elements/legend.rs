//! What the numbered marks of a picture are on, as the value of a header.

use helmdeck_wire::tree::Candidate;
use serde_json::json;

/// Clients limit the size of headers; some to 16 KB for all of them.
const MAX_BYTES: usize = 8000;
/// The longest name, in characters.
const MAX_NAME: usize = 40;

/// A JSON array in the order of the numbers. Names are left out where it would become too long.
pub fn legend(marked: &[Candidate]) -> String {
    // What the entries take without names.
    let mut room =
        marked.iter().fold(MAX_BYTES, |room, it| room.saturating_sub(entry(it, "").len()));
    let entries: Vec<String> = marked
        .iter()
        .map(|it| {
            let name: String = it.name.chars().take(MAX_NAME).collect();
            let named = entry(it, &name);
            let more = named.len() - entry(it, "").len().min(named.len());
            if more <= room {
                room -= more;
                named
            } else {
                entry(it, "")
            }
        })
        .collect();
    format!("[{}]", entries.join(","))
}

fn entry(element: &Candidate, name: &str) -> String {
    let Candidate { reference, role, .. } = element;
    escaped(&json!({ "ref": reference, "role": role, "name": name }).to_string())
}

/// JSON in ASCII, which headers are limited to.
fn escaped(json: &str) -> String {
    let mut ascii = String::with_capacity(json.len());
    for character in json.chars() {
        if character.is_ascii() && !character.is_ascii_control() {
            ascii.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            ascii.push_str(&format!("\\u{unit:04x}"));
        }
    }
    ascii
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn candidate(name: &str) -> Candidate {
        let reference = Some("a1".to_owned());
        Candidate {
            reference,
            role: "button".to_owned(),
            name: name.to_owned(),
            ..Candidate::default()
        }
    }

    #[test]
    fn a_legend_is_ascii_and_names_every_mark() {
        let text = legend(&[candidate("Größe 🎉"), candidate("\"OK\"\n")]);
        assert!(text.is_ascii() && !text.contains('\n'));
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read[0], json!({ "ref": "a1", "role": "button", "name": "Größe 🎉" }));
        assert_eq!(read[1]["name"], "\"OK\"\n");
    }

    #[test]
    fn a_long_legend_loses_names_not_marks() {
        let many = vec![candidate(&"é".repeat(200)); 100];
        let text = legend(&many);
        assert!(text.len() <= MAX_BYTES + 200, "{}", text.len());
        let read: Vec<Value> = serde_json::from_str(&text).unwrap();
        assert_eq!(read.len(), 100);
        assert_eq!(read[0]["name"], "é".repeat(MAX_NAME));
        assert_eq!(read[99]["name"], "");
    }
}
