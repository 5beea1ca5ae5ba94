//! `github.create_pr`: opens a pull request.

use helmdeck_wire::nature::Nature;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    Context, Pack, PackResult, Routing,
    github::{CredentialName, GitHub, PullRequest, Repo},
};

/// Open a pull request on GitHub.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GithubCreatePr")]
struct Input {
    /// The repository: `owner/name`.
    repo: Repo,
    /// The branch with the changes; `user:branch` for a fork.
    #[schemars(length(min = 1, max = 300))]
    head: String,
    /// The branch to change.
    #[schemars(length(min = 1, max = 255))]
    base: String,
    /// The title.
    #[schemars(length(min = 1, max = 256))]
    title: String,
    /// The text, as Markdown.
    #[serde(default)]
    #[schemars(length(max = 65536))]
    body: Option<String>,
    /// Whether it is a draft.
    #[serde(default)]
    draft: bool,
    /// Name of a credential; `github-token` by default.
    #[serde(default)]
    credential: Option<CredentialName>,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("github.create_pr", run)
        .doc("Open a pull request in a GitHub repository. Push the branch first, with repo.push.")
        .nature(Nature { open_world: true, ..Nature::default().changes_world() })
        .credential("github-token")
        .timeout_s(120)
        .switch(crate::pack::Switch::Github)
        .example(
            "Propose a branch",
            serde_json::json!({ "repo": "octocat/Hello-World", "head": "fix-build", "base": "main", "title": "Fix the build" }),
        )
        .routing(Routing {
            accepts: &["repo", "branch", "text"],
            produces: &["pull_request"],
            intent_keywords: &["github", "pull", "request", "pr", "create", "merge"],
            typical_use: "Propose a change after repo.push.",
            limitations: &["It does not merge."],
        })
}

async fn run(context: Context, input: Input) -> PackResult<PullRequest> {
    let body = json!({
        "title": input.title, "head": input.head, "base": input.base,
        "body": input.body.unwrap_or_default(), "draft": input.draft,
    });
    let github = GitHub::writing(&context, input.credential.as_ref());
    let made = github.post(&input.repo.path("pulls"), &body).await?;
    Ok(PullRequest::single(&made))
}
