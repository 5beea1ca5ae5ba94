//! `fs.delete`: deletes a file of a clone.

use helmdeck_wire::nature::Nature;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Context, Pack, PackError, PackResult, Routing, SessionNeed,
    repository::{ClonePath, InnerPath, missing},
};

/// Delete a file of a clone.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "FsDelete")]
struct Input {
    /// Where the repository was cloned, as `repo.fetch` returned it.
    clone_path: ClonePath,
    /// The file, relative to `clone_path`.
    path: InnerPath,
    /// Whether to delete a folder with everything in it.
    #[serde(default)]
    recursive: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FsDeleteOutput")]
struct Output {
    /// Whether it was deleted.
    deleted: bool,
    /// The file.
    path: String,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("fs.delete", run)
        .doc(
            "Delete a file of a clone, or a folder with `recursive`. A file that does not exist is an \
             error. Pass `_session_id` and `clone_path` from `repo.fetch`.",
        )
        .nature(Nature { destructive: true, ..Nature::default().in_sandbox() })
        .session(SessionNeed::Existing)
        .example(
            "Delete a file",
            serde_json::json!({ "_session_id": "sess-0123456789ab", "clone_path": "/workspace/app", "path": "old.txt" }),
        )
        .routing(Routing {
            accepts: &["path"],
            produces: &[],
            intent_keywords: &["delete", "remove", "file"],
            typical_use: "Remove a file that is no longer needed.",
            limitations: &[],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Output> {
    let path = input.path.inside()?;
    let script = "[ -e \"$1\" ] || [ -L \"$1\" ] || exit 44; \
                  if [ -d \"$1\" ] && [ ! -L \"$1\" ]; then [ \"$2\" = true ] || exit 45; rm -r \"$1\"; \
                  else rm -f \"$1\"; fi";
    let recursive = input.recursive.to_string();
    let exec = input.clone_path.command(["bash", "-c", script, "fs.delete", &path, &recursive]);
    let state = context.exec(exec).await;
    let state = state.map_err(|error| input.clone_path.explain(&context, error))?;
    match state.exit_code {
        Some(0) => Ok(Output { deleted: true, path: input.path.to_string() }),
        Some(44) => Err(missing(&input.path, &input.clone_path)),
        Some(45) => {
            let message = format!("path: {} is a folder: pass recursive to delete it", input.path);
            Err(PackError::invalid("path", message))
        }
        _ => Err(context.failed("fs.delete", &state)),
    }
}
