//! Writes files of a session, through its programs: they run as the session's user, in its view of
//! the file system.

use base64::{Engine as _, prelude::BASE64_STANDARD};

use crate::{Context, PackError, PackResult, repository::ClonePath};

/// The exit code for a path that is a folder.
const IS_FOLDER: i32 = 45;

/// How much is sent at a time. A multiple of three, so that the parts of the base64 text fit
/// together.
const PART: usize = 600_000;

/// Writes a file as a whole: readers see the old content or the new. Missing folders are created.
pub async fn write_file(
    context: &Context,
    clone: &ClonePath,
    path: &str,
    bytes: &[u8],
    executable: Option<bool>,
) -> PackResult<()> {
    let temporary = format!("{path}.helmdeck-{}", context.job);
    let mut parts = bytes.chunks(PART).peekable();
    let mut first = true;
    loop {
        let part = parts.next().unwrap_or_default();
        let last = parts.peek().is_none();
        let mode = match executable {
            Some(true) => "chmod a+x \"$2\";",
            Some(false) => "chmod a-x \"$2\";",
            None => "if [ -e \"$1\" ]; then chmod --reference=\"$1\" \"$2\"; fi;",
        };
        let begin = if first { "mkdir -p -- \"$(dirname \"$1\")\"; : > \"$2\";" } else { "" };
        let end = if last { format!("{mode} mv -fT -- \"$2\" \"$1\"") } else { String::new() };
        let folder = format!("if [ -d \"$1\" ]; then exit {IS_FOLDER}; fi;");
        let script = format!("set -e; {folder} {begin} base64 -d >> \"$2\"; {end}");
        let mut exec = clone.command(["bash", "-c", &script, "write", path, &temporary]);
        exec.stdin = Some(BASE64_STANDARD.encode(part));
        let state = context.exec(exec).await.map_err(|error| clone.explain(context, error))?;
        match state.exit_code {
            Some(0) => {}
            Some(IS_FOLDER) => {
                let path = path.trim_start_matches("./");
                return Err(PackError::invalid("path", format!("path: {path} is a folder")));
            }
            _ => return Err(context.failed("write", &state)),
        }
        if last {
            return Ok(());
        }
        first = false;
    }
}
