//! Simultaneous uploads of one owner.

use std::{
    io::{self, Cursor, Write},
    path::Path,
};

use bytes::Bytes;
use helmdeck_store::{Extensions, Pieces, StoreError};
use serde_json::json;
use tokio::sync::mpsc;
use zip::{ZipWriter, write::SimpleFileOptions};

use crate::name;

/// An upload in one piece.
struct Upload(Option<Bytes>);

impl Pieces for Upload {
    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        Ok(self.0.take())
    }
}

/// An upload that stalls until its sender is dropped, and then ends early.
struct Stalled(mpsc::Receiver<()>);

impl Pieces for Stalled {
    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        self.0.recv().await;
        Err(io::ErrorKind::BrokenPipe.into())
    }
}

fn upload() -> Upload {
    let manifest = json!({ "manifest_version": 3, "name": "one", "version": "1" });
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("manifest.json", SimpleFileOptions::default()).unwrap();
    zip.write_all(manifest.to_string().as_bytes()).unwrap();
    Upload(Some(zip.finish().unwrap().into_inner().into()))
}

fn extensions(dir: &Path) -> Extensions {
    Extensions::new(dir.join("extensions"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn uploads_at_once_leave_no_more_than_an_owner_may_have() {
    let dir = tempfile::tempdir().unwrap();
    let extensions = extensions(dir.path());
    let first = extensions.add("ann", &name("n0"), upload()).await.unwrap();
    let place = dir.path().join("extensions").join("o616e6e");
    for n in 1..49 {
        let mut facts = json!(first);
        facts["name"] = json!(format!("n{n}"));
        std::fs::write(place.join(format!("n{n}")), format!("{facts}\n")).unwrap();
    }
    let tries = ["a", "b", "c", "d"].map(|one| {
        let extensions = extensions.clone();
        tokio::spawn(async move { extensions.add("ann", &name(one), upload()).await })
    });
    let (mut kept, mut refused) = (0, 0);
    for one in tries {
        match one.await.unwrap() {
            Ok(_) => kept += 1,
            Err(StoreError::TooManyExtensions) => refused += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!((kept, refused), (1, 3));
    assert_eq!(extensions.list("ann").await.unwrap().len(), 50);
    // Refused uploads leave nothing, and an upload of the same name replaces the old one.
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 50);
    extensions.add("ann", &name("n0"), upload()).await.unwrap();
}

#[tokio::test]
async fn only_a_few_uploads_are_received_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let extensions = extensions(dir.path());
    let mut senders = Vec::new();
    let mut waiting = Vec::new();
    for n in 0..4 {
        let (sender, stalled) = mpsc::channel(1);
        senders.push(sender);
        let extensions = extensions.clone();
        waiting.push(tokio::spawn(async move {
            extensions.add("ann", &name(&format!("n{n}")), Stalled(stalled)).await
        }));
        tokio::task::yield_now().await;
    }
    let refused = extensions.add("ann", &name("n5"), upload()).await.err().unwrap();
    assert!(matches!(refused, StoreError::TooManyUploads { limit: 4 }), "{refused}");
    drop(senders);
    for one in waiting {
        let broken = one.await.unwrap().unwrap_err();
        assert!(matches!(broken, StoreError::UploadBrokeOff), "{broken}");
    }
    extensions.add("ann", &name("n5"), upload()).await.unwrap();
}

#[tokio::test]
async fn an_extension_is_kept_with_its_archive_until_it_is_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let extensions = extensions(dir.path());
    let added = extensions.add("ann", &name("one"), upload()).await.unwrap();
    assert_eq!((added.title.as_str(), added.version.as_str(), added.files), ("one", "1", 1));
    let listed = extensions.list("ann").await.unwrap();
    assert_eq!(json!(listed), json!([added]));
    assert!(extensions.list("bob").await.unwrap().is_empty());
    assert!(!extensions.contains("bob", &name("one")));

    let mut archive = extensions.open("ann", &name("one")).await.unwrap();
    let mut bytes = Vec::new();
    while let Some(piece) = archive.next().await.unwrap() {
        bytes.extend_from_slice(&piece);
    }
    let mut archive = tar::Archive::new(bytes.as_slice());
    let names: Vec<_> =
        archive.entries().unwrap().map(|e| e.unwrap().path().unwrap().into_owned()).collect();
    assert_eq!(names, [Path::new("manifest.json")]);

    for _ in 0..2 {
        extensions.delete("ann", &name("one")).await.unwrap();
    }
    assert!(!extensions.contains("ann", &name("one")));
}

#[tokio::test]
async fn an_upload_that_is_too_large_or_invalid_leaves_nothing() {
    struct Endless;
    impl Pieces for Endless {
        async fn next(&mut self) -> io::Result<Option<Bytes>> {
            Ok(Some(Bytes::from_static(&[0; 1 << 20])))
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let extensions = extensions(dir.path());
    let refused = extensions.add("ann", &name("one"), Endless).await.unwrap_err();
    assert!(matches!(refused, StoreError::ExtensionTooLarge { .. }), "{refused}");
    let nonsense = Upload(Some(Bytes::from_static(b"nonsense")));
    let refused = extensions.add("ann", &name("one"), nonsense).await.unwrap_err();
    assert!(matches!(refused, StoreError::BadExtension(_)), "{refused}");
    let place = dir.path().join("extensions").join("o616e6e");
    assert_eq!(std::fs::read_dir(place).unwrap().count(), 0);
}
