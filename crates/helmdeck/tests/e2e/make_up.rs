//! `make up`, also with settings that differ from those of the running server, and `make down`.

use std::{net::TcpListener, path::Path, process::Command};

use helmdeck_testkit::{Client, Desk, Installation, binary};
use serde_json::json;

/// An address that was free a moment ago.
fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

/// Output of `scripts/server.sh`, which must succeed.
fn server_script(installation: &Installation, command: &str, env: &[(&str, &str)]) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(root.join("scripts/server.sh"))
        .arg(command)
        .env("HELMDECK_BIN", binary())
        .env("HELMDECK_DATA_DIR", installation.data_dir())
        .env("HELMDECK_RUN_DIR", installation.run_dir())
        .envs(env.iter().copied())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    said
}

fn client(address: &str, said: &str) -> Client {
    let token = said.lines().find_map(|line| line.strip_prefix("export JWT=")).unwrap();
    Client::new(address.parse().unwrap(), Some(token.to_owned()))
}

#[tokio::test]
async fn make_up_with_other_settings_reports_changes_and_restarts_with_the_sessions() {
    let installation = Installation::new();
    let (first, second) = (free_address(), free_address());
    let said = server_script(&installation, "up", &[("HELMDECK_ADDR", &first)]);
    assert!(said.contains("admin reset-password"), "{said}");
    assert!(
        said.contains("helmdeck connect claude-code "),
        "one command connects a client: {said}"
    );
    let old = client(&first, &said);
    let id = Desk::create(&old, &json!({})).await.id;
    let said = server_script(&installation, "up", &[("HELMDECK_ADDR", &first)]);
    assert!(said.contains("already running"), "{said}");
    old.get("/api/v1/sessions").await.expect(401);
    client(&first, &said).get("/api/v1/sessions").await.expect(200);

    let env = [("HELMDECK_ADDR", second.as_str()), ("HELMDECK_IDLE_TIMEOUT_S", "77")];
    let said = server_script(&installation, "status", &env);
    let port = first.rsplit(':').next().unwrap();
    assert!(said.contains(&format!("ready: http://localhost:{port} ")), "{said}");
    let said = server_script(&installation, "up", &env);
    let changed = format!("addr: \"{first}\" -> \"{second}\"");
    assert!(said.contains(&changed) && said.contains("idle_timeout_s: 300 -> 77"), "{said}");
    let port = second.rsplit(':').next().unwrap();
    assert!(said.contains(&format!("helmdeck: http://localhost:{port}\n")), "{said}");

    let new = client(&second, &said);
    let desk = Desk { client: &new, id };
    assert_eq!(desk.describe().await["status"], "running");
    assert!(tokio::net::TcpStream::connect(&first).await.is_err(), "the old address is closed");
    // Finds the server without the program, too.
    let said = server_script(&installation, "down", &[("HELMDECK_BIN", "/missing/helmdeck")]);
    assert!(said.contains("helmdeck is stopped"), "{said}");
}
