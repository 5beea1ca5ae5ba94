//! `github.*` packs, against a fake of GitHub that enforces tokens, paging and limits.

use std::collections::HashMap;

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use helmdeck_testkit::{Client, fake::FakeServer};
use serde_json::{Value, json};

use crate::outside::{Outside, ask, credential, expect_nowhere, output};

const TOKEN: &str = "ghp_0123456789SECRET";
/// How many issues the repository has. Every fifth is a pull request.
const ISSUES: u64 = 250;

type Parameters = Query<HashMap<String, String>>;

/// The fake's own address.
#[derive(Clone)]
struct Fake(String);

fn issue(number: u64) -> Value {
    let mut issue = json!({
        "number": number, "title": format!("Issue {number}"), "state": "open", "body": null,
        "url": format!("https://api.github.com/issues/{number}"),
        "html_url": format!("https://github.com/a/b/issues/{number}"),
        "user": { "login": "octocat", "id": 1 }, "labels": [{ "name": "bug", "color": "f00" }],
        "assignees": [], "comments": 2, "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-02T00:00:00Z",
    });
    if number.is_multiple_of(5) {
        issue["pull_request"] = json!({ "url": "https://api.github.com/pulls/5" });
    }
    issue
}

fn refusal(status: StatusCode, message: &str) -> Response {
    (status, Json(json!({ "message": message }))).into_response()
}

/// Refuses requests as GitHub does. A missing token is no reason to refuse reading.
fn admit(headers: &HeaderMap, writes: bool) -> Result<(), Response> {
    let accept = headers.get("accept").is_some_and(|it| it == "application/vnd.github+json");
    let version = headers.get("x-github-api-version").is_some_and(|it| it == "2022-11-28");
    assert!(accept && version && headers.contains_key("user-agent"), "{headers:?}");
    match headers.get("authorization").map(|it| it.to_str().unwrap()) {
        Some(token) if token == format!("Bearer {TOKEN}") => Ok(()),
        Some(_) => Err(refusal(StatusCode::UNAUTHORIZED, "Bad credentials")),
        None if writes => Err(refusal(StatusCode::UNAUTHORIZED, "Requires authentication")),
        None => Ok(()),
    }
}

/// A page of objects, with links to others.
fn page(fake: &str, path: &str, asked: &HashMap<String, String>, all: &[Value]) -> Response {
    let number = |name: &str, default| asked.get(name).map_or(default, |it| it.parse().unwrap());
    let (size, page): (usize, usize) = (number("per_page", 30), number("page", 1));
    assert!(size <= 100, "GitHub returns at most 100");
    let items: Vec<_> = all.iter().skip(size * (page - 1)).take(size).cloned().collect();
    let mut headers = HeaderMap::new();
    if page * size < all.len() {
        let next = format!("<{fake}{path}?per_page={size}&page={}>; rel=\"next\"", page + 1);
        headers.insert("link", next.parse().unwrap());
    }
    (headers, Json(Value::Array(items))).into_response()
}

async fn list_issues(
    State(Fake(fake)): State<Fake>,
    Path((owner, name)): Path<(String, String)>,
    Query(asked): Parameters,
    headers: HeaderMap,
) -> Response {
    if let Err(refused) = admit(&headers, false) {
        return refused;
    }
    if name == "limited" {
        let limit = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "99999999999")];
        let body = Json(json!({ "message": "API rate limit exceeded" }));
        return (StatusCode::FORBIDDEN, limit, body).into_response();
    }
    if name == "missing" {
        return refusal(StatusCode::NOT_FOUND, "Not Found");
    }
    if asked.get("labels").is_some_and(|labels| labels == "a b,c&d") {
        return Json(json!([issue(1)])).into_response();
    }
    let all: Vec<_> = (1..=ISSUES).map(issue).collect();
    page(&fake, &format!("/repos/{owner}/{name}/issues"), &asked, &all)
}

/// Creates something, or refuses it.
async fn create(kind: &str, headers: HeaderMap, body: Value) -> Response {
    if let Err(refused) = admit(&headers, true) {
        return refused;
    }
    if body["head"] == "main" {
        let errors = json!([{ "message": "No commits between main and main" }]);
        let body = json!({ "message": "Validation Failed", "errors": errors });
        return (StatusCode::UNPROCESSABLE_ENTITY, Json(body)).into_response();
    }
    let mut made = issue(7);
    made["id"] = json!(70);
    for (name, value) in body.as_object().unwrap() {
        made[name] = value.clone();
    }
    if kind == "pulls" {
        made["head"] = json!({ "ref": body["head"], "sha": "abc" });
        made["base"] = json!({ "ref": body["base"] });
    }
    if kind == "issues" {
        made["labels"] = json!([{ "name": body["labels"][0] }]);
    }
    (StatusCode::CREATED, Json(made)).into_response()
}

async fn start() -> (FakeServer, Client, Outside) {
    let github = Outside::start(|url| {
        let one = async |headers: HeaderMap, Path((_, _, number)): Path<(String, String, u64)>| {
            admit(&headers, false).err().unwrap_or_else(|| Json(issue(number)).into_response())
        };
        let comment = async |headers: HeaderMap, Json(body): Json<Value>| {
            let made = json!({ "id": 9, "html_url": "h", "body": body["body"] });
            admit(&headers, true).err().unwrap_or_else(|| Json(made).into_response())
        };
        let search = async |Path(kind): Path<String>, Query(asked): Parameters| {
            assert_eq!((kind.as_str(), asked["q"].as_str()), ("repositories", "a b+c&d"));
            let item = json!({ "full_name": "a/b", "html_url": "h", "stargazers_count": 3 });
            Json(json!({ "total_count": 41, "items": [item] }))
        };
        let pulls = async |Query(asked): Parameters| {
            assert_eq!((asked["state"].as_str(), asked["base"].as_str()), ("all", "main"));
            let mut pull = issue(5);
            pull["head"] = json!({ "ref": "fix", "sha": "abc" });
            Json(json!([pull]))
        };
        let make = |kind: &'static str| {
            post(async move |headers: HeaderMap, Json(body): Json<Value>| {
                create(kind, headers, body).await
            })
        };
        Router::new()
            .route("/repos/{owner}/{name}/issues", make("issues").get(list_issues))
            .route("/repos/{owner}/{name}/pulls", make("pulls").get(pulls))
            .route("/repos/{owner}/{name}/releases", make("releases"))
            .route("/repos/{owner}/{name}/issues/{number}", get(one))
            .route("/repos/{owner}/{name}/issues/{number}/comments", post(comment))
            .route("/search/{kind}", get(search))
            .with_state(Fake(url.to_owned()))
    })
    .await;
    let server = FakeServer::start_with(&[("HELMDECK_GITHUB_API_URL", &github.url(""))]).await;
    let ann = server.client("ann", "sessions:*,vault:*");
    (server, ann, github)
}

#[tokio::test]
async fn issues_are_listed_over_pages_without_pull_requests_and_without_a_token() {
    let (_server, ann, _github) = start().await;
    let input = json!({ "repo": "a/b", "limit": 150 });
    let said = output(&ann, "github.list_issues", &input).await;
    assert_eq!((&said["count"], &said["truncated"]), (&json!(150), &json!(true)));
    let first = &said["issues"][0];
    assert_eq!((&first["number"], &first["body"]), (&json!(1), &json!("")), "null is no text");
    assert_eq!((&first["author"], &first["labels"]), (&json!("octocat"), &json!(["bug"])));
    assert!(said["issues"].as_array().unwrap().iter().all(|it| it["is_pull_request"] == false));
    let input = json!({ "repo": "a/b", "limit": 500, "include_pull_requests": true });
    let said = output(&ann, "github.list_issues", &input).await;
    assert_eq!((&said["count"], &said["truncated"]), (&json!(ISSUES), &json!(false)));
    let input = json!({ "repo": "a/b", "labels": "a b,c&d" });
    assert_eq!(output(&ann, "github.list_issues", &input).await["count"], 1, "it is encoded");
    let input = json!({ "repo": "a/b", "issue_number": 3 });
    assert_eq!(output(&ann, "github.get_issue", &input).await["title"], "Issue 3");
    let input = json!({ "repo": "a/b", "state": "all", "base": "main" });
    assert_eq!(output(&ann, "github.list_prs", &input).await["prs"][0]["head"], "fix");
    let input = json!({ "query": "a b+c&d", "type": "repositories" });
    let said = output(&ann, "github.search", &input).await;
    assert_eq!((&said["total_count"], &said["items"][0]["stars"]), (&json!(41), &json!(3)));
}

#[tokio::test]
async fn changes_use_the_token_of_the_vault_and_return_what_was_made() {
    let (server, ann, github) = start().await;
    credential(&ann, "github-token", &github.host, TOKEN).await;
    let input = json!({ "repo": "a/b", "title": "T", "body": "B", "labels": ["new"] });
    let made = output(&ann, "github.create_issue", &input).await;
    assert_eq!((&made["title"], &made["labels"]), (&json!("T"), &json!(["new"])));
    let input = json!({ "repo": "a/b", "issue_number": 3, "body": "done" });
    assert_eq!(output(&ann, "github.post_comment", &input).await["id"], 9);
    let input = json!({ "repo": "a/b", "head": "fix", "base": "main", "title": "T" });
    let made = output(&ann, "github.create_pr", &input).await;
    assert_eq!((&made["head"], &made["base"]), (&json!("fix"), &json!("main")));
    let input = json!({ "repo": "a/b", "tag": "v1", "draft": true });
    let made = output(&ann, "github.create_release", &input).await;
    assert_eq!(
        (&made["tag"], &made["name"], &made["draft"]),
        (&json!("v1"), &json!("v1"), &json!(true))
    );
    let input = json!({ "repo": "a/b", "head": "main", "base": "main", "title": "T" });
    let refused = ask(&ann, "github.create_pr", &input).await;
    let message = refused.expect_error(400, "invalid_input");
    assert!(message.contains("No commits between main and main"), "{message}");
    expect_nowhere(&server, TOKEN).await;
}

#[tokio::test]
async fn refusals_have_codes_that_say_what_to_do() {
    let (_server, ann, github) = start().await;
    let create = json!({ "repo": "a/b", "title": "T" });
    let refused = ask(&ann, "github.create_issue", &create).await;
    let message = refused.expect_error(400, "credential_invalid");
    assert!(message.starts_with("vault: github-token not found"), "{message}");
    credential(&ann, "bad-token", &github.host, "ghp_wrong").await;
    let with = json!({ "repo": "a/b", "title": "T", "credential": "bad-token" });
    let refused = ask(&ann, "github.create_issue", &with).await;
    let message = refused.expect_error(400, "credential_invalid");
    assert!(message.contains("Bad credentials") && !message.contains("ghp_wrong"), "{message}");
    let refused = ask(&ann, "github.list_issues", &json!({ "repo": "a/limited" })).await;
    let body = refused.json();
    assert_eq!(body["retryable"], true);
    assert!(body["retry_after"].as_u64().unwrap() > 1000, "{body}");
    refused.expect_error(429, "quota_exceeded");
    let refused = ask(&ann, "github.list_issues", &json!({ "repo": "a/missing" })).await;
    refused.expect_error(400, "invalid_input");
    for (pack, input, field) in [
        ("github.list_issues", json!({ "repo": "a" }), "repo"),
        ("github.list_issues", json!({ "repo": "a/../../user" }), "repo"),
        ("github.list_issues", json!({ "repo": "a/.." }), "repo"),
        ("github.list_issues", json!({ "repo": "a/b", "state": "x" }), "state"),
        ("github.get_issue", json!({ "repo": "a/b", "issue_number": 0 }), "issue_number"),
        ("github.list_prs", json!({ "repo": "a/b", "limit": 501 }), "limit"),
        ("github.create_issue", json!({ "repo": "a/b", "title": "" }), "title"),
        ("github.create_pr", json!({ "repo": "a/b", "head": "x", "base": "y" }), "title"),
        ("github.post_comment", json!({ "repo": "a/b", "issue_number": 1, "body": "" }), "body"),
        ("github.create_release", json!({ "repo": "a/b", "tag": "" }), "tag"),
        ("github.search", json!({ "query": "x", "type": "users" }), "type"),
    ] {
        let refused = ask(&ann, pack, &input).await;
        assert_eq!(refused.json()["field"], field, "{pack} {input}");
        refused.expect_error(400, "invalid_input");
    }
}
