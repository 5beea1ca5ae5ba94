//! A bucket of a fake service: objects, uploads in parts, lists, and failures.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::{io::Cursor, time::Duration};

use helmdeck_s3::{Addressing, Bucket, BucketSettings, Endpoint, Page, RequestDeadlines, S3Error};
use helmdeck_testkit::{FakeS3, Fault, eventually};
use helmdeck_tls::client_config;

const SOON: Duration = Duration::from_secs(20);
const MIB: usize = 1 << 20;

fn settings(service: &FakeS3) -> BucketSettings {
    BucketSettings {
        endpoint: Endpoint::parse(&service.endpoint(), true).unwrap(),
        region: FakeS3::REGION.into(),
        bucket: FakeS3::BUCKET.into(),
        prefix: "team/a".into(),
        addressing: Addressing::Path,
        access_key: FakeS3::ACCESS_KEY.into(),
        secret_key: FakeS3::SECRET_KEY.into(),
        limits: RequestDeadlines::default(),
    }
}

fn open(settings: BucketSettings) -> Bucket {
    Bucket::new(settings, client_config().unwrap()).unwrap()
}

async fn bucket() -> (FakeS3, Bucket) {
    let service = FakeS3::start().await;
    let bucket = open(settings(&service));
    (service, bucket)
}

/// Waits until something is true.
async fn soon(is_true: impl Fn() -> bool) {
    eventually(SOON, async || is_true().then_some(())).await.unwrap();
}

fn content(size: usize) -> Vec<u8> {
    (0..size).map(|at| u8::try_from(at % 251).unwrap()).collect()
}

async fn put_file(bucket: &Bucket, key: &str, content: &[u8]) -> Result<(), S3Error> {
    bucket.put_file(key, &mut Cursor::new(content), content.len() as u64).await
}

async fn read(bucket: &Bucket, key: &str, first: u64, length: u64) -> Result<Vec<u8>, S3Error> {
    let mut reader = bucket.get(key, first, length).await?;
    let mut found = Vec::new();
    while let Some(piece) = reader.next().await? {
        found.extend_from_slice(&piece);
    }
    Ok(found)
}

#[tokio::test]
async fn an_object_is_stored_read_listed_and_deleted() {
    let (service, bucket) = bucket().await;
    bucket.check().await.unwrap();
    bucket.put("ab/one", "0123456789").await.unwrap();
    bucket.put("empty", "").await.unwrap();
    assert_eq!(service.keys(), ["team/a/ab/one", "team/a/empty"]);
    assert_eq!(bucket.size("ab/one").await.unwrap(), Some(10));
    assert_eq!(bucket.size("ab/two").await.unwrap(), None);
    assert_eq!(read(&bucket, "ab/one", 0, 10).await.unwrap(), b"0123456789");
    assert_eq!(read(&bucket, "ab/one", 2, 3).await.unwrap(), b"234");
    assert_eq!(read(&bucket, "empty", 0, 0).await.unwrap(), b"");
    assert_eq!(bucket.get_text("ab/one").await.unwrap().as_deref(), Some("0123456789"));
    assert_eq!(bucket.get_text("ab/two").await.unwrap(), None);
    assert!(matches!(read(&bucket, "ab/two", 0, 1).await, Err(S3Error::NotFound)));
    let keys = vec!["ab/one".to_owned(), "empty".to_owned()];
    assert_eq!(bucket.list(None).await.unwrap(), Page { keys, next: None });
    bucket.delete("ab/one").await.unwrap();
    bucket.delete("ab/one").await.unwrap();
    assert_eq!(service.keys(), ["team/a/empty"]);
}

#[tokio::test]
async fn a_large_file_is_uploaded_in_parts() {
    let (service, bucket) = bucket().await;
    let (small, large) = (content(8 * MIB), content(20 * MIB + 3));
    put_file(&bucket, "small", &small).await.unwrap();
    assert_eq!(service.count(&["PUT"]), 1);
    put_file(&bucket, "large", &large).await.unwrap();
    assert_eq!(service.count(&["PUT", "partNumber"]), 3);
    assert_eq!((service.uploads(), service.object("team/a/large").unwrap()), (0, large.into()));
    let shorter = bucket.put_file("short", &mut Cursor::new(b"abc"), 4).await;
    assert!(matches!(shorter, Err(S3Error::Source(_))), "{shorter:?}");
    assert_eq!(service.keys(), ["team/a/large", "team/a/small"]);
}

#[tokio::test]
async fn a_list_comes_in_pages() {
    let (service, bucket) = bucket().await;
    service.limit_pages(2);
    for name in ["a", "b", "c", "d", "e"] {
        service.put(&format!("team/a/{name}"), "x");
        service.put(&format!("team/b/{name}"), "x");
    }
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let Page { keys, next } = bucket.list(after.as_deref()).await.unwrap();
        found.push(keys.join(" "));
        let Some(next) = next else { break };
        after = Some(next);
    }
    assert_eq!(found, ["a b", "c d", "e"]);
}

#[tokio::test]
async fn failures_that_pass_are_not_noticed() {
    let (service, bucket) = bucket().await;
    service.fail(&["PUT"], Fault::Error(503, "SlowDown"), 1);
    service.fail(&["PUT"], Fault::Lost, 1);
    bucket.put("one", "1").await.unwrap();
    assert_eq!(service.count(&["PUT"]), 3);

    let large = content(9 * MIB);
    service.fail(&["partNumber=2"], Fault::Error(500, "InternalError"), 1);
    service.fail(&["POST", "uploadId"], Fault::LateError("InternalError"), 1);
    // It is complete, and the second attempt finds no upload.
    service.fail(&["POST", "uploadId"], Fault::Lost, 1);
    put_file(&bucket, "large", &large).await.unwrap();
    assert_eq!(service.count(&["POST", "uploadId"]), 3);
    assert_eq!(service.object("team/a/large").unwrap(), large);
}

#[tokio::test]
async fn a_reader_continues_after_a_broken_connection() {
    let (service, bucket) = bucket().await;
    let large = content(3 * MIB);
    service.put("team/a/large", large.clone());
    service.fail(&["GET"], Fault::CutOff, 2);
    assert_eq!(read(&bucket, "large", 1, 2 * MIB as u64).await.unwrap(), large[1..=2 * MIB]);
    assert_eq!(service.count(&["GET"]), 3);
}

#[tokio::test]
async fn a_failed_upload_leaves_nothing() {
    let (service, bucket) = bucket().await;
    service.fail(&["partNumber=2"], Fault::Error(500, "InternalError"), 100);
    let failed = put_file(&bucket, "large", &content(9 * MIB)).await.unwrap_err();
    assert!(failed.to_string().contains("500 InternalError"), "{failed}");
    soon(|| service.uploads() == 0).await;
    assert!(service.keys().is_empty());
}

#[tokio::test]
async fn a_cancelled_upload_is_aborted() {
    let (service, bucket) = bucket().await;
    service.fail(&["partNumber=2"], Fault::Stall, 100);
    let uploading =
        tokio::spawn(async move { put_file(&bucket, "large", &content(9 * MIB)).await });
    soon(|| service.count(&["partNumber=2"]) == 1).await;
    assert_eq!(service.uploads(), 1);
    uploading.abort();
    soon(|| service.uploads() == 0).await;
}

#[tokio::test]
async fn uploads_of_a_crashed_process_are_aborted() {
    let (service, bucket) = bucket().await;
    service.fail(&["partNumber=2"], Fault::Error(403, "AccessDenied"), 1);
    // The process ends before it can abort.
    service.fail(&["DELETE"], Fault::Error(403, "AccessDenied"), 1);
    put_file(&bucket, "large", &content(9 * MIB)).await.unwrap_err();
    soon(|| service.count(&["DELETE"]) == 1).await;
    assert_eq!(service.uploads(), 1);
    bucket.abort_unfinished().await.unwrap();
    assert_eq!(service.uploads(), 0);
}

#[tokio::test]
async fn a_service_that_does_not_answer_is_given_up() {
    let service = FakeS3::start().await;
    let short = Duration::from_millis(50);
    let limits = RequestDeadlines {
        answer: short,
        part: short,
        piece: short,
        ..RequestDeadlines::default()
    };
    let bucket = open(BucketSettings { limits, ..settings(&service) });
    service.put("team/a/one", "1");
    service.fail(&["GET"], Fault::Stall, 100);
    service.fail(&["PUT"], Fault::Stall, 100);
    assert!(matches!(bucket.check().await, Err(S3Error::Silent { .. })));
    assert!(matches!(bucket.put("two", "2").await, Err(S3Error::Silent { .. })));
    assert!(matches!(bucket.get("one", 0, 1).await, Err(S3Error::Silent { .. })));
    assert_eq!(service.count(&["PUT"]), 4);
    service.mend();
    bucket.check().await.unwrap();
}

#[tokio::test]
async fn an_error_names_the_setting_to_check() {
    let service = FakeS3::start().await;
    let right = || settings(&service);
    for (settings, expected) in [
        (
            BucketSettings { bucket: "other".into(), ..right() },
            "the bucket \"other\" does not exist",
        ),
        (BucketSettings { access_key: "AKIDOTHER".into(), ..right() }, "HELMDECK_S3_ACCESS_KEY"),
        (BucketSettings { secret_key: "other".into(), ..right() }, "HELMDECK_S3_SECRET_KEY"),
        (BucketSettings { region: "us-east-1".into(), ..right() }, "HELMDECK_S3_REGION"),
        (BucketSettings { endpoint: encrypted(&service), ..right() }, "begin HELMDECK_S3_ENDPOINT"),
    ] {
        let shown = open(settings).check().await.unwrap_err().to_string();
        assert!(shown.contains(expected), "{shown}");
        assert!(!shown.contains(FakeS3::SECRET_KEY), "{shown}");
    }
    assert!(!format!("{:?}", right()).contains(FakeS3::SECRET_KEY));
}

/// The endpoint of a service without TLS, with TLS.
fn encrypted(service: &FakeS3) -> Endpoint {
    Endpoint::parse(&service.address().to_string(), true).unwrap()
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let ((service, bucket), other) = (bucket().await, FakeS3::start().await);
    service.fail(&["GET"], Fault::Redirect(other.address()), 1);
    let refused = bucket.check().await.unwrap_err();
    assert!(matches!(refused, S3Error::Elsewhere { .. }), "{refused}");
    assert_eq!(other.count(&[]), 0);
}
