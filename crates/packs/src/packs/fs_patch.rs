//! `fs.patch`: replaces text in a file of a clone.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use helmdeck_wire::nature::Nature;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Context, Pack, PackError, PackResult, Routing, SessionNeed,
    digest::sha256,
    repository::{ClonePath, InnerPath, missing},
    write_file::write_file,
};

/// The largest file that is changed.
const MAX_BYTES: usize = 8 << 20;

/// Replace text in a file of a clone.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "FsPatch")]
struct Input {
    /// Where the repository was cloned, as `repo.fetch` returned it.
    clone_path: ClonePath,
    /// The file, relative to `clone_path`.
    path: InnerPath,
    /// The exact text to replace, with its whitespace.
    #[serde(default)]
    search: Option<String>,
    /// The new text.
    #[serde(default)]
    replace: Option<String>,
    /// Several replacements, applied in order; all of them or none.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200))]
    edits: Option<Vec<Edit>>,
    /// How many times each text must occur; all of them are replaced. 0 allows any number from 1.
    #[serde(default)]
    occurrences: Option<usize>,
}

/// One replacement.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Edit {
    /// The exact text to replace.
    #[serde(default)]
    search: Option<String>,
    /// The new text.
    #[serde(default)]
    replace: Option<String>,
    /// Another name of `search`.
    #[serde(default, rename = "oldText")]
    old_text: Option<String>,
    /// Another name of `replace`.
    #[serde(default, rename = "newText")]
    new_text: Option<String>,
}

impl Edit {
    /// The text to replace, and the new one.
    fn texts(self, at: usize) -> PackResult<(String, String)> {
        let one = |field: &str, alias: &str, value: Option<String>, other: Option<String>| {
            let wrong = |why: String| PackError::invalid(&format!("edits[{at}].{field}"), why);
            match (value, other) {
                (Some(text), None) | (None, Some(text)) => Ok(text),
                (None, None) => Err(wrong(format!("edits[{at}].{field} is missing"))),
                (Some(_), Some(_)) => Err(wrong(format!("pass either `{field}` or `{alias}`"))),
            }
        };
        let search = one("search", "oldText", self.search, self.old_text)?;
        Ok((search, one("replace", "newText", self.replace, self.new_text)?))
    }
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FsPatchOutput")]
struct Output {
    /// How many places were changed.
    applied: usize,
    /// SHA-256 of the new content, in hexadecimal.
    sha256: String,
    /// New size in bytes.
    size: usize,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("fs.patch", run)
        .doc(
            "Replace exact text in a file of a clone: `search` and `replace`, or `edits` for several. \
             Fails without a change if a text does not occur, or occurs another number of times than \
             `occurrences`. Pass `_session_id` and `clone_path` from `repo.fetch`.",
        )
        .nature(Nature::default().in_sandbox())
        .session(SessionNeed::Existing)
        .example(
            "Correct a word",
            serde_json::json!({ "_session_id": "sess-0123456789ab", "clone_path": "/workspace/app", "path": "README.md", "search": "teh", "replace": "the" }),
        )
        .routing(Routing {
            accepts: &["path", "text"],
            produces: &["file"],
            intent_keywords: &["edit", "change", "replace", "patch", "fix"],
            typical_use: "Change a few lines of a source file.",
            limitations: &["Exact text only, no patterns.", "UTF-8 files up to 8 MiB."],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Output> {
    let edits = match (input.search, input.replace, input.edits) {
        (Some(search), Some(replace), None) => vec![(search, replace)],
        (None, None, Some(edits)) => {
            let texts = edits.into_iter().enumerate().map(|(at, edit)| edit.texts(at));
            texts.collect::<PackResult<_>>()?
        }
        _ => {
            let message = "pass either `search` and `replace`, or `edits`";
            return Err(PackError::invalid("search", message));
        }
    };
    let path = input.path.inside()?;
    let exec = input.clone_path.command([
        "bash",
        "-c",
        "[ -f \"$1\" ] || exit 44; [ \"$(stat -Lc %s -- \"$1\")\" -le \"$2\" ] || exit 46; \
         base64 -w0 < \"$1\"",
        "fs.patch",
        &path,
        &MAX_BYTES.to_string(),
    ]);
    let state = context.exec(exec).await;
    let state = state.map_err(|error| input.clone_path.explain(&context, error))?;
    match state.exit_code {
        Some(0) => {}
        Some(44) => return Err(missing(&input.path, &input.clone_path)),
        Some(46) => {
            let message = format!("path: {} is larger than {} MiB", input.path, MAX_BYTES >> 20);
            return Err(PackError::invalid("path", message));
        }
        _ => return Err(context.failed("fs.patch", &state)),
    }
    let bytes = BASE64_STANDARD.decode(state.stdout.unwrap_or_default().trim()).ok();
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    let mut text = text
        .ok_or_else(|| PackError::invalid("path", format!("path: {} is not text", input.path)))?;
    let mut applied = 0;
    for (at, (search, replace)) in edits.iter().enumerate() {
        applied += apply(&mut text, search, replace, input.occurrences)
            .map_err(|why| PackError::invalid("search", format!("edit {}: {why}", at + 1)))?;
    }
    write_file(&context, &input.clone_path, &path, text.as_bytes(), None).await?;
    Ok(Output { applied, sha256: sha256(text.as_bytes()), size: text.len() })
}

/// Applies one replacement. Without a number, the text must be unique: replacing several places by
/// mistake is worse than being asked.
fn apply(
    text: &mut String,
    search: &str,
    replace: &str,
    occurrences: Option<usize>,
) -> Result<usize, String> {
    if search.is_empty() {
        return Err("the text to replace is empty".to_owned());
    }
    let found = text.matches(search).count();
    match (found, occurrences) {
        (0, _) => return Err("the text does not occur; read the file again".to_owned()),
        (_, Some(0)) => {}
        (found, Some(wanted)) if found != wanted => {
            return Err(format!("the text occurs {found} times, not {wanted}"));
        }
        (found, None) if found > 1 => {
            return Err(format!(
                "the text occurs {found} times: add lines around it, or pass occurrences"
            ));
        }
        _ => {}
    }
    *text = text.replace(search, replace);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patched(text: &str, search: &str, occurrences: Option<usize>) -> Result<String, String> {
        let mut text = text.to_owned();
        apply(&mut text, search, "X", occurrences)?;
        Ok(text)
    }

    #[test]
    fn a_text_is_replaced_only_as_often_as_expected() {
        assert_eq!(patched("a b", "b", None).unwrap(), "a X");
        assert_eq!(patched("b b", "b", Some(2)).unwrap(), "X X");
        assert_eq!(patched("b b b", "b", Some(0)).unwrap(), "X X X");
        assert!(patched("b b", "b", None).unwrap_err().contains("2 times"));
        assert!(patched("b b", "b", Some(1)).unwrap_err().contains("not 1"));
        assert!(patched("b", "c", Some(0)).unwrap_err().contains("does not occur"));
        assert!(patched("b", "", None).is_err());
    }
}
