//! Backups during writes, and what is refused.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use bytes::Bytes;
use helmdeck_wire::Caller;
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::{
    ArtifactFilter, ArtifactRules, Artifacts, AuditEntry, NewArtifact, Pieces, Profiles, Vault,
    vault::{KeySource, VaultSetup, key_file},
};

async fn artifacts(dir: &Path, store: &Store) -> Artifacts {
    let rules = ArtifactRules {
        ttl: None,
        quota: None,
        link_secret: b"secret".to_vec(),
        now: Box::new(OffsetDateTime::now_utc),
    };
    Artifacts::open(store.clone(), dir.join(ARTIFACTS), rules).await
}

async fn vault(dir: &Path, store: &Store) -> Vault {
    let key = KeySource::File(key_file(dir));
    Vault::open(store, VaultSetup { key, old: None, environment: Vec::new() }).await.unwrap()
}

fn ann() -> Caller {
    Caller { subject: "ann".into(), scopes: vec!["vault:*".into()], ..Caller::default() }
}

fn new(name: &str) -> NewArtifact {
    NewArtifact {
        namespace: "test.pack".into(),
        name: name.into(),
        content_type: "text/plain".into(),
        ..NewArtifact::default()
    }
}

async fn put(artifacts: &Artifacts, name: &str, content: String) {
    artifacts.put("ann", new(name), Bytes::from(content)).await.unwrap();
}

/// The content of all artifacts, by name.
async fn contents(artifacts: &Artifacts) -> Vec<(String, String)> {
    let all = ArtifactFilter { limit: 10_000, ..ArtifactFilter::default() };
    let mut found = Vec::new();
    for artifact in artifacts.list(&ann(), &all).await.unwrap().artifacts {
        let mut reader = artifacts.get(&ann(), &artifact.key, None).await.unwrap();
        let mut text = Vec::new();
        while let Some(piece) = reader.next().await.unwrap() {
            text.extend_from_slice(&piece);
        }
        found.push((artifact.filename, String::from_utf8(text).unwrap()));
    }
    found
}

async fn backup_of(dir: &Path) -> Vec<u8> {
    let mut backup = Vec::new();
    back_up(dir, ContentPlace::DataDir, &mut backup).await.unwrap();
    backup
}

/// A data directory with an artifact, a credential and a profile.
async fn filled() -> (TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).await.unwrap();
    put(&artifacts(dir.path(), &store).await, "first", "one".repeat(1000)).await;
    let login = json!({ "name": "key", "type": "api_key", "host_pattern": "example.com" });
    let login = serde_json::from_value(login).unwrap();
    vault(dir.path(), &store).await.add(&ann(), login, "s3cr3t-s3cr3t".into()).await.unwrap();
    let profiles = Profiles::new(dir.path().join("profiles"), None);
    let mut profile =
        profiles.create("ann", &serde_json::from_value(json!("work")).unwrap()).await.unwrap();
    profile.add(b"cookies").await.unwrap();
    profile.finish().await.unwrap();
    (dir, store)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_during_writes_is_consistent_and_everything_in_it_can_be_read() {
    let (dir, store) = filled().await;
    let stop = Arc::new(AtomicBool::new(false));
    let written = {
        let (stop, artifacts) = (stop.clone(), artifacts(dir.path(), &store).await);
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        let store = store.clone();
        let task = helmdeck_task::spawn(async move {
            let (mut begun, mut number) = (Some(begun), 0);
            while !stop.load(Ordering::Relaxed) {
                put(&artifacts, &format!("a{number}"), format!("content {number}")).await;
                store.append_audit(&[AuditEntry::new("test.wrote")]).await.unwrap();
                if number % 3 == 0 {
                    let newest = ArtifactFilter { limit: 1, ..ArtifactFilter::default() };
                    let page = artifacts.list(&ann(), &newest).await.unwrap();
                    artifacts.delete(&ann(), &page.artifacts[0].key).await.unwrap();
                }
                number += 1;
                if number > 20 {
                    let _ = begun.take().map(|begun| begun.send(()));
                }
            }
            number
        });
        has_begun.await.unwrap();
        task
    };
    let mut backups = Vec::new();
    for _ in 0..3 {
        backups.push(backup_of(dir.path()).await);
    }
    stop.store(true, Ordering::Relaxed);
    written.await.unwrap();

    for backup in backups {
        let to = tempfile::tempdir().unwrap();
        let restored = restore(to.path(), backup.as_slice(), false).await.unwrap();
        assert_eq!(restored.credentials, 1);
        let store = Store::open(to.path()).await.unwrap();
        assert!(store.verify_audit().await.unwrap().broken.is_none());
        let found = contents(&artifacts(to.path(), &store).await).await;
        assert!(found.len() > 10, "{}", found.len());
        for (name, content) in found {
            let number = name.strip_prefix('a');
            assert_eq!(content, number.map_or("one".repeat(1000), |it| format!("content {it}")));
        }
        // The key is not in the backup.
        assert!(!key_file(to.path()).exists());
        fs::copy(key_file(dir.path()), key_file(to.path())).unwrap();
        let vault = vault(to.path(), &store).await;
        let opened = vault.resolve(&ann(), "key", "example.com").await;
        assert!(opened.is_ok(), "{:?}", opened.err());
        let profiles = Profiles::new(to.path().join("profiles"), None);
        assert_eq!(profiles.list("ann").await.unwrap().len(), 1);
    }
    let left = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!left.into_iter().any(|name| name.to_string_lossy().ends_with('~')));
}

#[tokio::test]
async fn an_artifact_that_is_deleted_during_the_backup_is_not_in_it() {
    let (dir, store) = filled().await;
    let before = artifacts(dir.path(), &store).await;
    put(&before, "second", "two".to_owned()).await;
    let all = ArtifactFilter { limit: 10, ..ArtifactFilter::default() };
    let newest = before.list(&ann(), &all).await.unwrap().artifacts[0].clone();
    // Its row is copied, and then it is deleted.
    let place = dir.path().join(ARTIFACTS).join(&newest.sha256[..2]).join(&newest.sha256);
    fs::remove_file(place).unwrap();
    let to = tempfile::tempdir().unwrap();
    restore(to.path(), backup_of(dir.path()).await.as_slice(), false).await.unwrap();
    let store = Store::open(to.path()).await.unwrap();
    let found = contents(&artifacts(to.path(), &store).await).await;
    assert_eq!(found, [("first".to_owned(), "one".repeat(1000))]);
}

#[tokio::test]
async fn a_backup_that_was_cut_off_or_changed_is_refused_and_changes_nothing() {
    let (dir, _store) = filled().await;
    let backup = backup_of(dir.path()).await;
    let mut wrong = Vec::new();
    for part in 0..20 {
        wrong.push(backup[..backup.len() * part / 20].to_vec());
    }
    let needle = b"oneoneone";
    let at = backup.windows(needle.len()).position(|window| window == needle).unwrap();
    let mut changed = backup.clone();
    changed[at] = b'x';
    wrong.push(changed);
    for wrong in wrong {
        let to = tempfile::tempdir().unwrap();
        let refused = restore(to.path(), wrong.as_slice(), false).await.unwrap_err();
        assert!(matches!(refused, BackupError::Broken(_)), "{refused}");
        assert_eq!(fs::read_dir(to.path()).unwrap().count(), 0);
    }
}

#[tokio::test]
async fn a_directory_with_data_is_replaced_only_by_force_and_keeps_its_keys() {
    let (dir, _store) = filled().await;
    let backup = backup_of(dir.path()).await;
    let to = tempfile::tempdir().unwrap();
    let other = Store::open(to.path()).await.unwrap();
    put(&artifacts(to.path(), &other).await, "other", "other".to_owned()).await;
    other.close().await;
    fs::write(key_file(to.path()), "key").unwrap();
    let refused = restore(to.path(), backup.as_slice(), false).await.unwrap_err();
    assert!(refused.to_string().contains("--force"), "{refused}");
    restore(to.path(), backup.as_slice(), true).await.unwrap();
    let store = Store::open(to.path()).await.unwrap();
    let found = contents(&artifacts(to.path(), &store).await).await;
    assert_eq!(found.iter().map(|it| it.0.as_str()).collect::<Vec<_>>(), ["first"]);
    assert_eq!(fs::read_to_string(key_file(to.path())).unwrap(), "key");
}

#[tokio::test]
async fn a_backup_cannot_write_outside_its_directories() {
    for name in ["../x", "/x", "artifacts/../../x", "vault.key", "artifacts", "other/x"] {
        let mut tar = Builder::new(Vec::new());
        let mut header = header(1);
        // The library refuses such names.
        let field = header.as_gnu_mut().unwrap();
        field.name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        tar.append(&header, &b"x"[..]).unwrap();
        let to = tempfile::tempdir().unwrap();
        let dir = to.path().join("data");
        fs::create_dir(&dir).unwrap();
        let backup = tar.into_inner().unwrap();
        let refused = restore(&dir, backup.as_slice(), false).await.unwrap_err();
        assert!(refused.to_string().contains("does not belong"), "{name}: {refused}");
        assert!(!to.path().join("x").exists() && !dir.join("vault.key").exists());
    }
}

#[tokio::test]
async fn rows_of_content_in_a_bucket_are_kept() {
    let (dir, _store) = filled().await;
    fs::remove_dir_all(dir.path().join(ARTIFACTS)).unwrap();
    for (place, rows) in [(ContentPlace::Bucket, 1), (ContentPlace::DataDir, 0)] {
        let (to, mut backup) = (tempfile::tempdir().unwrap(), Vec::new());
        back_up(dir.path(), place, &mut backup).await.unwrap();
        restore(to.path(), backup.as_slice(), false).await.unwrap();
        let store = Store::open(to.path()).await.unwrap();
        let all = ArtifactFilter { limit: 10, ..ArtifactFilter::default() };
        let found = artifacts(to.path(), &store).await.list(&ann(), &all).await.unwrap();
        assert_eq!(found.artifacts.len(), rows, "{place:?}");
    }
}
