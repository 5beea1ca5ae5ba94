//! `git.diff`: shows the changes in a clone.

use helmdeck_wire::nature::Nature;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Context, Pack, PackResult, Routing, SessionNeed,
    repository::{ClonePath, git},
};

/// Show the changes in a clone.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GitDiff")]
struct Input {
    /// Where the repository was cloned, as `repo.fetch` returned it.
    clone_path: ClonePath,
    /// Whether to show only what is added to the next commit.
    #[serde(default)]
    staged: bool,
    /// How many bytes of the difference to return.
    #[serde(default = "max_bytes")]
    #[schemars(range(min = 1000, max = 1_048_576))]
    max_bytes: usize,
}

fn max_bytes() -> usize {
    100_000
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "GitDiffOutput")]
struct Output {
    /// The difference, with new files.
    diff: String,
    /// How many files differ.
    files_changed: usize,
    /// Whether the difference is longer.
    truncated: bool,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("git.diff", run)
        .doc(
            "Show what has changed in a clone since the last commit, with new files. Pass \
             `_session_id` and `clone_path` from `repo.fetch`.",
        )
        .nature(Nature::default().in_sandbox().reads())
        .session(SessionNeed::Existing)
        .programs(&["git"])
        .resumable()
        .example(
            "What has changed",
            serde_json::json!({ "_session_id": "sess-0123456789ab", "clone_path": "/workspace/app" }),
        )
        .routing(Routing {
            accepts: &[],
            produces: &["diff"],
            intent_keywords: &["diff", "changes", "review", "git"],
            typical_use: "Check a change before git.commit.",
            limitations: &[],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Output> {
    let clone = &input.clone_path;
    // New files are in a difference only if the index knows them; a copy of the index leaves the real
    // one as it is. Without a commit, everything is new.
    let script = "set -e; export GIT_INDEX_FILE=\"$(mktemp)\"; trap 'rm -f \"$GIT_INDEX_FILE\"' EXIT; \
                  cp \"$(git rev-parse --git-path index)\" \"$GIT_INDEX_FILE\" 2>/dev/null || \
                  rm -f \"$GIT_INDEX_FILE\"; if [ \"$1\" = false ]; then git add --all --intent-to-add; fi; \
                  shift; if [ \"$1\" = HEAD ] && ! git rev-parse --verify --quiet HEAD >/dev/null; then \
                  shift; set -- \"$(git hash-object -t tree /dev/null)\" \"$@\"; fi; \
                  git diff --no-ext-diff --no-textconv --no-color \"$@\"";
    let staged = input.staged.to_string();
    let diff = |words: &[&str]| {
        let mut exec = git(clone, []);
        let fixed = ["bash", "-c", script, "git.diff", staged.as_str()];
        let words: Vec<_> = fixed.iter().chain(words).map(|word| (*word).to_owned()).collect();
        exec.command = helmdeck_wire::exec::CommandLine::Program(words);
        exec
    };
    let base: &[&str] = if input.staged { &["--cached"] } else { &["HEAD"] };
    let names = clone.output(&context, diff(&[base, &["--name-only", "-z"]].concat())).await?;
    let mut text = clone.output(&context, diff(base)).await?;
    let truncated = text.len() > input.max_bytes;
    if truncated {
        let end = (0..=input.max_bytes).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
    }
    let files_changed = names.split('\0').filter(|name| !name.is_empty()).count();
    Ok(Output { diff: text, files_changed, truncated })
}
