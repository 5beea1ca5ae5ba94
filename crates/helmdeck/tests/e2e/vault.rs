//! `helmdeck vault`, with a server in this process.

use std::{
    io::Write,
    process::{Command, Output, Stdio},
};

use helmdeck_testkit::{binary, fake::FakeServer};

const SECRET: &str = "ghp_0123456789abcdefSECRET";

#[tokio::test(flavor = "multi_thread")]
async fn credentials_are_managed_on_the_command_line_and_secrets_come_from_standard_input() {
    let server = FakeServer::start().await;
    let token = server.person_token("ann", "vault:*");
    let url = format!("http://{}", server.address);
    let run = |args: &[&str], input: &str| {
        let mut command = Command::new(binary());
        command.arg("vault").args(args).env("HELMDECK_URL", &url).env("HELMDECK_TOKEN", &token);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let done = child.wait_with_output().unwrap();
        assert!(!format!("{done:?}").contains(SECRET), "{done:?}");
        done
    };
    let said = |done: &Output| {
        assert!(done.status.success(), "{done:?}");
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    let refused = |done: &Output| {
        assert!(!done.status.success(), "{done:?}");
        String::from_utf8_lossy(&done.stderr).into_owned()
    };

    assert!(said(&run(&["list"], "")).contains("No credentials"));
    let add = ["add", "github-token", "--host", "api.github.com"];
    assert!(refused(&run(&add, "\n")).contains("standard input is empty"));
    assert!(said(&run(&add, &format!("{SECRET}\n"))).contains("Added github-token"));
    assert!(refused(&run(&add, SECRET)).contains("(duplicate)"));
    let listed = said(&run(&["list"], ""));
    assert!(listed.contains("github-token") && listed.contains("api.github.com"), "{listed}");
    assert!(said(&run(&["list", "--json"], "")).contains("\"fingerprint\""));

    let granted = said(&run(&["grant", "github-token", "--to", "bob", "--client", "ci"], ""));
    assert!(granted.contains("bob") && granted.contains("ci"), "{granted}");
    let revoke = ["revoke", "github-token", "--from", "bob", "--client", "ci"];
    said(&run(&revoke, ""));
    assert!(refused(&run(&revoke, "")).contains("(not_found)"));
    assert!(!said(&run(&["grant", "github-token"], "")).contains("bob"));

    assert!(said(&run(&["usage", "github-token"], "")).contains("has not been used"));
    assert!(said(&run(&["rotate", "github-token"], SECRET)).contains("the same secret"));
    assert!(said(&run(&["rotate", "github-token"], "another secret")).ends_with("token.\n"));
    assert!(refused(&run(&["rekey"], "")).contains("(forbidden)"), "only an admin");
    said(&run(&["delete", "github-token"], ""));
    assert!(refused(&run(&["delete", "github-token"], "")).contains("github-token not found"));
}
