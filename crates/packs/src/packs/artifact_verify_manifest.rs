//! `artifact.verify_manifest`: checks that artifacts exist.

use helmdeck_wire::{ErrorCode, nature::Nature};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Context, Pack, PackError, PackResult, Routing};

/// Check that artifacts exist.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ArtifactVerifyManifest")]
struct Input {
    /// Keys, or objects with a key and what else must match.
    #[schemars(length(min = 1, max = 1000))]
    expected: Vec<Expected>,
}

/// An expected artifact.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "ExpectedArtifact")]
enum Expected {
    /// Its key.
    Key(String),
    /// Its key, and what else must match.
    Described(Described),
}

/// An artifact with properties.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DescribedArtifact")]
struct Described {
    /// Its key.
    artifact_key: String,
    /// SHA-256 of its content, in hexadecimal.
    #[serde(default)]
    sha256: Option<String>,
    /// Its size in bytes.
    #[serde(default)]
    size: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ArtifactVerifyManifestOutput")]
struct Output {
    /// Keys of artifacts that exist and match.
    verified: Vec<String>,
    /// The others.
    missing: Vec<Missing>,
    /// Whether none is missing.
    all_present: bool,
    /// The result in a sentence.
    summary: String,
}

/// An artifact that does not exist or does not match.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "MissingArtifact")]
struct Missing {
    /// The key.
    artifact_key: String,
    /// Why.
    reason: String,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("artifact.verify_manifest", run)
        .doc(
            "Check that artifacts exist, and match in size and SHA-256 if given. Reads no content.",
        )
        .nature(Nature::default().reads())
        .resumable()
        .example(
            "Check that two files exist",
            serde_json::json!({ "expected": ["artifact.put/0123456789abcdef-summary.md", { "artifact_key": "artifact.put/0123456789abcdef-data.csv", "size": 5120 }] }),
        )
        .routing(Routing {
            accepts: &["artifact"],
            produces: &["report"],
            intent_keywords: &["verify", "check", "manifest", "artifact", "exists"],
            typical_use: "Check at the end of a piece of work that every file was made.",
            limitations: &[],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Output> {
    let total = input.expected.len();
    let (mut verified, mut missing) = (Vec::new(), Vec::new());
    for expected in input.expected {
        let wanted = match expected {
            Expected::Key(artifact_key) => Described { artifact_key, sha256: None, size: None },
            Expected::Described(described) => described,
        };
        match mismatch(&context, &wanted).await? {
            None => verified.push(wanted.artifact_key),
            Some(reason) => missing.push(Missing { artifact_key: wanted.artifact_key, reason }),
        }
    }
    let summary = match missing.len() {
        0 => format!("all {total} artifacts are present"),
        lacking => format!("{lacking} of {total} artifacts are missing or differ"),
    };
    Ok(Output { all_present: missing.is_empty(), verified, missing, summary })
}

/// Why an artifact is not as expected.
async fn mismatch(context: &Context, wanted: &Described) -> PackResult<Option<String>> {
    let shown = match context.artifacts.show("expected", &wanted.artifact_key).await {
        Ok(shown) => shown,
        Err(error) if is_about_key(&error) => return Ok(Some(error.to_string())),
        Err(error) => return Err(error),
    };
    let differs = wanted.size.filter(|size| *size != shown.size).map(|size| {
        let actual = shown.size;
        format!("it has {actual} bytes instead of {size}")
    });
    Ok(differs.or_else(|| {
        let other = wanted.sha256.as_ref().filter(|it| !it.eq_ignore_ascii_case(&shown.sha256));
        other.map(|_| format!("its SHA-256 is {}", shown.sha256))
    }))
}

fn is_about_key(error: &PackError) -> bool {
    matches!(error.code(), ErrorCode::ArtifactNotFound | ErrorCode::InvalidInput)
}
