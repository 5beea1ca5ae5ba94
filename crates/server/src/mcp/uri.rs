//! Addresses of resources.

use helmdeck_wire::{SessionId, artifact::percent_encoded};

/// What all of them begin with.
pub const SCHEME: &str = "helmdeck://";

/// The address of a session's screen.
pub fn screenshot(session: &SessionId) -> String {
    format!("{SCHEME}sessions/{session}/screenshot")
}

/// The address of a file of a session's home.
pub fn file(session: &SessionId, path: &str) -> String {
    let path = percent_encoded(path.trim_start_matches('/'), "/");
    format!("{SCHEME}sessions/{session}/files/{path}")
}

/// The address of an artifact.
pub fn artifact(key: &str) -> String {
    format!("{SCHEME}artifacts/{}", percent_encoded(key, "/"))
}

/// The path of the HTTP API with the same content as a file's address.
pub fn http_path(uri: &str) -> Option<String> {
    uri.strip_prefix(SCHEME).map(|path| format!("/api/v1/{path}"))
}

/// A part of an address as a name. What is no code of a byte stays as it is: clients also send names
/// that are not encoded.
pub fn decoded(part: &str) -> String {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| *first == b'%');
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        let code = code.filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()));
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| part.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_spaces_and_letters_of_any_language_comes_back() {
        let uri = file(&SessionId::new("s1"), "/My Büro/100% #1?.txt");
        assert_eq!(uri, "helmdeck://sessions/s1/files/My%20B%C3%BCro/100%25%20%231%3F.txt");
        assert_eq!(decoded(uri.rsplit_once("files/").unwrap().1), "My Büro/100% #1?.txt");
        for plain in ["100%", "a%zzb", "%+1", "über"] {
            assert_eq!(decoded(plain), plain);
        }
        assert_eq!(decoded("%FF"), "%FF", "no text has this byte");
    }
}
