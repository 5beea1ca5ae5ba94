//! The program's other commands.

use helmdeck_testkit::{Installation, Server};

#[tokio::test]
async fn a_token_is_printed_alone_and_works() {
    let server = Server::start();
    let args = ["token", "--sub", "agent", "--scopes", "sessions:read,metrics:read", "--ttl", "1h"];
    let outcome = server.installation.attempt(args, &[]);
    assert!(outcome.success && outcome.stderr.is_empty(), "{outcome:?}");
    let token = outcome.stdout.strip_suffix('\n').expect("one line");
    assert!(token.split('.').count() == 3 && !token.contains(char::is_whitespace), "{token}");
    let client = server.bearer(token.to_owned());
    client.get("/api/v1/sessions").await.expect(200);
    client.get("/metrics").await.expect(200);
    client.delete("/api/v1/sessions/x").await.expect_error(403, "forbidden");
}

#[test]
fn a_token_needs_a_subject_a_valid_lifetime_and_valid_scopes() {
    let installation = Installation::new();
    let outcome = installation.attempt(["token"], &[]);
    assert!(!outcome.success && outcome.stderr.contains("--sub"), "{outcome:?}");
    let outcome = installation.attempt(["token", "--sub", "a", "--ttl", "soon"], &[]);
    assert!(!outcome.success && outcome.stdout.is_empty(), "{outcome:?}");
    assert!(outcome.stderr.contains("12h"), "{}", outcome.stderr);
    let outcome = installation.attempt(["token", "--sub", "a", "--scopes", "foo"], &[]);
    assert!(!outcome.success && outcome.stdout.is_empty(), "{outcome:?}");
    assert!(outcome.stderr.contains("\"foo\" is not a scope"), "{}", outcome.stderr);
}

#[tokio::test]
async fn the_vnc_port_of_a_session_that_does_not_exist_is_refused_at_once() {
    let server = Server::start();
    let url = format!("http://{}", server.address);
    let outcome = server.installation.attempt(["vnc", "nope", "--url", &url], &[]);
    assert!(!outcome.success && outcome.stdout.is_empty(), "{outcome:?}");
    assert!(outcome.stderr.contains("session nope does not exist"), "{}", outcome.stderr);
}

#[test]
fn the_effective_configuration_is_shown_without_secrets() {
    let installation = Installation::new();
    let secrets = [
        ("HELMDECK_JWT_SECRET", "0123456789abcdef0123456789abcdef"),
        ("HELMDECK_ADMIN_PASSWORD", "open sesame please"),
        ("HELMDECK_MAX_SESSIONS", "7"),
    ];
    let outcome = installation.attempt(["config"], &secrets);
    assert!(outcome.success, "{outcome:?}");
    assert!(
        outcome.stdout.contains("max_sessions = 7  # from HELMDECK_MAX_SESSIONS"),
        "{outcome:?}"
    );
    assert!(outcome.stdout.contains("jwt_secret = \"••••\""), "{outcome:?}");
    assert!(outcome.stdout.contains("admin_password = \"••••\""), "{outcome:?}");
    assert!(!outcome.stdout.contains("0123456789") && !outcome.stdout.contains("sesame"));
    assert!(outcome.stderr.is_empty(), "{outcome:?}");
    let outcome = installation.attempt(["config"], &[("HELMDECK_MAX_SESSION", "7")]);
    assert!(outcome.success && outcome.stdout.contains("max_sessions ="), "{outcome:?}");
    assert!(outcome.stderr.contains("did you mean HELMDECK_MAX_SESSIONS?"), "{outcome:?}");
    let data_dir = installation.run(["config", "--get", "data_dir"]);
    assert_eq!(data_dir, installation.data_dir().to_str().unwrap());

    let outcome = installation.attempt(["config"], &[("HELMDECK_MAX_SESSIONS", "many")]);
    assert!(!outcome.success && outcome.stderr.contains("HELMDECK_MAX_SESSIONS"), "{outcome:?}");
}

#[test]
fn the_doctor_checks_every_requirement() {
    let outcome = Installation::new().attempt(["doctor"], &[]);
    assert!(outcome.success, "{}\n{}", outcome.stdout, outcome.stderr);
    let lines: Vec<_> = outcome.stdout.lines().collect();
    for requirement in [
        "bubblewrap",
        "sandbox in a sandbox",
        "AppArmor",
        "X server",
        "Chromium",
        "window manager",
        "D-Bus",
        "accessibility bus",
        "CJK",
        "emoji",
        "control groups",
        "address",
        "data directory",
        "run directory",
    ] {
        let told = |line: &&&str| line.to_lowercase().contains(&requirement.to_lowercase());
        let Some(line) = lines.iter().find(told) else {
            panic!("nothing about {requirement}:\n{}", outcome.stdout)
        };
        assert!(line.starts_with("ok") || line.starts_with("warn"), "{line}");
    }
}

#[test]
fn the_doctor_fails_and_names_the_fix_when_something_is_missing() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let outcome = Installation::new().attempt(["doctor"], &[("HELMDECK_ADDR", &address)]);
    assert!(!outcome.success, "{}", outcome.stdout);
    let line = outcome.stdout.lines().find(|line| line.contains(&address)).expect("a line");
    assert!(line.starts_with("MISSING") && line.contains("fix: "), "{line}");
    assert!(line.contains("HELMDECK_ADDR"), "{line}");
}

#[tokio::test]
async fn a_second_server_on_the_same_data_is_refused_with_a_message() {
    let server = Server::start();
    let outcome = server.installation.attempt(["serve"], &[]);
    assert!(!outcome.success, "{outcome:?}");
    let pid = format!("pid {}", server.pid());
    assert!(outcome.stderr.contains("another helmdeck server"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains(&pid), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("HELMDECK_DATA_DIR"), "{}", outcome.stderr);
    server.stranger().get("/healthz").await.expect(200);
}

#[tokio::test]
async fn an_address_in_use_is_reported_with_a_fix() {
    let server = Server::start();
    let address = server.address.to_string();
    let outcome = Installation::new().attempt(["serve"], &[("HELMDECK_ADDR", &address)]);
    assert!(!outcome.success, "{outcome:?}");
    assert!(outcome.stderr.contains(&address), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("HELMDECK_ADDR"), "{}", outcome.stderr);
}

#[test]
fn the_help_names_every_command() {
    let installation = Installation::new();
    let help = installation.run(["--help"]);
    for command in ["serve", "doctor", "config", "token", "admin"] {
        assert!(help.contains(&format!("\n  {command} ")), "{command}: {help}");
        let more = installation.run([command, "--help"]);
        assert!(more.contains("Usage:"), "{more}");
    }
    assert!(!help.contains("nest") && !help.contains("  guest"), "inner commands stay hidden");
    assert!(installation.run(["--version"]).contains(env!("CARGO_PKG_VERSION")));
}
