//! `fs.read`: reads a file of a clone.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use helmdeck_wire::nature::Nature;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Context, Pack, PackError, PackResult, Routing, SessionNeed,
    digest::sha256,
    repository::{ClonePath, InnerPath, missing},
};

/// Read a file of a clone.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "FsRead")]
struct Input {
    /// Where the repository was cloned, as `repo.fetch` returned it.
    clone_path: ClonePath,
    /// The file, relative to `clone_path`.
    path: InnerPath,
    /// First line to return, from 1.
    #[serde(default)]
    #[schemars(range(min = 1))]
    first_line: Option<usize>,
    /// How many lines to return.
    #[serde(default)]
    #[schemars(range(min = 1))]
    max_lines: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FsReadOutput")]
struct Output {
    /// The text; base64 if the file is not UTF-8.
    content: String,
    /// `utf-8` or `base64`.
    encoding: &'static str,
    /// SHA-256 of the whole file, in hexadecimal.
    sha256: String,
    /// Size of the whole file in bytes.
    size: usize,
    /// Number of lines of the whole file, if it is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<usize>,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("fs.read", run)
        .doc("Read a file of a clone, whole or by lines. Pass `_session_id` and `clone_path` from `repo.fetch`.")
        .nature(Nature::default().in_sandbox().reads())
        .session(SessionNeed::Existing)
        .resumable()
        .example(
            "The first lines of a file",
            serde_json::json!({ "_session_id": "sess-0123456789ab", "clone_path": "/workspace/app", "path": "README.md", "max_lines": 40 }),
        )
        .routing(Routing {
            accepts: &["path"],
            produces: &["text"],
            intent_keywords: &["read", "open", "show", "cat", "file"],
            typical_use: "Read a source file before you change it.",
            limitations: &["Files up to 8 MiB."],
        })
}

/// Larger files do not fit in a reply.
const MAX_BYTES: usize = 8 << 20;

async fn run(context: Context, input: Input) -> PackResult<Output> {
    let path = input.path.inside()?;
    let script = format!(
        "[ -f \"$1\" ] || exit 44; [ $(stat -Lc %s \"$1\") -le {MAX_BYTES} ] || exit 45; \
         base64 -w0 < \"$1\""
    );
    let exec = input.clone_path.command(["bash", "-c", &script, "fs.read", &path]);
    let state = context.exec(exec).await;
    let state = state.map_err(|error| input.clone_path.explain(&context, error))?;
    match state.exit_code {
        Some(0) => {}
        Some(44) => return Err(missing(&input.path, &input.clone_path)),
        Some(45) => {
            let message = format!("path: {} is larger than 8 MiB: use cmd.run", input.path);
            return Err(PackError::invalid("path", message));
        }
        _ => return Err(context.failed("fs.read", &state)),
    }
    let text = state.stdout.unwrap_or_default();
    let bytes = BASE64_STANDARD.decode(text.trim());
    let bytes = bytes.map_err(|_| PackError::failed("the file could not be read whole"))?;
    let (sha256, size) = (sha256(&bytes), bytes.len());
    Ok(match String::from_utf8(bytes) {
        Ok(text) => {
            let lines = text.lines().count();
            let content = part(&text, input.first_line, input.max_lines);
            Output { content, encoding: "utf-8", sha256, size, lines: Some(lines) }
        }
        Err(error) => {
            let content = BASE64_STANDARD.encode(error.as_bytes());
            Output { content, encoding: "base64", sha256, size, lines: None }
        }
    })
}

/// The wanted lines.
fn part(text: &str, first: Option<usize>, count: Option<usize>) -> String {
    if first.is_none() && count.is_none() {
        return text.to_owned();
    }
    let skipped = first.unwrap_or(1).saturating_sub(1);
    text.split_inclusive('\n').skip(skipped).take(count.unwrap_or(usize::MAX)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_selected_by_number() {
        assert_eq!(part("a\nb\nc\n", Some(2), Some(1)), "b\n");
        assert_eq!(part("a\nb", None, None), "a\nb");
        assert_eq!(part("a\nb", Some(9), None), "");
    }
}
