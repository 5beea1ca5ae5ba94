//! The commands in README.md and docs/, run as pasted, in order, in an empty folder.

use std::{fs, path::Path, process::Stdio, time::Duration};

use helmdeck_testkit::{Server, binary, walkthrough};
use tokio::{process::Command, time::timeout};

/// The server's address in README.
const ADDRESS: &str = "http://localhost:3000";
/// For all blocks together, including three desktops.
const DEADLINE: Duration = Duration::from_secs(150);

#[tokio::test]
async fn the_commands_of_the_documentation_run_as_pasted_in_an_empty_folder() {
    let server = Server::start();
    let script = walkthrough(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
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
