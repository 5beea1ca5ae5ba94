//! `github.search`: searches GitHub.

use helmdeck_wire::nature::Nature;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Context, Pack, PackResult, Routing,
    github::{CredentialName, Found, GitHub},
};

/// Search GitHub.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GithubSearch")]
struct Input {
    /// What to search for, in GitHub's syntax: `repo:octocat/Hello-World is:open panic`.
    #[schemars(length(min = 1, max = 1000))]
    query: String,
    /// What to search in.
    #[serde(default, rename = "type")]
    kind: Kind,
    /// How many to return.
    #[serde(default = "limit")]
    #[schemars(range(min = 1, max = 200))]
    limit: u32,
    /// Name of a credential; `github-token` by default, if there is one.
    #[serde(default)]
    credential: Option<CredentialName>,
}

fn limit() -> u32 {
    20
}

/// What is searched.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "GithubSearchType")]
enum Kind {
    /// Issues and pull requests.
    #[default]
    Issues,
    /// Files. Needs a token.
    Code,
    /// Repositories.
    Repositories,
    /// Commits.
    Commits,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "GithubSearchOutput")]
struct Output {
    /// How many GitHub found.
    total_count: u64,
    /// The first of them.
    items: Vec<Found>,
    /// How many are returned.
    count: usize,
    /// Whether there are more.
    truncated: bool,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("github.search", run)
        .doc("Search issues, code, repositories or commits on GitHub.")
        .nature(Nature { open_world: true, ..Nature::default().reads() })
        .resumable()
        .cacheable()
        .timeout_s(300)
        .switch(crate::pack::Switch::Github)
        .example(
            "Find code",
            serde_json::json!({ "query": "repo:octocat/Hello-World README", "type": "code" }),
        )
        .routing(Routing {
            accepts: &["query"],
            produces: &["issues", "files", "repositories", "commits"],
            intent_keywords: &["github", "search", "find", "code", "repository", "commits"],
            typical_use: "Find an issue, a repository or an example.",
            limitations: &["GitHub limits searches to 10 a minute without a token."],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Output> {
    let path = match input.kind {
        Kind::Issues => "/search/issues",
        Kind::Code => "/search/code",
        Kind::Repositories => "/search/repositories",
        Kind::Commits => "/search/commits",
    };
    let github = GitHub::reading(&context, input.credential.as_ref());
    let query = [("q", Some(input.query.as_str()))];
    let pages = github.list(path, &query, input.limit as usize, |_| true).await?;
    let items: Vec<_> = pages.items.iter().map(Found::new).collect();
    Ok(Output {
        total_count: pages.total.unwrap_or(items.len() as u64),
        count: items.len(),
        items,
        truncated: pages.truncated,
    })
}
