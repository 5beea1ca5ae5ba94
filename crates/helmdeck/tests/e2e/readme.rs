//! The commands in README.md and docs/, run as pasted, in order, in an empty folder.

use std::{fs, path::Path, process::Stdio, time::Duration};

use helmdeck_testkit::{Server, binary};
use tokio::{process::Command, time::timeout};

/// The server's address in README.
const ADDRESS: &str = "http://localhost:3000";
/// The section of README that installs and starts the program, which is not run.
const NOT_RUN: &str = "## Start";
/// Fails unless README's click was seen by the page that README opens.
const CLICKED: &str = "helmdeck call browser.wait_for session_id=$SESSION_ID text='Clicked at 376, 369' timeout_s=10\n";
/// Marks a block that needs something this test does not have.
const MARK: &str = "<!-- not run: ";
/// For all blocks together, including three desktops.
const DEADLINE: Duration = Duration::from_secs(150);

/// The `sh` blocks of a document to run.
fn blocks(text: &str) -> Vec<String> {
    let (mut found, mut section, mut previous) = (Vec::new(), "", "");
    let mut block: Option<String> = None;
    for line in text.lines() {
        match &mut block {
            Some(lines) if line == "```" => {
                found.push(std::mem::take(lines));
                block = None;
            }
            Some(lines) => lines.extend([line, "\n"]),
            None if line.starts_with("## ") => section = line,
            None if line == "```sh" && section != NOT_RUN && !previous.starts_with(MARK) => {
                block = Some(String::new());
            }
            None => {}
        }
        previous = line;
    }
    found
}

#[tokio::test]
async fn the_commands_of_the_documentation_run_as_pasted_in_an_empty_folder() {
    let server = Server::start();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |name: &str| blocks(&fs::read_to_string(root.join(name)).unwrap());
    let readme = read("README.md");
    assert!(readme.len() >= 4, "{readme:#?}");
    // README's blocks about the end of the session come last.
    let end = readme.iter().position(|block| block.contains("-X DELETE")).unwrap();
    let (session, rest) = readme.split_at(end);
    let pages = [
        "docs/desktop.md",
        "docs/exec.md",
        "docs/find.md",
        "docs/browser.md",
        "docs/sessions.md",
        "docs/live-view.md",
    ];
    let more: Vec<_> = pages.into_iter().flat_map(read).collect();
    // The guide creates and ends its own session.
    let guide = read("docs/guide.md");
    assert!(guide.len() >= 6, "{guide:#?}");
    let mut script = String::from("set -euo pipefail\n");
    for block in session {
        script += &format!("{block}echo '--- done'\n");
    }
    script += CLICKED;
    for block in more.iter().chain(rest).chain(&guide) {
        script += &format!("{block}echo '--- done'\n");
    }
    let address = format!("http://{}", server.address);
    let script = script.replace(ADDRESS, &address);

    let folder = tempfile::tempdir().unwrap();
    let mut shell = Command::new("bash");
    shell.args(["-c", &script]).current_dir(folder.path()).stdin(Stdio::null()).kill_on_drop(true);
    shell.env("JWT", server.token("reader", "sessions:*"));
    shell.env("HELMDECK_DATA_DIR", server.data_dir()).env("HELMDECK_RUN_DIR", server.run_dir());
    shell.env("HELMDECK_URL", &address);
    let path = std::env::var("PATH").unwrap();
    shell.env("PATH", format!("{}:{path}", binary().parent().unwrap().display()));
    let output = timeout(DEADLINE, shell.output()).await.unwrap().unwrap();
    let (said, complaints) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}\n{complaints}");
    assert!(said.contains(r#""stdout": "42\n""#), "{said}");
    assert!(said.contains("button \"Save\""), "{said}");
    assert!(said.contains("Thanks, Ada Lovelace"), "{said}");
    assert!(said.contains("/vnc.html?") && said.contains("/cdp?"), "{said}");
    assert!(fs::read(folder.path().join("screen.png")).unwrap().starts_with(b"\x89PNG"));
    assert_eq!(fs::read(folder.path().join("copy.txt")).unwrap(), b"buy milk\n");
    let left = server.admin().get("/api/v1/sessions").await.expect(200).json();
    assert_eq!(left["sessions"], serde_json::json!([]));
}
