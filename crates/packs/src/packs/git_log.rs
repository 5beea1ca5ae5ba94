//! `git.log`: shows the last commits of a clone.

use helmdeck_wire::nature::Nature;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Context, Pack, PackResult, Routing, SessionNeed,
    repository::{ClonePath, git},
};

/// Show the last commits of a clone.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GitLog")]
struct Input {
    /// Where the repository was cloned, as `repo.fetch` returned it.
    clone_path: ClonePath,
    /// How many commits.
    #[serde(default = "count")]
    #[schemars(range(min = 1, max = 100))]
    count: u32,
}

fn count() -> u32 {
    10
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "GitLogOutput")]
struct Output {
    /// One line for each commit, newest first.
    log: String,
    /// The same, by field.
    commits: Vec<Commit>,
    /// How many.
    count: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Commit {
    /// Its id.
    commit: String,
    /// Name of the author.
    author: String,
    /// When it was committed, in RFC 3339.
    date: String,
    /// First line of its message.
    subject: String,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("git.log", run)
        .doc(
            "Show the last commits of a clone. Pass `_session_id` and `clone_path` from `repo.fetch`.",
        )
        .nature(Nature::default().in_sandbox().reads())
        .session(SessionNeed::Existing)
        .programs(&["git"])
        .resumable()
        .example(
            "The last five commits",
            serde_json::json!({ "_session_id": "sess-0123456789ab", "clone_path": "/workspace/app", "count": 5 }),
        )
        .routing(Routing {
            accepts: &[],
            produces: &["list"],
            intent_keywords: &["log", "history", "commits", "git"],
            typical_use: "See what changed lately.",
            limitations: &["A shallow clone has only its last commits."],
        })
}

/// What git says about a branch without a commit.
const NO_COMMITS: &str = "does not have any commits yet";

async fn run(context: Context, input: Input) -> PackResult<Output> {
    let clone = &input.clone_path;
    let number = format!("-{}", input.count);
    let exec = git(clone, ["log", &number, "--no-color", "--format=%H%x1f%an%x1f%cI%x1f%s"]);
    let text = match clone.output(&context, exec).await {
        Err(error) if error.to_string().contains(NO_COMMITS) => String::new(),
        text => text?,
    };
    let commits: Vec<_> = text.lines().filter_map(parse).collect();
    let line =
        |it: &Commit| format!("{} {}", it.commit.get(..10).unwrap_or(&it.commit), it.subject);
    let log = commits.iter().map(line).collect::<Vec<_>>().join("\n");
    Ok(Output { log, count: commits.len(), commits })
}

fn parse(line: &str) -> Option<Commit> {
    let mut fields = line.split('\u{1f}').map(str::to_owned);
    Some(Commit {
        commit: fields.next()?,
        author: fields.next()?,
        date: fields.next()?,
        subject: fields.next()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_log_is_read_by_field() {
        let commit = parse("abc\u{1f}Ann B\u{1f}2026-01-01T00:00:00Z\u{1f}fix: a | b").unwrap();
        assert_eq!((commit.author.as_str(), commit.subject.as_str()), ("Ann B", "fix: a | b"));
        assert!(parse("abc").is_none());
    }
}
