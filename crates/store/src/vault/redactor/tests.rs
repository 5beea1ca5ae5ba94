//! Secrets in every spelling, whole and in chunks.

use base64::{
    Engine as _,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD},
};
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn redactor(secret: &str) -> Redactor {
    let mut redactor = Redactor::default();
    redactor.add_bytes(secret.as_bytes());
    redactor
}

/// Percent-encodes with upper or lower case, leaving some bytes as they are.
fn percent(text: &str, lower: bool, keep: &str) -> String {
    let one = |byte: u8| match byte {
        byte if byte.is_ascii_alphanumeric() || keep.as_bytes().contains(&byte) => {
            char::from(byte).to_string()
        }
        byte if lower => format!("%{byte:02x}"),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}

/// JSON with every character that is not ASCII escaped.
fn ascii_json(text: &str) -> String {
    let escaped = |c: char| match c.is_ascii() {
        true => c.to_string(),
        false => c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
    };
    inside(&json!(text).to_string()).chars().map(escaped).collect()
}

/// Without the quotes around it.
fn inside(json: &str) -> &str {
    &json[1..json.len() - 1]
}

/// The ways in which a secret can appear.
fn spellings(secret: &str, before: &str, after: &str) -> Vec<String> {
    let whole = format!("{before}{secret}{after}");
    vec![
        secret.to_owned(),
        percent(secret, false, "-_.~"),
        percent(secret, true, "-_.~"),
        percent(secret, false, ""),
        percent(secret, false, "!$&'()*+,;=:@/"),
        percent(secret, false, "-_.~").replace("%20", "+"),
        inside(&json!(secret).to_string()).to_owned(),
        ascii_json(secret),
        BASE64_STANDARD.encode(secret),
        BASE64_URL_SAFE_NO_PAD.encode(secret),
        BASE64_STANDARD.encode(&whole),
        BASE64_URL_SAFE_NO_PAD.encode(&whole),
        percent(&BASE64_STANDARD.encode(&whole), false, ""),
    ]
}

/// A part that would give the secret away.
fn core(spelling: &str) -> &str {
    let length = spelling.len();
    let (mut from, mut to) = (length / 4, length - length / 4);
    while !spelling.is_char_boundary(from) {
        from -= 1;
    }
    while !spelling.is_char_boundary(to) {
        to += 1;
    }
    &spelling[from..to]
}

proptest! {
    #[test]
    fn no_spelling_of_a_secret_is_left(
        secret in "[ -~äé€😀\n\"\\\\%+/]{12,60}",
        before in "[a-z]{0,5}",
        after in "[a-z]{0,5}",
    ) {
        let redactor = redactor(&secret);
        for spelling in spellings(&secret, &before, &after) {
            let text = format!("<p>{spelling}</p>");
            let redacted = redactor.apply(&text);
            prop_assert!(redacted.contains(MASK), "{spelling:?}");
            prop_assert!(!redacted.contains(core(&spelling)), "{spelling:?} in {redacted:?}");
            prop_assert!(redacted.starts_with("<p>") && redacted.ends_with("</p>"));
        }
    }

    #[test]
    fn chunks_are_redacted_like_the_whole(
        secret in "[a-c%+\"\\\\ é]{4,12}",
        parts in prop::collection::vec("[a-c%+\"\\\\ é]{0,6}", 0..12),
        size in 1_usize..9,
    ) {
        let redactor = redactor(&secret);
        let text = parts.join(&format!("x{secret}x"));
        let mut stream = redactor.stream();
        let mut out = Vec::new();
        for chunk in text.as_bytes().chunks(size) {
            out.extend(stream.push(chunk));
        }
        out.extend(stream.finish());
        let whole = redactor.apply_bytes(text.as_bytes()).into_owned();
        prop_assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(&whole));
    }

    #[test]
    fn other_text_is_left_alone(text in "[a-z %\\\\+]{0,60}") {
        let redacted = redactor("SECRET-KEY");
        prop_assert_eq!(redacted.apply(&text), text.as_str());
    }
}

#[test]
fn the_longest_of_several_secrets_is_replaced_whole() {
    let mut redactor = Redactor::default();
    redactor.add_bytes(b"abcd");
    redactor.add_bytes(b"abcdefgh");
    assert_eq!(redactor.apply("1abcdefgh2abcd3abcdef"), "1•••2•••3•••ef");
    let mut stream = redactor.stream();
    assert_eq!(stream.push(b"1abcd"), b"1", "a longer one may follow");
    assert_eq!(stream.push(b"efgh2"), "•••2".as_bytes());
    assert_eq!(stream.finish(), b"");
}

#[test]
fn a_stream_holds_back_only_what_may_become_a_secret() {
    let mut stream = redactor("hunter22").stream();
    assert_eq!(stream.push(b"log line\nhunt"), b"log line\n");
    assert_eq!(stream.push(b"ing\n"), b"hunting\n");
    assert_eq!(stream.push(b"hunter"), b"");
    assert_eq!(stream.finish(), b"hunter");
}

#[test]
fn the_parts_of_a_login_and_the_lines_of_a_key_are_secret_and_names_are_not() {
    let login = r#"{"username": "ann.smith", "password": "correct horse", "note": "x"}"#;
    let mut redactor = Redactor::default();
    redactor.add(&Secret::new("a", CredentialType::Login, login.into()));
    let shown = redactor.apply("ann.smith typed correct%20horse");
    assert_eq!(shown, "ann.smith typed •••");
    assert_eq!(redactor.apply(login), MASK);

    let mut redactor = Redactor::default();
    redactor.add(&Secret::new("b", CredentialType::Ssh, b"BEGIN\nc2VjcmV0bGluZQ\nEND\n".into()));
    assert_eq!(redactor.apply("got c2VjcmV0bGluZQ"), "got •••");
}

#[test]
fn json_is_redacted_in_values_and_names() {
    let value = json!({ "a": ["x hunter22"], "hunter22": 5, "n": null });
    let expected = json!({ "a": ["x •••"], "•••": 5, "n": null });
    assert_eq!(redactor("hunter22").apply_json(value), expected);
}

#[test]
fn a_basic_authorization_header_is_redacted() {
    let header = format!("Basic {}", BASE64_STANDARD.encode("ann:hunter2-hunter2"));
    let shown = redactor("hunter2-hunter2").apply(&header).into_owned();
    assert!(shown.starts_with("Basic ") && shown.contains(MASK), "{shown}");
    assert!(!shown.contains(core(&BASE64_STANDARD.encode("hunter2-hunter2"))), "{shown}");
}
