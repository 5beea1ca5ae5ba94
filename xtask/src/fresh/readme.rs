//! README's commands as scripts for the new system.

use std::io;
use std::path::Path;

use helmdeck_testkit::{shell_blocks, walkthrough};

/// What README's reader pastes for this line: the last one that `make up` printed.
const TOKEN: (&str, &str) = ("export JWT=…\n", "eval \"$(tail -n 1 /tmp/up.log)\"\n");
const UP: (&str, &str) = ("make up\n", "make up | tee /tmp/up.log\n");

/// README's first block, which installs the prerequisites.
pub fn prerequisites(clone: &Path, is_root: bool) -> io::Result<String> {
    let block = start(clone)?.into_iter().next().unwrap_or_default();
    let block = if is_root { block.replace("sudo ", "") } else { block };
    Ok(format!("set -euo pipefail\n{block}"))
}

/// The rest of README and the pages of the documentation that run, with what `make up` installed.
pub fn commands(clone: &Path) -> io::Result<String> {
    let start: String = start(clone)?.into_iter().skip(1).collect();
    let start = start.replace(UP.0, UP.1).replace(TOKEN.0, TOKEN.1);
    let rest = walkthrough(clone);
    Ok(format!(
        "set -euo pipefail\n{start}make status\nclone=$PWD\ncd \"$(mktemp -d)\"\n{rest}\
         [[ $(head -c 4 screen.png | tail -c 3) == PNG ]]\ncd \"$clone\"\nmake down\nhelmdeck doctor\n"
    ))
}

fn start(clone: &Path) -> io::Result<Vec<String>> {
    let readme = std::fs::read_to_string(clone.join("README.md"))?;
    let blocks = shell_blocks(&readme).into_iter().filter(|block| block.is_start);
    Ok(blocks.map(|block| block.commands).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn readme_runs_as_pasted_with_the_token_that_make_up_printed() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let as_root = prerequisites(&root, true).unwrap();
        assert!(as_root.contains("\napt-get update && apt-get install"), "{as_root}");
        let as_user = prerequisites(&root, false).unwrap();
        assert!(as_user.contains("\nsudo apt-get update && sudo apt-get install"), "{as_user}");

        let script = commands(&root).unwrap();
        let expected =
            [UP.1, TOKEN.1, "\nexport PATH=", "helmdeck pack run python.run", "python3 -m"];
        for part in expected {
            assert!(script.contains(part), "{part}\n{script}");
        }
        // The toolchain is the machine's.
        for part in ["JWT=…", "rustup", "apt-get", "helmdeck connect"] {
            assert!(!script.contains(part), "{part}\n{script}");
        }
        let parsed = Command::new("bash").args(["-n", "-c", &script]).stdin(Stdio::null()).status();
        assert!(parsed.unwrap().success(), "{script}");
    }
}
