//! `git.commit`: commits the changes in a clone.

use helmdeck_wire::nature::Nature;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Context, Pack, PackError, PackResult, Routing, SessionNeed,
    repository::{ClonePath, git},
};

/// Commit the changes in a clone.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GitCommit")]
struct Input {
    /// Where the repository was cloned, as `repo.fetch` returned it.
    clone_path: ClonePath,
    /// The commit message.
    #[schemars(length(min = 1, max = 65536))]
    message: String,
    /// Whether to add all changed, new and deleted files first.
    #[serde(default = "yes")]
    all: bool,
    /// Name of the author.
    #[serde(default = "author")]
    #[schemars(length(min = 1, max = 200), regex(pattern = r"^[^<>\n\x00]+$"))]
    author: String,
    /// Address of the author.
    #[serde(default = "email")]
    #[schemars(length(min = 1, max = 200), regex(pattern = r"^[^<>\s\x00]+$"))]
    email: String,
}

fn yes() -> bool {
    true
}

fn author() -> String {
    "helmdeck-agent".to_owned()
}

fn email() -> String {
    "agent@helmdeck.local".to_owned()
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "GitCommitOutput")]
struct Output {
    /// Id of the new commit.
    commit: String,
    /// The branch; absent if HEAD is detached.
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    /// How many files it changes.
    files_changed: usize,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("git.commit", run)
        .doc(
            "Commit the changes in a clone. Hooks of the repository do not run. Pass `_session_id` and \
             `clone_path` from `repo.fetch`.",
        )
        .nature(Nature::default().in_sandbox())
        .session(SessionNeed::Existing)
        .programs(&["git"])
        .example(
            "Commit all changes",
            serde_json::json!({ "_session_id": "sess-0123456789ab", "clone_path": "/workspace/app", "message": "docs: correct a word" }),
        )
        .routing(Routing {
            accepts: &["message"],
            produces: &["commit"],
            intent_keywords: &["commit", "save", "git"],
            typical_use: "Record a change before repo.push.",
            limitations: &[],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Output> {
    let clone = &input.clone_path;
    if input.all {
        clone.output(&context, git(clone, ["add", "--all"])).await?;
    }
    let staged = git(clone, ["diff", "--cached", "--name-only", "-z"]);
    let staged = clone.output(&context, staged).await?;
    let files_changed = staged.split('\0').filter(|name| !name.is_empty()).count();
    if files_changed == 0 {
        let message = "nothing to commit: no file has changed since the last commit";
        return Err(PackError::invalid("clone_path", message));
    }
    let mut exec = git(clone, ["commit", "--quiet", "--no-verify", "--file", "-"]);
    exec.stdin = Some(input.message);
    for (name, value) in [
        ("GIT_AUTHOR_NAME", &input.author),
        ("GIT_AUTHOR_EMAIL", &input.email),
        ("GIT_COMMITTER_NAME", &input.author),
        ("GIT_COMMITTER_EMAIL", &input.email),
    ] {
        exec.env.insert(name.to_owned(), value.clone());
    }
    clone.output(&context, exec).await?;
    let commit = clone.output(&context, git(clone, ["rev-parse", "HEAD"])).await?;
    let branch = clone.output(&context, git(clone, ["branch", "--show-current"])).await?;
    let branch = Some(branch.trim().to_owned()).filter(|name| !name.is_empty());
    Ok(Output { commit: commit.trim().to_owned(), branch, files_changed })
}
