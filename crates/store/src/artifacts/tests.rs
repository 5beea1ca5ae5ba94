//! Owners, quotas, expiry, shared content, and what a crash or a full disk leaves.

mod bucket;
mod world;

use std::sync::atomic::Ordering;

use async_trait::async_trait;
use blobs::{BlobPage, BlobReader, NewBlob};
use bytes::Bytes;
use helmdeck_wire::ErrorCode;

use super::*;
use world::{Place, World, rules};

const HOUR: i64 = 3600;

/// Tests that hold wherever content is.
macro_rules! everywhere {
    ($($test:ident)*) => {
        mod on_disk { $(#[tokio::test] async fn $test() { super::$test(super::Place::Disk).await })* }
        mod in_a_bucket {
            $(#[tokio::test] async fn $test() { super::$test(super::Place::Bucket).await })*
        }
    };
}

everywhere! {
    an_artifact_does_not_exist_for_anyone_but_its_owner_and_admins
    equal_content_is_stored_once_and_removed_with_its_last_artifact
    a_range_is_a_part_and_one_outside_is_refused_with_the_size
    an_owner_has_a_quota_and_what_is_deleted_no_longer_counts
    uploads_at_the_same_time_do_not_exceed_a_quota_together
    a_file_beyond_its_own_maximum_is_refused
    an_expired_artifact_is_not_found_and_the_sweep_deletes_it
    a_crash_leaves_nothing_after_the_next_sweep
    an_upload_that_ends_early_leaves_nothing
    a_list_is_filtered_and_comes_in_pages
    a_name_a_namespace_and_a_media_type_are_checked
}

fn new(name: &str) -> NewArtifact {
    NewArtifact {
        namespace: "test.pack".into(),
        name: name.into(),
        content_type: "text/plain".into(),
        ..NewArtifact::default()
    }
}

fn caller(subject: &str, scope: &str) -> Caller {
    Caller { subject: subject.into(), scopes: vec![scope.into()], ..Caller::default() }
}

async fn text(reader: Result<ArtifactReader, StoreError>) -> Result<String, ErrorCode> {
    let mut reader = reader.map_err(|error| error.public_code())?;
    let mut text = Vec::new();
    while let Some(piece) = reader.next().await.unwrap() {
        text.extend_from_slice(&piece);
    }
    Ok(String::from_utf8(text).unwrap())
}

async fn an_artifact_does_not_exist_for_anyone_but_its_owner_and_admins(place: Place) {
    let world = World::new(place, None).await;
    let stored = world.put("ann", "a.txt", "hello").await;
    let digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    assert_eq!((stored.size, stored.sha256.as_str()), (5, digest));
    let world = world.restart().await;
    let (ann, bob, admin) = (caller("ann", ""), caller("bob", ""), caller("root", "admin"));
    let all = ArtifactFilter { limit: 10, ..ArtifactFilter::default() };
    for (who, found) in [(&ann, true), (&admin, true), (&bob, false)] {
        let read = text(world.artifacts.get(who, &stored.key, None).await).await;
        let expected = if found { Ok("hello".into()) } else { Err(ErrorCode::ArtifactNotFound) };
        assert_eq!(read, expected);
        let listed = world.artifacts.list(who, &all).await.unwrap().artifacts;
        assert_eq!(listed, if found { vec![stored.clone()] } else { Vec::new() });
        assert_eq!(world.artifacts.link(who, &stored.key, Duration::HOUR).await.is_ok(), found);
    }
    assert!(world.artifacts.delete(&bob, &stored.key).await.is_err());
    world.artifacts.delete(&ann, &stored.key).await.unwrap();
    let gone = world.artifacts.delete(&ann, &stored.key).await.unwrap_err();
    assert_eq!(gone.public_code(), ErrorCode::ArtifactNotFound);
}

async fn equal_content_is_stored_once_and_removed_with_its_last_artifact(place: Place) {
    let world = World::new(place, None).await;
    let (one, two) = (world.put("ann", "a", "same").await, world.put("bob", "b", "same").await);
    assert_eq!(world.files(), std::slice::from_ref(&one.sha256));
    assert_ne!(one.key, two.key);
    let admin = caller("root", "admin");
    world.artifacts.delete(&admin, &one.key).await.unwrap();
    assert_eq!(text(world.artifacts.get(&admin, &two.key, None).await).await.unwrap(), "same");
    let mut open = world.artifacts.get(&admin, &two.key, None).await.unwrap();
    world.artifacts.delete(&admin, &two.key).await.unwrap();
    assert_eq!(world.files(), [""; 0]);
    assert_eq!(open.next().await.unwrap().unwrap(), "same", "a reader can go on");
}

async fn a_range_is_a_part_and_one_outside_is_refused_with_the_size(place: Place) {
    let world = World::new(place, None).await;
    let ann = caller("ann", "");
    let key = world.put("ann", "a", "0123456789").await.key;
    let part = async |range: &str| {
        text(world.artifacts.get(&ann, &key, ByteRange::parse(range)).await).await
    };
    assert_eq!(part("bytes=2-4").await.unwrap(), "234");
    assert_eq!(part("bytes=-3").await.unwrap(), "789");
    assert_eq!(part("bytes=8-100").await.unwrap(), "89");
    assert_eq!(part("bytes=10-").await, Err(ErrorCode::RangeNotSatisfiable));
    let empty = world.put("ann", "empty", "").await.key;
    assert_eq!(text(world.artifacts.get(&ann, &empty, None).await).await.unwrap(), "");
}

async fn an_owner_has_a_quota_and_what_is_deleted_no_longer_counts(place: Place) {
    let world = World::new(place, Some(10)).await;
    let first = world.put("ann", "a", "1234567").await;
    let refused = world.try_put("ann", "b", "1234").await.unwrap_err();
    assert!(matches!(refused, StoreError::ArtifactQuota { quota: 10, used: 7 }), "{refused}");
    assert_eq!(world.files(), std::slice::from_ref(&first.sha256), "nothing of it is left");
    world.put("bob", "b", "1234").await;
    world.put("ann", "c", "123").await;
    assert_eq!(world.artifacts.used("ann").await.unwrap(), 10);
    world.artifacts.delete(&caller("ann", ""), &first.key).await.unwrap();
    world.put("ann", "d", "7654321").await;
}

/// Ten bytes of an upload that others of the same owner overtake.
struct Overtaken<'a> {
    world: &'a World,
    pieces: Vec<&'static [u8]>,
}

impl Pieces for Overtaken<'_> {
    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        if self.pieces.len() == 1 {
            let together = self.world.try_put("ann", "large", "54321").await;
            assert!(
                matches!(together, Err(StoreError::ArtifactQuota { .. })),
                "they count at once"
            );
            self.world.put("ann", "small", "321").await;
        }
        Ok(self.pieces.pop().map(Bytes::from_static))
    }
}

async fn uploads_at_the_same_time_do_not_exceed_a_quota_together(place: Place) {
    let world = World::new(place, Some(10)).await;
    let slow = Overtaken { world: &world, pieces: vec![b"wxyz", b"abcdef"] };
    let refused = world.artifacts.put("ann", new("slow"), slow).await;
    assert!(matches!(refused, Err(StoreError::ArtifactQuota { .. })), "{refused:?}");
    assert_eq!(world.artifacts.used("ann").await.unwrap(), 3);
    assert_eq!(world.files().len(), 1);
}

async fn a_file_beyond_its_own_maximum_is_refused(place: Place) {
    let world = World::new(place, None).await;
    let limited = NewArtifact { max_bytes: Some(3), ..new("a") };
    world.artifacts.put("ann", limited.clone(), Bytes::from_static(b"123")).await.unwrap();
    let refused = world.artifacts.put("ann", limited, Bytes::from_static(b"1234")).await;
    assert_eq!(refused.unwrap_err().public_code(), ErrorCode::PayloadTooLarge);
}

async fn an_expired_artifact_is_not_found_and_the_sweep_deletes_it(place: Place) {
    let world = World::new(place, None).await;
    let ann = caller("ann", "");
    let old = world.put("ann", "old", "old").await;
    world.seconds.store(HOUR, Ordering::Relaxed);
    let young = world.put("ann", "young", "young").await;
    world.seconds.store(2 * HOUR, Ordering::Relaxed);
    assert!(world.artifacts.show(&ann, &old.key).await.is_err());
    let all = ArtifactFilter { limit: 10, ..ArtifactFilter::default() };
    let listed = world.artifacts.list(&ann, &all).await.unwrap().artifacts;
    assert_eq!(listed, std::slice::from_ref(&young));
    assert_eq!(world.files().len(), 2);
    assert_eq!(world.artifacts.sweep().await.unwrap(), 1);
    assert_eq!(world.files(), [young.sha256]);
    assert_eq!(world.artifacts.used("ann").await.unwrap(), 5);
}

async fn a_crash_leaves_nothing_after_the_next_sweep(place: Place) {
    let world = World::new(place, None).await;
    let kept = world.put("ann", "kept", "kept").await;
    let unfinished = world.dir.path().join("artifacts/incoming/7");
    world.put_orphan(&"ab".repeat(32));
    std::fs::write(&unfinished, "x").unwrap();
    let world = world.restart().await;
    assert!(!unfinished.exists());
    world.artifacts.sweep().await.unwrap();
    assert_eq!(world.files(), [kept.sha256]);
}

/// An upload that fails after a few bytes.
struct Broken(Bytes);

impl Pieces for Broken {
    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        match self.0.next().await? {
            Some(piece) => Ok(Some(piece)),
            None => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

async fn an_upload_that_ends_early_leaves_nothing(place: Place) {
    let world = World::new(place, None).await;
    let broken = Broken(Bytes::from_static(b"half"));
    let refused = world.artifacts.put("ann", new("a"), broken).await.unwrap_err();
    assert!(matches!(refused, StoreError::UploadBrokeOff));
    assert_eq!(world.files(), [""; 0]);
}

async fn a_list_is_filtered_and_comes_in_pages(place: Place) {
    let world = World::new(place, None).await;
    let ann = caller("ann", "");
    for name in ["Report.pdf", "report-2.txt", "photo.png", "other.txt"] {
        let content_type = if name.ends_with("png") { "image/png" } else { "text/plain" };
        let job = name.starts_with('p').then(|| "job-1".to_owned());
        let namespace = if name.starts_with('o') { "other" } else { "test.pack" };
        let artifact = NewArtifact {
            namespace: namespace.into(),
            content_type: content_type.into(),
            job,
            ..new(name)
        };
        world.artifacts.put("ann", artifact, Bytes::from_static(b"x")).await.unwrap();
    }
    let names = async |filter: ArtifactFilter| {
        let filter = ArtifactFilter { limit: filter.limit.max(1), ..filter };
        let page = world.artifacts.list(&ann, &filter).await.unwrap();
        let names = page.artifacts.into_iter().map(|it| it.filename).collect::<Vec<_>>().join(" ");
        (names, page.next)
    };
    let any = || ArtifactFilter { limit: 9, ..ArtifactFilter::default() };
    let reports = ArtifactFilter { name: Some("REPORT".into()), ..any() };
    assert_eq!(names(reports).await.0, "report-2.txt Report.pdf");
    let pictures = ArtifactFilter { content_type: Some("image/".into()), ..any() };
    assert_eq!(names(pictures).await.0, "photo.png");
    let of_pack = ArtifactFilter { namespace: Some("other".into()), ..any() };
    assert_eq!(names(of_pack).await.0, "other.txt");
    let of_job = ArtifactFilter { job: Some("job-1".into()), ..any() };
    assert_eq!(names(of_job).await.0, "photo.png");
    let (first, next) = names(ArtifactFilter { limit: 3, ..any() }).await;
    assert_eq!(first, "other.txt photo.png report-2.txt");
    let (rest, end) = names(ArtifactFilter { limit: 3, before: next, ..any() }).await;
    assert_eq!((rest.as_str(), end), ("Report.pdf", None));
    assert_eq!(names(ArtifactFilter { limit: 4, ..any() }).await.1, None);
}

async fn a_name_a_namespace_and_a_media_type_are_checked(place: Place) {
    let world = World::new(place, None).await;
    for bad in [
        NewArtifact { name: "a/b".into(), ..new("") },
        NewArtifact { namespace: "download".into(), ..new("a") },
        NewArtifact { content_type: "text".into(), ..new("a") },
        NewArtifact { content_type: "text/plain\r\nx: y".into(), ..new("a") },
        NewArtifact { content_type: "a b/c".into(), ..new("a") },
    ] {
        let refused = world.artifacts.put("ann", bad.clone(), Bytes::new()).await.unwrap_err();
        assert_eq!(refused.public_code(), ErrorCode::InvalidInput, "{bad:?}");
    }
    let parameters = NewArtifact { content_type: "text/plain; charset=utf-8".into(), ..new("a") };
    world.artifacts.put("ann", parameters, Bytes::new()).await.unwrap();
}

/// A disk without space.
struct FullDisk(FileBlobs);

#[async_trait]
impl Blobs for FullDisk {
    async fn clean_up(&self) -> io::Result<()> {
        self.0.clean_up().await
    }

    async fn create(&self) -> io::Result<Box<dyn NewBlob>> {
        Ok(Box::new(NoSpace(self.0.create().await?)))
    }

    async fn open(&self, sha256: &str, part: Part) -> io::Result<Box<dyn BlobReader>> {
        self.0.open(sha256, part).await
    }

    async fn remove(&self, sha256: &str) -> io::Result<()> {
        self.0.remove(sha256).await
    }

    async fn list(&self, after: Option<&str>) -> io::Result<BlobPage> {
        self.0.list(after).await
    }
}

/// Content whose bytes find no space.
struct NoSpace(#[expect(dead_code, reason = "dropping it removes the file")] Box<dyn NewBlob>);

#[async_trait]
impl NewBlob for NoSpace {
    async fn write(&mut self, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::StorageFull.into())
    }

    async fn finish(&mut self, _: &str) -> io::Result<()> {
        Err(io::ErrorKind::StorageFull.into())
    }

    async fn keep(self: Box<Self>, _: &str) -> io::Result<()> {
        Err(io::ErrorKind::StorageFull.into())
    }
}

#[tokio::test]
async fn a_full_disk_is_reported_and_nothing_is_lost() {
    let world = World::new(Place::Disk, None).await;
    let kept = world.put("ann", "kept", "kept").await;
    let dir = world.dir.path().join("artifacts");
    let full = Box::new(FullDisk(FileBlobs::new(dir)));
    let store = world.artifacts.inner.store.clone();
    let rules = rules(None, &world.seconds);
    let artifacts = Artifacts::with_blobs(store, full, rules).await;
    let refused = artifacts.put("ann", new("more"), Bytes::from_static(b"more")).await.unwrap_err();
    assert_eq!(refused.public_code(), ErrorCode::DiskFull);
    let ann = caller("ann", "");
    assert_eq!(text(artifacts.get(&ann, &kept.key, None).await).await.unwrap(), "kept");
    assert_eq!(artifacts.used("ann").await.unwrap(), 4);
    assert_eq!(world.files(), [kept.sha256]);
}
