//! `github.create_issue`: opens an issue.

use helmdeck_wire::nature::Nature;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    Context, Pack, PackResult, Routing,
    github::{CredentialName, GitHub, Issue, Repo},
    json::without_nulls,
};

/// Open an issue on GitHub.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GithubCreateIssue")]
struct Input {
    /// The repository: `owner/name`.
    repo: Repo,
    /// The title.
    #[schemars(length(min = 1, max = 256))]
    title: String,
    /// The text, as Markdown.
    #[serde(default)]
    #[schemars(length(max = 65536))]
    body: Option<String>,
    /// Names of labels.
    #[serde(default)]
    #[schemars(length(max = 100))]
    labels: Vec<String>,
    /// User names to assign it to.
    #[serde(default)]
    #[schemars(length(max = 10))]
    assignees: Vec<String>,
    /// Name of a credential; `github-token` by default.
    #[serde(default)]
    credential: Option<CredentialName>,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("github.create_issue", run)
        .doc("Open an issue in a GitHub repository.")
        .nature(Nature { open_world: true, ..Nature::default().changes_world() })
        .credential("github-token")
        .timeout_s(120)
        .switch(crate::pack::Switch::Github)
        .example(
            "Report a fault",
            serde_json::json!({ "repo": "octocat/Hello-World", "title": "The build fails", "body": "Since the last commit.", "labels": ["bug"] }),
        )
        .routing(Routing {
            accepts: &["repo", "text"],
            produces: &["issue"],
            intent_keywords: &["github", "issue", "create", "report", "bug"],
            typical_use: "Report a problem.",
            limitations: &[],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Issue> {
    let assignees = (!input.assignees.is_empty()).then_some(&input.assignees);
    let body = without_nulls(json!({
        "title": input.title, "labels": input.labels, "body": input.body, "assignees": assignees,
    }));
    let github = GitHub::writing(&context, input.credential.as_ref());
    let made = github.post(&input.repo.path("issues"), &body).await?;
    Ok(Issue::single(&made))
}
