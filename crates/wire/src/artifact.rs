//! Artifacts: files that packs and callers keep for a while.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use time::OffsetDateTime;

/// Namespace of files that callers upload.
pub const UPLOADS: &str = "operator-uploads";
/// Default lifetime of a link, in seconds.
pub const LINK_LIFE_S: u64 = 15 * 60;
/// Maximum lifetime of a link, in seconds.
pub const MAX_LINK_LIFE_S: u64 = 7 * 24 * 3600;
/// Maximum length of a namespace.
const MAX_NAMESPACE: usize = 64;
/// Maximum length of a file name, in bytes.
const MAX_NAME: usize = 200;
/// Number of hexadecimal digits in a key.
const DIGITS: usize = 16;
/// Path segments of the API, which would hide a namespace of the same name.
const RESERVED: [&str; 3] = ["download", "link", "upload"];

/// The key of an artifact: `<namespace>/<16 hexadecimal digits>-<file name>`.
///
/// Neither the namespace nor the file name contains a `/`, so a key has one meaning only.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct ArtifactKey(String);

impl ArtifactKey {
    /// The key of a new artifact. The error explains what is wrong with the namespace or the name.
    pub fn new(namespace: &str, random: [u8; DIGITS / 2], name: &str) -> Result<Self, BadKey> {
        check_namespace(namespace)?;
        check_name(name)?;
        Ok(Self(format!("{namespace}/{:016x}-{name}", u64::from_be_bytes(random))))
    }

    /// Parses a key; `None` if no artifact can have it.
    pub fn parse(text: &str) -> Option<Self> {
        let (namespace, rest) = text.split_once('/')?;
        let (digits, name) = rest.split_at_checked(DIGITS)?;
        let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        let name = name.strip_prefix('-').filter(|_| digits.bytes().all(is_digit))?;
        check_namespace(namespace).and(check_name(name)).ok()?;
        Some(Self(text.to_owned()))
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The pack that made it, or [`UPLOADS`].
    pub fn namespace(&self) -> &str {
        self.0.split_once('/').map_or("", |(namespace, _)| namespace)
    }

    /// The file name.
    pub fn name(&self) -> &str {
        let rest = self.0.split_once('/').and_then(|(_, rest)| rest.get(DIGITS + 1..));
        rest.unwrap_or_default()
    }

    /// Path of its content on the server.
    pub fn download_path(&self) -> String {
        format!("/api/v1/artifacts/download/{}", percent_encoded(&self.0, "/"))
    }
}

impl fmt::Display for ArtifactKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for ArtifactKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom(format!("no artifact has key {text:?}")))
    }
}

/// What is wrong with the parts of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadKey {
    /// The namespace.
    #[error(
        "a namespace has 1 to 64 lower-case letters, digits, `.`, `_` or `-`, begins with a letter \
         or digit, and is not download, link or upload"
    )]
    Namespace,
    /// The file name.
    #[error("a file name has 1 to 200 bytes without `/`, `\\` and control characters")]
    Name,
}

fn check_namespace(text: &str) -> Result<(), BadKey> {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let fits = (1..=MAX_NAMESPACE).contains(&text.len()) && !RESERVED.contains(&text);
    let begins = text.bytes().next().is_some_and(plain);
    let rest = text.bytes().all(|b| plain(b) || b"._-".contains(&b));
    (fits && begins && rest).then_some(()).ok_or(BadKey::Namespace)
}

fn check_name(text: &str) -> Result<(), BadKey> {
    let fits = (1..=MAX_NAME).contains(&text.len()) && text != "." && text != "..";
    let plain = !text.contains(|c: char| c == '/' || c == '\\' || c.is_control());
    (fits && plain).then_some(()).ok_or(BadKey::Name)
}

/// A valid file name that is like the one a client sent: without folders and control characters.
pub fn file_name(sent: &str) -> String {
    let name = sent.rsplit(['/', '\\']).next().unwrap_or_default();
    let mut name: String = name.chars().filter(|c| !c.is_control()).collect();
    while name.len() > MAX_NAME {
        name.pop();
    }
    let name = name.trim();
    if check_name(name).is_ok() { name.to_owned() } else { "file".to_owned() }
}

/// Percent-encodes a text for a URL, except for these characters.
pub fn percent_encoded(text: &str, except: &str) -> String {
    let plain =
        |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b) || except.as_bytes().contains(&b);
    text.bytes().fold(String::with_capacity(text.len()), |mut encoded, byte| {
        if plain(byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
        encoded
    })
}

/// A stored file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Artifact {
    /// Its key.
    #[schemars(with = "String")]
    pub key: ArtifactKey,
    /// Path of its content on the server.
    pub url: String,
    /// File name.
    pub filename: String,
    /// Size in bytes.
    pub size: u64,
    /// Media type that the uploader or the pack declared.
    pub content_type: String,
    /// SHA-256 of the content, in hexadecimal digits.
    pub sha256: String,
    /// The pack that made it; `operator-uploads` for uploads.
    pub pack: String,
    /// The job that made it.
    pub job_id: Option<String>,
    /// Its owner.
    pub owner: String,
    /// When it was stored.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub created_at: OffsetDateTime,
    /// When it will be deleted; null if never.
    #[serde(default, with = "time::serde::rfc3339::option")]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub expires_at: Option<OffsetDateTime>,
}

/// Artifacts that the caller may see, newest first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactList {
    /// The artifacts.
    pub artifacts: Vec<Artifact>,
    /// How many there are in this reply.
    pub count: usize,
    /// `before` of the next page; null on the last one.
    pub next_before: Option<u64>,
    /// Bytes of all artifacts of the caller.
    pub used_bytes: u64,
    /// How many bytes the caller's artifacts may have; null without a limit.
    pub quota_bytes: Option<u64>,
}

/// An uploaded file.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Uploaded {
    /// Key of the artifact.
    #[schemars(with = "String")]
    pub artifact_key: ArtifactKey,
    /// Path of its content on the server.
    pub url: String,
    /// Size in bytes.
    pub size: u64,
    /// Media type.
    pub content_type: String,
    /// File name.
    pub filename: String,
}

/// A link that works without a token.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactLink {
    /// The address.
    pub url: String,
    /// When it stops working.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub expires_at: OffsetDateTime,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_a_namespace_digits_and_a_name() {
        let key = ArtifactKey::new("browser.screenshot_url", [0xab; 8], "a-b c?.png").unwrap();
        assert_eq!(key.as_str(), "browser.screenshot_url/abababababababab-a-b c?.png");
        assert_eq!((key.namespace(), key.name()), ("browser.screenshot_url", "a-b c?.png"));
        assert_eq!(ArtifactKey::parse(key.as_str()), Some(key.clone()));
        assert_eq!(
            key.download_path(),
            "/api/v1/artifacts/download/browser.screenshot_url/abababababababab-a-b%20c%3F.png"
        );
    }

    #[test]
    fn a_key_cannot_name_a_path_elsewhere() {
        for bad in [
            "",
            "/",
            "p",
            "p/",
            "p/0123456789abcdef",
            "p/0123456789abcdef-",
            "p/0123456789abcdef-..",
            "p/0123456789abcdef-a/b",
            "p/0123456789abcdef-a\\b",
            "p/0123456789abcdef-a\n",
            "p/0123456789ABCDEF-a",
            "p/0123456789abcde-a",
            "p/q/0123456789abcdef-a",
            "../0123456789abcdef-a",
            "P/0123456789abcdef-a",
            "/0123456789abcdef-a",
            "download/0123456789abcdef-a",
            "p/0123456789abcdeé-a",
        ] {
            assert_eq!(ArtifactKey::parse(bad), None, "{bad:?}");
        }
        assert_eq!(ArtifactKey::new("a/b", [0; 8], "x"), Err(BadKey::Namespace));
        assert_eq!(ArtifactKey::new("upload", [0; 8], "x"), Err(BadKey::Namespace));
        assert_eq!(ArtifactKey::new(&"a".repeat(65), [0; 8], "x"), Err(BadKey::Namespace));
        assert_eq!(ArtifactKey::new("a", [0; 8], &"x".repeat(201)), Err(BadKey::Name));
    }

    #[test]
    fn a_sent_file_name_is_made_valid() {
        for (sent, name) in [
            ("a.png", "a.png"),
            ("C:\\fakepath\\a.png", "a.png"),
            ("../../etc/passwd", "passwd"),
            ("a\r\nb", "ab"),
            ("", "file"),
            ("..", "file"),
            ("dir/", "file"),
            ("Übersicht 1.pdf", "Übersicht 1.pdf"),
        ] {
            assert_eq!(file_name(sent), name, "{sent:?}");
        }
        assert_eq!(file_name(&"ü".repeat(150)).len(), 200);
    }
}
