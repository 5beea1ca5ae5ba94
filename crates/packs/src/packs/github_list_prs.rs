//! `github.list_prs`: lists pull requests.

use helmdeck_wire::nature::Nature;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Context, Pack, PackResult, Routing,
    github::{CredentialName, GitHub, PullRequest, Repo, State},
};

/// List pull requests on GitHub.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GithubListPrs")]
struct Input {
    /// The repository: `owner/name`.
    repo: Repo,
    /// Only in this state.
    #[serde(default)]
    state: State,
    /// Only from this branch: `user:branch`.
    #[serde(default)]
    #[schemars(length(min = 1, max = 300))]
    head: Option<String>,
    /// Only to this branch.
    #[serde(default)]
    #[schemars(length(min = 1, max = 255))]
    base: Option<String>,
    /// How many to list, newest first.
    #[serde(default = "limit")]
    #[schemars(range(min = 1, max = 500))]
    limit: u32,
    /// Name of a credential; `github-token` by default, if there is one.
    #[serde(default)]
    credential: Option<CredentialName>,
}

fn limit() -> u32 {
    30
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "GithubListPrsOutput")]
struct Output {
    /// The pull requests.
    prs: Vec<PullRequest>,
    /// How many are listed.
    count: usize,
    /// Whether there are more.
    truncated: bool,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("github.list_prs", run)
        .doc("List pull requests of a GitHub repository, newest first.")
        .nature(Nature { open_world: true, ..Nature::default().reads() })
        .resumable()
        .cacheable()
        .timeout_s(300)
        .switch(crate::pack::Switch::Github)
        .example(
            "Open pull requests against main",
            serde_json::json!({ "repo": "octocat/Hello-World", "base": "main" }),
        )
        .routing(Routing {
            accepts: &["repo"],
            produces: &["pull_requests"],
            intent_keywords: &["github", "pull", "request", "pr", "list", "review"],
            typical_use: "See what waits for review.",
            limitations: &["Long texts are cut."],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Output> {
    let query = [
        ("state", Some(input.state.as_str())),
        ("head", input.head.as_deref()),
        ("base", input.base.as_deref()),
    ];
    let github = GitHub::reading(&context, input.credential.as_ref());
    let path = input.repo.path("pulls");
    let pages = github.list(&path, &query, input.limit as usize, |_| true).await?;
    let prs: Vec<_> = pages.items.iter().map(PullRequest::listed).collect();
    Ok(Output { count: prs.len(), prs, truncated: pages.truncated })
}
