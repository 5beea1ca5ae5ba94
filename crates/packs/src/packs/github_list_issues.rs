//! `github.list_issues`: lists issues.

use helmdeck_wire::nature::Nature;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Context, Pack, PackResult, Routing,
    github::{CredentialName, GitHub, Issue, Repo, State},
};

/// List issues on GitHub.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GithubListIssues")]
struct Input {
    /// The repository: `owner/name`.
    repo: Repo,
    /// Only in this state.
    #[serde(default)]
    state: State,
    /// Only with all of these labels, separated by commas.
    #[serde(default)]
    #[schemars(length(min = 1, max = 1000))]
    labels: Option<String>,
    /// Only assigned to this user; `none` for unassigned ones, `*` for assigned ones.
    #[serde(default)]
    #[schemars(length(min = 1, max = 100))]
    assignee: Option<String>,
    /// Whether to include pull requests.
    #[serde(default)]
    include_pull_requests: bool,
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
#[schemars(rename = "GithubListIssuesOutput")]
struct Output {
    /// The issues.
    issues: Vec<Issue>,
    /// How many are listed.
    count: usize,
    /// Whether there are more.
    truncated: bool,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("github.list_issues", run)
        .doc("List issues of a GitHub repository, newest first.")
        .nature(Nature { open_world: true, ..Nature::default().reads() })
        .resumable()
        .cacheable()
        .timeout_s(300)
        .switch(crate::pack::Switch::Github)
        .example(
            "Open bugs",
            serde_json::json!({ "repo": "octocat/Hello-World", "labels": "bug", "limit": 20 }),
        )
        .routing(Routing {
            accepts: &["repo"],
            produces: &["issues"],
            intent_keywords: &["github", "issues", "list", "bugs", "open"],
            typical_use: "See what is open.",
            limitations: &["Long texts are cut: github.get_issue has all of it."],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Output> {
    let query = [
        ("state", Some(input.state.as_str())),
        ("labels", input.labels.as_deref()),
        ("assignee", input.assignee.as_deref()),
    ];
    let github = GitHub::reading(&context, input.credential.as_ref());
    let with_pulls = input.include_pull_requests;
    let keep = |item: &serde_json::Value| with_pulls || item.get("pull_request").is_none();
    let pages = github.list(&input.repo.path("issues"), &query, input.limit as usize, keep).await?;
    let issues: Vec<_> = pages.items.iter().map(Issue::listed).collect();
    Ok(Output { count: issues.len(), issues, truncated: pages.truncated })
}
