//! `artifact.list`: lists artifacts.

use helmdeck_store::ArtifactFilter;
use helmdeck_wire::{artifact::Artifact, nature::Nature};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::{Context, Pack, PackResult, Routing};

/// List artifacts, newest first.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ArtifactListInput")]
struct Input {
    /// Only of this namespace: the pack that made it, or the one of `artifact.put`.
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    namespace: Option<String>,
    /// Only file names that contain this text, in any case.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200))]
    filename: Option<String>,
    /// Only media types that begin with this text, such as `image/`.
    #[serde(default)]
    #[schemars(length(min = 1, max = 127))]
    content_type: Option<String>,
    /// Only of this job.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200))]
    job_id: Option<String>,
    /// How many to list.
    #[serde(default = "limit")]
    #[schemars(range(min = 1, max = 1000))]
    limit: u32,
    /// Continue after the page that returned this as `next_before`.
    #[serde(default)]
    before: Option<u64>,
}

fn limit() -> u32 {
    100
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ArtifactListOutput")]
struct Output {
    /// The artifacts.
    artifacts: Vec<Listed>,
    /// How many are in this reply.
    count: usize,
    /// Whether there are more.
    truncated: bool,
    /// `before` of the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_before: Option<u64>,
}

/// An artifact in a list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ListedArtifact")]
struct Listed {
    /// Its key.
    artifact_key: String,
    /// File name.
    filename: String,
    /// The pack that made it, or the namespace of `artifact.put`.
    namespace: String,
    /// Media type.
    content_type: String,
    /// Size in bytes.
    size: u64,
    /// When it was stored.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    created_at: OffsetDateTime,
    /// Path of its content on the server.
    url: String,
}

impl From<Artifact> for Listed {
    fn from(artifact: Artifact) -> Self {
        Self {
            artifact_key: artifact.key.to_string(),
            filename: artifact.filename,
            namespace: artifact.pack,
            content_type: artifact.content_type,
            size: artifact.size,
            created_at: artifact.created_at,
            url: artifact.url,
        }
    }
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("artifact.list", run)
        .doc("List your artifacts, newest first: files that packs made and files that were uploaded.")
        .nature(Nature::default().reads())
        .resumable()
        .example(
            "The pictures that a pack took",
            serde_json::json!({ "namespace": "browser.screenshot_url", "content_type": "image/" }),
        )
        .routing(Routing {
            accepts: &[],
            produces: &["artifact"],
            intent_keywords: &["list", "artifact", "files", "find", "results"],
            typical_use: "Find the key of a file.",
            limitations: &[],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Output> {
    let filter = ArtifactFilter {
        namespace: input.namespace,
        name: input.filename,
        content_type: input.content_type,
        job: input.job_id,
        before: input.before,
        limit: input.limit,
    };
    let page = context.artifacts.list(&filter).await?;
    let artifacts: Vec<Listed> = page.artifacts.into_iter().map(Listed::from).collect();
    Ok(Output {
        count: artifacts.len(),
        artifacts,
        truncated: page.next.is_some(),
        next_before: page.next,
    })
}
