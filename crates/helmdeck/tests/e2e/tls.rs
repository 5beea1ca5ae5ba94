//! HTTPS from the command line.

use std::{fs, path::Path, process::Command};

use helmdeck_testkit::{Installation, Outcome, Server, binary, fake::FakeServer};

/// What a command says on a machine that has only an address and a token.
fn elsewhere(url: &str, token: &str, args: &[&str]) -> Outcome {
    Installation::new().attempt(args, &[("HELMDECK_URL", url), ("HELMDECK_TOKEN", token)])
}

async fn self_signed() -> FakeServer {
    FakeServer::start_with(&[("HELMDECK_TLS_SELF_SIGNED", "true")]).await
}

/// The first fingerprint in a text.
fn fingerprint_in(text: &str) -> &str {
    let is_one = |word: &&str| word.matches(':').count() == 31;
    text.split([' ', ')', '.', '\n']).find(is_one).unwrap_or_else(|| panic!("none: {text}"))
}

#[test]
fn a_self_signed_server_is_used_by_those_who_trust_it_and_refused_by_others() {
    let server = Server::start_with_options(&["--tls-self-signed"]);
    let (url, token) = (format!("https://{}", server.address), server.token("agent", "sessions:*"));
    let run = |args: &[&str]| elsewhere(&url, &token, args);
    let cert = server.data_dir().join("tls/self-signed.pem");
    let ca_file = cert.to_str().unwrap();
    let listed = run(&["session", "list", "--ca-file", ca_file]);
    assert!(listed.success && listed.stdout.contains("No sessions"), "{listed:?}");
    for websocket in [["vnc", "nope"].as_slice(), &["forward", "nope", "9999"], &["cdp", "nope"]] {
        let refused = run(&[websocket, &["--ca-file", ca_file]].concat());
        assert!(refused.stderr.contains("session nope does not exist"), "{refused:?}");
    }

    let refused = run(&["session", "list"]);
    assert!(!refused.success && refused.stdout.is_empty(), "{refused:?}");
    assert!(refused.stderr.contains("is not trusted by this machine"), "{refused:?}");
    assert!(refused.stderr.contains("--ca-file FILE or HELMDECK_CA_FILE"), "{refused:?}");
    let advice = [("HELMDECK_TLS_SELF_SIGNED", "true")];
    let advice = server.installation.attempt(["config", "--advice"], &advice);
    assert_eq!(fingerprint_in(&refused.stderr), fingerprint_in(&advice.stdout));

    let curl = |ca_file: &Path| {
        let health = format!("https://localhost:{}/healthz", server.address.port());
        let mut curl = Command::new("curl");
        curl.args(["-sS", "--noproxy", "*", "--cacert"]).arg(ca_file).arg(health);
        curl.output().unwrap()
    };
    let trusted = curl(&cert);
    assert!(trusted.status.success(), "{trusted:?}");
    assert!(!curl(Path::new("/etc/ssl/certs/ca-certificates.crt")).status.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_is_remembered_with_the_certificate_to_trust() {
    let server = self_signed().await;
    let home = tempfile::tempdir().unwrap();
    let cert = home.path().join("server.pem");
    fs::copy(server.config.certificate_in_use().unwrap(), &cert).unwrap();
    let token = home.path().join("token");
    fs::write(&token, server.token("agent", "sessions:*")).unwrap();
    let run = |args: &[&str], input: fs::File| {
        let mut command = Command::new(binary());
        command.args(args).stdin(input).current_dir(home.path()).env("HOME", home.path());
        command.env_remove("XDG_CONFIG_HOME").output().unwrap()
    };
    let url = format!("https://{}", server.address);
    let token = fs::File::open(token).unwrap();
    let logged_in = run(&["login", &url, "--ca-file", "server.pem", "--token-stdin"], token);
    assert!(logged_in.status.success(), "{logged_in:?}");
    let listed = run(&["session", "list"], fs::File::open("/dev/null").unwrap());
    assert!(String::from_utf8_lossy(&listed.stdout).contains("No sessions"), "{listed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_of_this_machine_is_found_and_trusted_by_its_own_certificate() {
    let dir = tempfile::tempdir().unwrap();
    let (cert, key) = (dir.path().join("cert.pem"), dir.path().join("key.pem"));
    // For another name, and allowed to sign others, as `openssl req -x509` makes it.
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=desk.example.com"])
        .args(["-addext", "subjectAltName=DNS:desk.example.com"])
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&cert)
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let (cert, key) = (cert.to_str().unwrap(), key.to_str().unwrap());
    let env = [("HELMDECK_TLS_CERT", cert), ("HELMDECK_TLS_KEY", key)];
    let server = FakeServer::start_with(&env).await;
    let address = server.address.to_string();
    let here = |args: &[&str]| {
        let mut command = Command::new(binary());
        command.args(args).env("HELMDECK_DATA_DIR", server.data_dir());
        command.env("HELMDECK_ADDR", &address).envs(env);
        command.env("HELMDECK_JWT_SECRET", helmdeck_testkit::fake::SECRET);
        // No login of the person who runs the tests.
        command.env("HOME", dir.path()).env_remove("XDG_CONFIG_HOME").output().unwrap()
    };
    let listed = here(&["session", "list"]);
    assert!(String::from_utf8_lossy(&listed.stdout).contains("No sessions"), "{listed:?}");

    // By its address it is judged by the name in its certificate.
    let url = format!("https://{address}");
    let token = server.token("agent", "sessions:*");
    let named = elsewhere(&url, &token, &["session", "list", "--ca-file", cert]);
    assert!(named.stderr.contains("is for other names: desk.example.com"), "{named:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_wrong_scheme_is_named_and_so_is_the_right_one() {
    let (tls, plain) = (self_signed().await, FakeServer::start().await);
    let token = tls.token("agent", "sessions:*");
    let ask = |url: String| elsewhere(&url, &token, &["session", "list"]).stderr;
    let said = ask(format!("http://{}", tls.address));
    let right = format!("This port speaks HTTPS: use https://{}", tls.address);
    assert!(said.contains(&right), "{said}");
    let said = ask(format!("https://{}", plain.address));
    assert!(said.contains("does not speak TLS: use http://"), "{said}");
}

#[test]
fn settings_that_serve_other_machines_in_plain_text_are_warned_about() {
    let installation = Installation::new();
    let exposed = installation.attempt(["config", "--advice"], &[("HELMDECK_ADDR", ":3000")]);
    assert!(exposed.stdout.starts_with("WARNING: 0.0.0.0:3000 is open"), "{exposed:?}");
    assert!(exposed.stdout.contains("--tls-self-signed"), "{exposed:?}");
    let local = installation.attempt(["config", "--advice"], &[]);
    assert!(local.success && local.stdout.is_empty(), "{local:?}");
}
