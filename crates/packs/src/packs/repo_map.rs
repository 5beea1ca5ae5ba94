//! `repo.map`: the functions, methods and types of a clone.

use std::collections::BTreeMap;

use helmdeck_wire::{
    exec::{Exec, MAX_OUTPUT_BYTES},
    nature::Nature,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    Context, Pack, PackError, PackResult, Routing, SessionNeed, document::HELMDECK,
    repository::ClonePath,
};

/// Map the functions, methods and types of a clone.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RepoMap")]
struct Input {
    /// Where the repository was cloned, as `repo.fetch` returned it.
    clone_path: ClonePath,
    /// Most tokens of the map, four bytes each; 0 for no limit.
    #[serde(default = "budget")]
    #[schemars(range(max = 1_000_000))]
    token_budget: usize,
    /// Only files that match one of these patterns, such as `src/**` or `*.go`.
    #[serde(default)]
    #[schemars(length(max = 100), inner(length(min = 1, max = 1000)))]
    include_globs: Vec<String>,
    /// Only these languages: `rust`, `go`, `python`, `typescript`, `tsx`, `javascript`, `java`, `c`.
    #[serde(default)]
    #[schemars(length(max = 20), inner(length(min = 1, max = 30)))]
    languages: Vec<String>,
}

fn budget() -> usize {
    1500
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(rename = "RepoMapOutput")]
struct Output {
    /// Files, the most important first, and below each one its symbols with line numbers.
    map: String,
    /// Size of the map in tokens; never more than `token_budget`.
    tokens_estimated: usize,
    /// Number of files in the map.
    files_covered: usize,
    /// Number of source files in a known language.
    files_total: usize,
    /// Number of symbols in the map.
    symbols_covered: usize,
    /// Number of symbols found.
    symbols_total: usize,
    /// Number of files in each language.
    languages: BTreeMap<String, usize>,
    /// Files that were left out because of their size or the time they took.
    files_skipped: usize,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("repo.map", run)
        .doc(
            "Map a clone: its functions, methods and types with their lines, those that other files use \
             most first, within a budget of tokens. Pass `_session_id` and `clone_path` from `repo.fetch`.",
        )
        .nature(Nature::default().in_sandbox().reads())
        .session(SessionNeed::Existing)
        .programs(&["git"])
        .resumable()
        .timeout_s(180)
        .example(
            "The most important symbols",
            serde_json::json!({ "_session_id": "sess-0123456789ab", "clone_path": "/workspace/app", "token_budget": 2000 }),
        )
        .routing(Routing {
            accepts: &["clone_path"],
            produces: &["text"],
            intent_keywords: &["map", "symbols", "functions", "classes", "overview", "structure", "outline"],
            typical_use: "Find where something is defined before you read files.",
            limitations: &["Files above 512 KiB, and code of others such as vendor folders, are left out."],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Output> {
    let options = json!({
        "token_budget": input.token_budget,
        "include_globs": input.include_globs,
        "languages": input.languages,
    });
    context.progress(0.1, "reading the clone");
    let exec = Exec {
        stdin: Some(options.to_string()),
        max_output_bytes: MAX_OUTPUT_BYTES,
        ..input.clone_path.command([HELMDECK, "repo-map"])
    };
    let state =
        context.exec(exec).await.map_err(|error| input.clone_path.explain(&context, error))?;
    if state.stdout_truncated {
        let message = "the map is too long for a reply: set token_budget or include_globs";
        return Err(PackError::invalid("token_budget", message));
    }
    match state.exit_code {
        Some(0) => serde_json::from_str(state.stdout.as_deref().unwrap_or_default())
            .map_err(|error| PackError::failed(format!("repo-map: {error}"))),
        Some(2) => {
            let message = state.stderr.unwrap_or_default().trim().to_owned();
            let field = message.split(':').next().unwrap_or_default().to_owned();
            let is_field = ["include_globs", "languages"].contains(&field.as_str());
            Err(PackError::invalid(if is_field { &field } else { "clone_path" }, message))
        }
        _ => Err(context.failed("repo-map", &state)),
    }
}
