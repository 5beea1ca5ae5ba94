//! What replies keep of GitHub's objects, which are large.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::json::at;

/// Longest text of an object in a list, in characters.
const MAX_LISTED: usize = 2000;
/// Longest text of a single object, in characters.
const MAX_SINGLE: usize = 65_536;

/// An issue.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "GithubIssue")]
pub struct Issue {
    /// Its number.
    number: u64,
    /// Its title.
    title: String,
    /// `open` or `closed`.
    state: String,
    /// Its address in the API.
    url: String,
    /// Its address for people.
    html_url: String,
    /// Who opened it.
    author: String,
    /// Names of its labels.
    labels: Vec<String>,
    /// Who it is assigned to.
    assignees: Vec<String>,
    /// How many comments it has.
    comments: u64,
    /// Its text; empty if it has none.
    body: String,
    /// Whether the text is cut.
    body_truncated: bool,
    /// When it was opened.
    created_at: String,
    /// When it last changed.
    updated_at: String,
    /// Whether it is a pull request.
    is_pull_request: bool,
}

impl Issue {
    /// An issue of a list.
    pub fn listed(value: &Value) -> Self {
        Self::new(value, MAX_LISTED)
    }

    /// A single issue.
    pub fn single(value: &Value) -> Self {
        Self::new(value, MAX_SINGLE)
    }

    fn new(value: &Value, max: usize) -> Self {
        let (body, body_truncated) = cut(value, "body", max);
        Self {
            number: number(value, "number"),
            title: text(value, "title"),
            state: text(value, "state"),
            url: text(value, "url"),
            html_url: text(value, "html_url"),
            author: login(at(value, "user")),
            labels: labels(value),
            assignees: array(value, "assignees").map(login).collect(),
            comments: number(value, "comments"),
            body,
            body_truncated,
            created_at: text(value, "created_at"),
            updated_at: text(value, "updated_at"),
            is_pull_request: is_pull_request(value),
        }
    }
}

/// Whether an issue is a pull request.
fn is_pull_request(value: &Value) -> bool {
    value.get("pull_request").is_some_and(|it| !it.is_null())
}

/// A pull request.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "GithubPullRequest")]
pub struct PullRequest {
    /// Its number.
    number: u64,
    /// Its title.
    title: String,
    /// `open` or `closed`.
    state: String,
    /// Whether it is a draft.
    draft: bool,
    /// Its address in the API.
    url: String,
    /// Its address for people.
    html_url: String,
    /// Who opened it.
    author: String,
    /// Names of its labels.
    labels: Vec<String>,
    /// The branch with the changes.
    head: String,
    /// The commit with the changes.
    head_sha: String,
    /// The branch that it changes.
    base: String,
    /// Its text; empty if it has none.
    body: String,
    /// Whether the text is cut.
    body_truncated: bool,
    /// When it was opened.
    created_at: String,
    /// When it last changed.
    updated_at: String,
    /// When it was merged.
    #[serde(skip_serializing_if = "Option::is_none")]
    merged_at: Option<String>,
}

impl PullRequest {
    /// A pull request of a list.
    pub fn listed(value: &Value) -> Self {
        Self::new(value, MAX_LISTED)
    }

    /// A single pull request.
    pub fn single(value: &Value) -> Self {
        Self::new(value, MAX_SINGLE)
    }

    fn new(value: &Value, max: usize) -> Self {
        let (body, body_truncated) = cut(value, "body", max);
        Self {
            number: number(value, "number"),
            title: text(value, "title"),
            state: text(value, "state"),
            draft: at(value, "draft").as_bool().unwrap_or_default(),
            url: text(value, "url"),
            html_url: text(value, "html_url"),
            author: login(at(value, "user")),
            labels: labels(value),
            head: text(at(value, "head"), "ref"),
            head_sha: text(at(value, "head"), "sha"),
            base: text(at(value, "base"), "ref"),
            body,
            body_truncated,
            created_at: text(value, "created_at"),
            updated_at: text(value, "updated_at"),
            merged_at: at(value, "merged_at").as_str().map(str::to_owned),
        }
    }
}

/// A comment.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "GithubComment")]
pub struct Comment {
    /// Its id.
    id: u64,
    /// Its address in the API.
    url: String,
    /// Its address for people.
    html_url: String,
    /// Who wrote it.
    author: String,
    /// When it was written.
    created_at: String,
}

impl Comment {
    /// A comment of the API.
    pub fn new(value: &Value) -> Self {
        Self {
            id: number(value, "id"),
            url: text(value, "url"),
            html_url: text(value, "html_url"),
            author: login(at(value, "user")),
            created_at: text(value, "created_at"),
        }
    }
}

/// A release.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "GithubRelease")]
pub struct Release {
    /// Its id.
    id: u64,
    /// Its tag.
    tag: String,
    /// Its name.
    name: String,
    /// Whether it is a draft.
    draft: bool,
    /// Whether it is a prerelease.
    prerelease: bool,
    /// Its address in the API.
    url: String,
    /// Its address for people.
    html_url: String,
    /// Where files are uploaded to it.
    upload_url: String,
    /// When it was created.
    created_at: String,
}

impl Release {
    /// A release of the API.
    pub fn new(value: &Value) -> Self {
        Self {
            id: number(value, "id"),
            tag: text(value, "tag_name"),
            name: text(value, "name"),
            draft: at(value, "draft").as_bool().unwrap_or_default(),
            prerelease: at(value, "prerelease").as_bool().unwrap_or_default(),
            url: text(value, "url"),
            html_url: text(value, "html_url"),
            upload_url: text(value, "upload_url"),
            created_at: text(value, "created_at"),
        }
    }
}

/// Something that a search found. Fields that it does not have are absent.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "GithubFound")]
pub struct Found {
    /// Its address for people.
    html_url: String,
    /// The repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    repository: Option<String>,
    /// Title of an issue, name of a repository, or first line of a commit's message.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// Number of an issue or pull request.
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<u64>,
    /// State of an issue or pull request.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    /// Whether an issue is a pull request.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_pull_request: Option<bool>,
    /// Path of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// Id of a commit or of a file's content.
    #[serde(skip_serializing_if = "Option::is_none")]
    sha: Option<String>,
    /// Text of an issue or description of a repository, cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// Stars of a repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    stars: Option<u64>,
    /// Language of a repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<String>,
    /// Who wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<String>,
    /// When it last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_at: Option<String>,
}

impl Found {
    /// An item of a search.
    pub fn new(value: &Value) -> Self {
        let own = |name: &str| at(value, name).as_str().map(str::to_owned);
        let commit = at(value, "commit");
        let first_line = at(commit, "message").as_str().and_then(|it| it.lines().next());
        let in_api =
            at(value, "repository_url").as_str().and_then(|url| url.split("/repos/").nth(1));
        let repository = at(value, "repository/full_name").as_str().or(in_api);
        let about = ["body", "description"].iter().find_map(|name| at(value, name).as_str());
        let author = at(value, "user/login").as_str().or(at(commit, "author/name").as_str());
        Self {
            html_url: text(value, "html_url"),
            repository: repository.map(str::to_owned).or_else(|| own("full_name")),
            title: own("title")
                .or_else(|| first_line.map(str::to_owned))
                .or_else(|| own("full_name")),
            number: at(value, "number").as_u64(),
            state: own("state"),
            is_pull_request: at(value, "number").as_u64().map(|_| is_pull_request(value)),
            path: own("path"),
            sha: own("sha"),
            description: about.map(|it| it.chars().take(MAX_LISTED / 4).collect()),
            stars: at(value, "stargazers_count").as_u64(),
            language: own("language"),
            author: author.map(str::to_owned),
            updated_at: own("updated_at"),
        }
    }
}

fn text(value: &Value, name: &str) -> String {
    at(value, name).as_str().unwrap_or_default().to_owned()
}

fn number(value: &Value, name: &str) -> u64 {
    at(value, name).as_u64().unwrap_or_default()
}

fn array<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    at(value, name).as_array().into_iter().flatten()
}

fn login(user: &Value) -> String {
    text(user, "login")
}

/// Names of labels, which are objects, or texts in old replies.
fn labels(value: &Value) -> Vec<String> {
    let name = |label: &Value| at(label, "name").as_str().or(label.as_str()).map(str::to_owned);
    array(value, "labels").filter_map(name).collect()
}

/// A text, and whether it was cut.
fn cut(value: &Value, name: &str, max: usize) -> (String, bool) {
    let whole = at(value, name).as_str().unwrap_or_default();
    let part: String = whole.chars().take(max).collect();
    let truncated = part.len() < whole.len();
    (part, truncated)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_issue_without_a_text_has_an_empty_one() {
        let issue = Issue::single(&json!({ "number": 7, "title": "x", "body": null }));
        assert_eq!((issue.number, issue.body.as_str(), issue.body_truncated), (7, "", false));
        let long = "é".repeat(MAX_LISTED + 1);
        let issue = Issue::listed(&json!({ "body": long, "pull_request": {} }));
        assert!(issue.body_truncated && issue.is_pull_request);
        assert_eq!(issue.body.chars().count(), MAX_LISTED);
    }
}
