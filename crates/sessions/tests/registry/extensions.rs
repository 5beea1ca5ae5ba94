//! Uploads of one owner's at once.

use std::io::{Cursor, Write};

use bytes::Bytes;
use helmdeck_sessions::{Outgoing, SessionError};
use helmdeck_wire::extension::ExtensionName;
use http_body_util::{BodyExt, Full};
use serde_json::json;
use zip::{ZipWriter, write::SimpleFileOptions};

use crate::nowhere::{caller, sessions};

fn name(text: &str) -> ExtensionName {
    serde_json::from_value(json!(text)).unwrap()
}

fn upload() -> Outgoing {
    let manifest = json!({ "manifest_version": 3, "name": "one", "version": "1" });
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("manifest.json", SimpleFileOptions::default()).unwrap();
    zip.write_all(manifest.to_string().as_bytes()).unwrap();
    let zip = Bytes::from(zip.finish().unwrap().into_inner());
    Full::new(zip).map_err(|never| match never {}).boxed_unsync()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn uploads_at_once_leave_no_more_than_an_owner_may_have() {
    let dir = tempfile::tempdir().unwrap();
    let sessions = sessions(&dir).await;
    let first = sessions.add_extension(&caller(), &name("n0"), upload()).await.unwrap();
    let place = dir.path().join("extensions").join("o616e6e");
    for n in 1..49 {
        let mut facts = json!(first);
        facts["name"] = json!(format!("n{n}"));
        std::fs::write(place.join(format!("n{n}")), format!("{facts}\n")).unwrap();
    }
    let tries = ["a", "b", "c", "d"].map(|one| {
        let sessions = sessions.clone();
        tokio::spawn(async move { sessions.add_extension(&caller(), &name(one), upload()).await })
    });
    let (mut kept, mut refused) = (0, 0);
    for one in tries {
        match one.await.unwrap() {
            Ok(_) => kept += 1,
            Err(SessionError::TooManyExtensions) => refused += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!((kept, refused), (1, 3));
    assert_eq!(sessions.extensions(&caller()).await.unwrap().len(), 50);
    // Those that were refused leave nothing, and one of the same name may take its place.
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 50);
    sessions.add_extension(&caller(), &name("n0"), upload()).await.unwrap();
}

#[tokio::test]
async fn only_a_few_uploads_are_received_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let sessions = sessions(&dir).await;
    let endless = || {
        let (sender, body) = http_body_util::channel::Channel::<Bytes, std::io::Error>::new(1);
        (sender, body.map_err(Into::into).boxed_unsync())
    };
    let mut senders = Vec::new();
    let mut waiting = Vec::new();
    for n in 0..4 {
        let (sender, body) = endless();
        senders.push(sender);
        let sessions = sessions.clone();
        waiting.push(tokio::spawn(async move {
            sessions.add_extension(&caller(), &name(&format!("n{n}")), body).await.map(|_| ())
        }));
        tokio::task::yield_now().await;
    }
    let refused = sessions.add_extension(&caller(), &name("n5"), upload()).await.err().unwrap();
    assert!(matches!(refused, SessionError::TooManyUploads { limit: 4 }), "{refused}");
    drop(senders);
    for one in waiting {
        assert!(one.await.unwrap().is_err(), "nothing was sent");
    }
    sessions.add_extension(&caller(), &name("n5"), upload()).await.unwrap();
}
