//! `fs.list`: lists files of a clone.

use helmdeck_wire::nature::Nature;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Context, Pack, PackResult, Routing, SessionNeed,
    glob::Glob,
    repository::{ClonePath, InnerPath, missing},
};

/// List files of a clone.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "FsList")]
struct Input {
    /// Where the repository was cloned, as `repo.fetch` returned it.
    clone_path: ClonePath,
    /// A folder, relative to `clone_path`; the whole clone by default.
    #[serde(default)]
    path: Option<InnerPath>,
    /// Whether to list files in folders too. Implied by a `glob` with `/` or `**`.
    #[serde(default)]
    recursive: bool,
    /// Only files whose path matches, such as `*.rs` or `docs/**/*.md`.
    #[serde(default)]
    #[schemars(length(min = 1, max = 1000))]
    glob: Option<String>,
    /// How many files to list at most.
    #[serde(default = "limit")]
    #[schemars(range(min = 1, max = 5000))]
    limit: usize,
}

fn limit() -> usize {
    5000
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FsListOutput")]
struct Output {
    /// Files, relative to `clone_path`, sorted. Folders end with `/`.
    files: Vec<String>,
    /// How many are listed.
    count: usize,
    /// Whether there are more.
    truncated: bool,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("fs.list", run)
        .doc(
            "List files of a clone, without `.git`. Pass `_session_id` and `clone_path` from \
             `repo.fetch`.",
        )
        .nature(Nature::default().in_sandbox().reads())
        .session(SessionNeed::Existing)
        .resumable()
        .example(
            "All Rust files",
            serde_json::json!({ "_session_id": "sess-0123456789ab", "clone_path": "/workspace/app", "recursive": true, "glob": "**/*.rs" }),
        )
        .routing(Routing {
            accepts: &["path"],
            produces: &["list"],
            intent_keywords: &["list", "find", "files", "glob", "tree"],
            typical_use: "Find files by name before you read them.",
            limitations: &["Finds names, not content; cmd.run with grep searches content."],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Output> {
    let clone = &input.clone_path;
    let folder = input.path.as_ref().map_or(Ok(".".to_owned()), InnerPath::inside)?;
    let glob = input.glob.as_deref().map(Glob::parse).transpose()?;
    let deep = input.recursive || glob.as_ref().is_some_and(Glob::is_deep);
    let depth = if deep { "1000" } else { "1" };
    let script = "[ -d \"$1\" ] || exit 44; find \"$1\" -mindepth 1 -maxdepth \"$2\" \
                  \\( -name .git -prune \\) -o \\( -type d -printf '%p/\\0' -o -printf '%p\\0' \\)";
    let exec = clone.command(["bash", "-c", script, "fs.list", &folder, depth]);
    let state = context.exec(exec).await.map_err(|error| clone.explain(&context, error))?;
    match (state.exit_code, &input.path) {
        (Some(0), _) => {}
        (Some(44), Some(path)) => return Err(missing(path, clone)),
        _ => return Err(context.failed("fs.list", &state)),
    }
    let text = state.stdout.unwrap_or_default();
    let names = text.split('\0').map(|name| name.trim_start_matches("./"));
    let mut files: Vec<String> = names
        .filter(|name| !name.is_empty())
        // Of a recursive list, only files are of interest.
        .filter(|name| !(deep && name.ends_with('/')))
        .filter(|name| glob.as_ref().is_none_or(|glob| glob.matches(name)))
        .map(str::to_owned)
        .collect();
    files.sort();
    let truncated = files.len() > input.limit || state.stdout_truncated;
    files.truncate(input.limit);
    Ok(Output { count: files.len(), files, truncated })
}
