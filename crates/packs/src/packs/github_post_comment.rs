//! `github.post_comment`: comments on an issue.

use helmdeck_wire::nature::Nature;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    Context, Pack, PackResult, Routing,
    github::{Comment, CredentialName, GitHub, Repo},
};

/// Comment on an issue or pull request on GitHub.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GithubPostComment")]
struct Input {
    /// The repository: `owner/name`.
    repo: Repo,
    /// Number of the issue or pull request.
    #[schemars(range(min = 1))]
    issue_number: u64,
    /// The comment, as Markdown.
    #[schemars(length(min = 1, max = 65536))]
    body: String,
    /// Name of a credential; `github-token` by default.
    #[serde(default)]
    credential: Option<CredentialName>,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("github.post_comment", run)
        .doc("Comment on an issue or pull request of a GitHub repository.")
        .nature(Nature { open_world: true, ..Nature::default().changes_world() })
        .credential("github-token")
        .timeout_s(120)
        .switch(crate::pack::Switch::Github)
        .example(
            "Answer on an issue",
            serde_json::json!({ "repo": "octocat/Hello-World", "issue_number": 42, "body": "Fixed on main." }),
        )
        .routing(Routing {
            accepts: &["repo", "issue_number", "text"],
            produces: &["comment"],
            intent_keywords: &["github", "comment", "reply", "answer", "issue"],
            typical_use: "Report what was done about an issue.",
            limitations: &[],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Comment> {
    let github = GitHub::writing(&context, input.credential.as_ref());
    let path = input.repo.path(&format!("issues/{}/comments", input.issue_number));
    Ok(Comment::new(&github.post(&path, &json!({ "body": input.body })).await?))
}
