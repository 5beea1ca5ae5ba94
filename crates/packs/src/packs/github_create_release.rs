//! `github.create_release`: publishes a release.

use helmdeck_wire::nature::Nature;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    Context, Pack, PackResult, Routing,
    github::{CredentialName, GitHub, Release, Repo},
    json::without_nulls,
};

/// Publish a release on GitHub.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GithubCreateRelease")]
struct Input {
    /// The repository: `owner/name`.
    repo: Repo,
    /// The tag. GitHub creates one that does not exist.
    #[schemars(length(min = 1, max = 255))]
    tag: String,
    /// The name; the tag by default.
    #[serde(default)]
    #[schemars(length(min = 1, max = 256))]
    name: Option<String>,
    /// The text, as Markdown.
    #[serde(default)]
    #[schemars(length(max = 125_000))]
    body: Option<String>,
    /// The branch or commit of a new tag; the default branch if absent.
    #[serde(default)]
    #[schemars(length(min = 1, max = 255))]
    target: Option<String>,
    /// Whether it is a draft, which only the repository's members see.
    #[serde(default)]
    draft: bool,
    /// Whether it is a prerelease.
    #[serde(default)]
    prerelease: bool,
    /// Name of a credential; `github-token` by default.
    #[serde(default)]
    credential: Option<CredentialName>,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("github.create_release", run)
        .doc("Publish a release in a GitHub repository.")
        .nature(Nature { open_world: true, ..Nature::default().changes_world() })
        .credential("github-token")
        .timeout_s(120)
        .switch(crate::pack::Switch::Github)
        .example(
            "Draft a release",
            serde_json::json!({ "repo": "octocat/Hello-World", "tag": "v1.2.0", "name": "1.2.0", "draft": true }),
        )
        .routing(Routing {
            accepts: &["repo", "tag", "text"],
            produces: &["release"],
            intent_keywords: &["github", "release", "publish", "tag", "version"],
            typical_use: "Publish a version.",
            limitations: &["It uploads no files."],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Release> {
    let body = without_nulls(json!({
        "tag_name": input.tag, "name": input.name.unwrap_or_else(|| input.tag.clone()),
        "body": input.body.unwrap_or_default(), "draft": input.draft,
        "prerelease": input.prerelease, "target_commitish": input.target,
    }));
    let github = GitHub::writing(&context, input.credential.as_ref());
    Ok(Release::new(&github.post(&input.repo.path("releases"), &body).await?))
}
