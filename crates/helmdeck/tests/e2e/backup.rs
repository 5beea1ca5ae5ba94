//! `helmdeck backup` and `helmdeck restore`, with a running server.

use std::fs;

use helmdeck_testkit::{Installation, Server};
use serde_json::json;

#[tokio::test]
async fn a_backup_of_a_running_server_is_restored_into_another_directory() {
    let server = Server::start();
    let admin = server.admin();
    let stored = admin
        .send(
            http::Method::POST,
            "/api/v1/artifacts/upload?filename=a.txt",
            &[("content-type", "text/plain")],
            "hello".into(),
        )
        .await
        .expect(201)
        .json();
    let credential = json!({
        "name": "key", "type": "api_key", "host_pattern": "example.com", "value": "s3cr3t-s3cr3t",
    });
    admin.post("/api/v1/vault/credentials", &credential).await.expect(201);
    let file = server.installation.path().join("b.tar");
    let path = file.to_str().unwrap();
    let done = server.installation.attempt(["backup", path], &[]);
    assert!(done.success && done.stderr.contains("vault.key"), "{done:?}");
    let again = server.installation.attempt(["backup", path], &[]);
    assert!(!again.success && again.stderr.contains(path), "{again:?}");
    let onto = server.installation.attempt(["restore", path, "--force"], &[]);
    assert!(!onto.success && onto.stderr.contains("another helmdeck server"), "{onto:?}");

    let backup = fs::read(&file).unwrap();
    let key = fs::read_to_string(server.installation.data_dir().join("vault.key")).unwrap();
    assert!(!backup.windows(key.trim().len()).any(|part| part == key.trim().as_bytes()));

    let other = Installation::new();
    fs::write(other.path().join("cut.tar"), &backup[..backup.len() / 2]).unwrap();
    let cut = other.attempt(["restore", other.path().join("cut.tar").to_str().unwrap()], &[]);
    assert!(!cut.success && cut.stderr.contains("not a complete backup"), "{cut:?}");
    let done = other.attempt(["restore", path], &[]);
    assert!(done.success && done.stdout.contains("put the old vault.key"), "{done:?}");
    let again = other.attempt(["restore", path], &[]);
    assert!(!again.success && again.stderr.contains("--force"), "{again:?}");

    for name in ["vault.key", "jwt.secret"] {
        let from = server.installation.data_dir().join(name);
        fs::copy(from, other.data_dir().join(name)).unwrap();
    }
    let restored = Server::start_in(other, &[]);
    let path = format!("/api/v1/artifacts/download/{}", stored["artifact_key"].as_str().unwrap());
    assert_eq!(restored.admin().get(&path).await.expect(200).text(), "hello");
    let listed = restored.admin().get("/api/v1/vault/credentials").await.expect(200).json();
    assert_eq!(listed["credentials"][0]["name"], "key");
}
