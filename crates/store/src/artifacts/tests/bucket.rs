//! What only a bucket does: failures of its service, other installations, and content from before.

use helmdeck_testkit::{FakeS3, Fault};

use super::{
    world::{Place, World, bucket, rules},
    *,
};

async fn world() -> World {
    World::new(Place::Bucket, None).await
}

fn service(world: &World) -> &FakeS3 {
    world.service.as_ref().unwrap()
}

#[tokio::test]
async fn a_failing_service_is_reported_and_nothing_is_lost() {
    let world = world().await;
    let (ann, kept) = (caller("ann", ""), world.put("ann", "kept", "kept").await);
    service(&world).fail(&["PUT"], Fault::Error(500, "InternalError"), 100);
    let refused = world.try_put("ann", "more", "more").await.unwrap_err();
    assert_eq!(refused.public_code(), ErrorCode::ArtifactFailed);
    assert!(!refused.to_string().contains("http"), "{refused}");
    service(&world).mend();
    service(&world).fail(&["PUT"], Fault::Error(507, "XMinioStorageFull"), 100);
    let refused = world.try_put("ann", "more", "more").await.unwrap_err();
    assert_eq!(refused.public_code(), ErrorCode::DiskFull);
    service(&world).mend();
    assert_eq!(world.files(), std::slice::from_ref(&kept.sha256));
    assert_eq!(text(world.artifacts.get(&ann, &kept.key, None).await).await.unwrap(), "kept");
    assert_eq!(world.artifacts.used("ann").await.unwrap(), 4);

    service(&world).fail(&["GET"], Fault::Error(403, "AccessDenied"), 100);
    let refused = text(world.artifacts.get(&ann, &kept.key, None).await).await;
    assert_eq!(refused, Err(ErrorCode::ArtifactFailed));
    assert_eq!(world.artifacts.sweep().await.unwrap_err().public_code(), ErrorCode::ArtifactFailed);
}

#[tokio::test]
async fn content_whose_deletion_fails_is_removed_by_the_next_sweep() {
    let world = world().await;
    let stored = world.put("ann", "a", "a").await;
    service(&world).fail(&["DELETE"], Fault::Error(403, "AccessDenied"), 1);
    world.artifacts.delete(&caller("ann", ""), &stored.key).await.unwrap();
    assert_eq!(world.files(), [stored.sha256]);
    world.artifacts.sweep().await.unwrap();
    assert_eq!(world.files(), [""; 0]);
}

#[tokio::test]
async fn equal_content_is_uploaded_once() {
    let world = world().await;
    world.put("ann", "a", "same").await;
    let uploads = service(&world).count(&["PUT"]);
    world.put("bob", "b", "same").await;
    assert_eq!(service(&world).count(&["PUT"]), uploads);
}

#[tokio::test]
async fn content_that_an_upload_relies_on_is_not_removed() {
    let world = world().await;
    let stored = world.put("ann", "a", "same").await;
    // Another upload has found the content, and has no row yet.
    let pending = world.artifacts.keep_pending(&stored.sha256).await;
    world.artifacts.delete(&caller("ann", ""), &stored.key).await.unwrap();
    world.artifacts.sweep().await.unwrap();
    assert_eq!(world.files(), std::slice::from_ref(&stored.sha256));
    drop(pending);
    world.artifacts.sweep().await.unwrap();
    assert_eq!(world.files(), [""; 0]);
}

#[tokio::test]
async fn a_sweep_reads_all_pages_and_leaves_other_objects_alone() {
    let world = world().await;
    service(&world).limit_pages(2);
    let kept = world.put("ann", "kept", "kept").await;
    for byte in 0..7_u8 {
        world.put_orphan(&format!("{byte:02x}").repeat(32));
    }
    for other in ["desk/notes.txt", "desk/ab/notes", "other/ab"] {
        service(&world).put(other, "x");
    }
    world.artifacts.sweep().await.unwrap();
    let content = format!("desk/{}/{}", &kept.sha256[..2], kept.sha256);
    let mut expected =
        ["desk/ab/notes", "desk/helmdeck-owner", "desk/notes.txt", "other/ab", &content];
    expected.sort_unstable();
    assert_eq!(service(&world).keys(), expected);
}

#[tokio::test]
async fn the_bucket_of_another_installation_is_refused() {
    let (world, dir) = (world().await, tempfile::tempdir().unwrap());
    let other = Store::open(dir.path()).await.unwrap();
    let open = async || {
        let (bucket, rules) = (bucket(service(&world)), rules(None, &world.seconds));
        let content = dir.path().join("artifacts");
        Artifacts::open_in_bucket(other.clone(), bucket, content, rules).await
    };
    let refused = open().await.err().unwrap().to_string();
    assert!(
        refused.contains("HELMDECK_S3_PREFIX") && refused.contains("helmdeck-owner"),
        "{refused}"
    );
    service(&world).fail(&["GET"], Fault::Error(404, "NoSuchBucket"), 1);
    let refused = open().await.err().unwrap();
    let shown = helmdeck_wire::error::with_causes(&refused);
    assert!(shown.contains("the bucket \"files\" does not exist"), "{shown}");
}

#[tokio::test]
async fn content_from_before_the_bucket_stays_on_disk() {
    let world = World::new(Place::Disk, None).await;
    let (ann, old) = (caller("ann", ""), world.put("ann", "old", "old").await);
    let world = world.restart_in(Some(FakeS3::start().await)).await;
    let new = world.put("ann", "new", "new").await;
    for (artifact, content) in [(&old, "old"), (&new, "new")] {
        assert_eq!(
            text(world.artifacts.get(&ann, &artifact.key, None).await).await.unwrap(),
            content
        );
    }
    assert_eq!(service(&world).keys().len(), 2, "the new one, and the owner");
    world.artifacts.sweep().await.unwrap();
    assert_eq!(world.files().len(), 2);
    for artifact in [old, new] {
        world.artifacts.delete(&ann, &artifact.key).await.unwrap();
    }
    assert_eq!(world.files(), [""; 0]);
}
