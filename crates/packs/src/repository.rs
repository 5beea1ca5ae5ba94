//! Clones in a session: their paths, and programs that run in them.

use std::{collections::BTreeMap, fmt};

use helmdeck_wire::exec::Exec;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Context, PackError, PackResult, context::command};

/// Names of branches and tags, nearly as git has them: without a leading hyphen, dot or slash, without two
/// dots in a row, white space, control characters and `~^:?*[\\`.
pub const REFERENCE: &str = r"^[^\s\x00-\x1f\x7f~^:?*\[\\./-](\.?[^\s\x00-\x1f\x7f~^:?*\[\\.])*$";

/// Where a repository was cloned, as `repo.fetch` returns it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub struct ClonePath(
    #[schemars(
        length(min = 1, max = 1000),
        regex(pattern = r"^/[^\x00]*$"),
        extend("x-expected" = "the clone_path that repo.fetch returned, such as /workspace/app")
    )]
    String,
);

/// A path in a clone: relative, without `..`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub struct InnerPath(
    #[schemars(
        length(min = 1, max = 4000),
        regex(pattern = r"^[^/\\\x00][^\\\x00]*$"),
        extend("x-expected" = "a path relative to clone_path, such as src/main.rs")
    )]
    String,
);

impl InnerPath {
    /// The path, if it stays in the clone. Starts with `./`, so that programs take it for no option.
    pub fn inside(&self) -> PackResult<String> {
        if self.0.split('/').any(|part| part == "..") {
            let message = format!("path: {:?} leads outside clone_path", self.0);
            return Err(PackError::invalid("path", message));
        }
        Ok(format!("./{}", self.0.trim_start_matches("./")))
    }
}

impl fmt::Display for InnerPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl ClonePath {
    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A program that runs in the clone.
    pub fn command<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> Exec {
        Exec { cwd: Some(self.0.clone()), ..command(words) }
    }

    /// Runs a program in the clone and returns its standard output. Fails if it fails.
    pub async fn output(&self, context: &Context, exec: Exec) -> PackResult<String> {
        context.output(exec).await.map_err(|error| self.explain(context, error))
    }

    /// Says what to do if the clone is not in this session.
    pub fn explain(&self, context: &Context, error: PackError) -> PackError {
        let elsewhere = error.to_string().contains("cannot be entered");
        let Some(session) = context.session.as_ref().filter(|_| elsewhere) else { return error };
        let message = format!(
            "clone_path: {} does not exist in session {}: a clone is only in the session that \
             repo.fetch returned; pass its `_session_id`",
            self.0,
            session.id()
        );
        PackError::invalid("clone_path", message)
    }
}

/// Git in a clone.
pub fn git<'a>(clone: &ClonePath, words: impl IntoIterator<Item = &'a str>) -> Exec {
    let mut exec = clone.command(["git"].into_iter().chain(words));
    exec.env = git_environment();
    exec
}

/// Settings that keep git from asking questions, and from running what the repository's hooks and
/// configuration name.
pub fn git_environment() -> BTreeMap<String, String> {
    let variables = [
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_PAGER", "cat"),
        ("GIT_ALLOW_PROTOCOL", "http:https:ssh"),
        ("LC_ALL", "C.UTF-8"),
        ("GIT_CONFIG_COUNT", "3"),
        ("GIT_CONFIG_KEY_0", "core.hooksPath"),
        ("GIT_CONFIG_VALUE_0", "/dev/null"),
        ("GIT_CONFIG_KEY_1", "core.fsmonitor"),
        ("GIT_CONFIG_VALUE_1", "false"),
        ("GIT_CONFIG_KEY_2", "core.quotePath"),
        ("GIT_CONFIG_VALUE_2", "false"),
    ];
    variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

/// The error for a file that a program did not find.
pub fn missing(path: &InnerPath, clone: &ClonePath) -> PackError {
    let message = format!("path: {path} does not exist in {}", clone.as_str());
    PackError::invalid("path", message)
}

#[cfg(test)]
mod tests {
    use helmdeck_wire::ErrorCode;

    use super::*;

    #[test]
    fn a_path_stays_in_its_clone_and_is_never_an_option() {
        let inside = |path: &str| InnerPath(path.to_owned()).inside();
        assert_eq!(inside("src/a..b").unwrap(), "./src/a..b");
        assert_eq!(inside("-rf").unwrap(), "./-rf");
        for outside in ["..", "../x", "a/../../x", "a/.."] {
            assert_eq!(inside(outside).unwrap_err().code(), ErrorCode::InvalidInput, "{outside}");
        }
    }
}
