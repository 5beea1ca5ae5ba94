//! `github.get_issue`: reads an issue.

use helmdeck_wire::nature::Nature;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Context, Pack, PackResult, Routing,
    github::{CredentialName, GitHub, Issue, Repo},
};

/// Read an issue on GitHub.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GithubGetIssue")]
struct Input {
    /// The repository: `owner/name`.
    repo: Repo,
    /// Number of the issue or pull request.
    #[schemars(range(min = 1))]
    issue_number: u64,
    /// Name of a credential; `github-token` by default, if there is one.
    #[serde(default)]
    credential: Option<CredentialName>,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("github.get_issue", run)
        .doc("Read an issue or pull request of a GitHub repository.")
        .nature(Nature { open_world: true, ..Nature::default().reads() })
        .resumable()
        .cacheable()
        .timeout_s(120)
        .switch(crate::pack::Switch::Github)
        .example(
            "Read an issue",
            serde_json::json!({ "repo": "octocat/Hello-World", "issue_number": 42 }),
        )
        .routing(Routing {
            accepts: &["repo", "issue_number"],
            produces: &["issue"],
            intent_keywords: &["github", "issue", "read", "show", "get"],
            typical_use: "Read what an issue asks for.",
            limitations: &["Without its comments."],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Issue> {
    let github = GitHub::reading(&context, input.credential.as_ref());
    let path = input.repo.path(&format!("issues/{}", input.issue_number));
    Ok(Issue::single(&github.get(&path).await?))
}
