//! Artifacts in a bucket of an S3 service, through the API.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use helmdeck_server::{Config, Instance, Shutdown};
use helmdeck_testkit::{
    Client, FakeS3, Fault, eventually,
    fake::{FakeRuntime, FakeServer},
};
use helmdeck_wire::error::with_causes;
use http::Method;

const SOON: Duration = Duration::from_secs(20);
const WEEKS: Duration = Duration::from_secs(30 * 24 * 3600);
const OWNER: &str = "helmdeck-owner";

async fn start(service: &FakeS3) -> FakeServer {
    let env = service.environment();
    let env: Vec<_> = env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    FakeServer::start_with(&env).await
}

async fn upload(client: &Client, content: Bytes) -> helmdeck_testkit::Answer {
    let path = "/api/v1/artifacts/upload?filename=a.bin";
    let kind = [("content-type", "application/octet-stream")];
    client.send(Method::POST, path, &kind, content).await
}

#[tokio::test]
async fn artifacts_are_stored_in_the_bucket() {
    let service = FakeS3::start().await;
    let mut server = start(&service).await;
    let content: Vec<u8> = (0..20_000_000_u32).map(|at| u8::try_from(at % 251).unwrap()).collect();
    let content = Bytes::from(content);
    let stored = upload(&server.admin(), content.clone()).await.expect(201).json();
    assert_eq!(service.count(&["PUT", "partNumber"]), 3);
    assert_eq!((service.keys().len(), service.uploads()), (2, 0));
    let kept = std::fs::read_dir(server.data_dir().join("artifacts/incoming")).unwrap().count();
    assert_eq!(kept, 0, "no copy stays in the data directory");

    // The bucket belongs to the data directory, also after a restart.
    server.leave().await;
    server.restart().await;
    let (client, path) = (server.admin(), stored["url"].as_str().unwrap().to_owned());
    assert_eq!(client.get(&path).await.expect(200).body, content);
    let range = [("range", "bytes=9000000-9000009")];
    let part = client.send(Method::GET, &path, &range, Bytes::new()).await.expect(206);
    assert_eq!(part.body, content[9_000_000..9_000_010]);
    assert_eq!(part.header("content-range"), "bytes 9000000-9000009/20000000");

    server.clock.advance(WEEKS);
    let only_owner = async || (service.keys() == [OWNER]).then_some(());
    eventually(SOON, only_owner).await.expect("the janitor deletes expired content");
    client.get(&path).await.expect_error(404, "artifact_not_found");
}

#[tokio::test]
async fn a_failing_service_is_an_error_with_a_code_and_loses_nothing() {
    let service = FakeS3::start().await;
    let server = start(&service).await;
    let client = server.admin();
    let kept = upload(&client, "kept".into()).await.expect(201).json();
    let path = kept["url"].as_str().unwrap();
    service.fail(&["PUT"], Fault::Error(503, "SlowDown"), 100);
    let message = upload(&client, "more".into()).await.expect_error(502, "artifact_failed");
    assert!(message.contains("nothing was stored") && !message.contains("SlowDown"), "{message}");
    service.mend();
    service.fail(&["GET"], Fault::Error(403, "AccessDenied"), 1);
    client.get(path).await.expect_error(502, "artifact_failed");
    assert_eq!(client.get(path).await.expect(200).text(), "kept");
    let used = client.get("/api/v1/artifacts").await.expect(200).json();
    assert_eq!(used["used_bytes"], 4);
    upload(&client, "more".into()).await.expect(201);
}

#[tokio::test]
async fn a_server_does_not_start_with_a_bucket_that_it_cannot_use() {
    let service = FakeS3::start().await;
    for (name, wrong, expected) in [
        ("HELMDECK_S3_BUCKET", "absent", "the bucket \"absent\" does not exist"),
        ("HELMDECK_S3_ACCESS_KEY", "AKIDWRONG", "check HELMDECK_S3_ACCESS_KEY"),
        ("HELMDECK_S3_SECRET_KEY", "hunter2", "check HELMDECK_S3_SECRET_KEY"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let own = [
            ("HELMDECK_DATA_DIR", dir.path().to_str().unwrap()),
            ("HELMDECK_ADDR", "127.0.0.1:0"),
            (name, wrong),
        ];
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let config = Config::load(None, service.environment().into_iter().chain(own)).unwrap();
        let instance = Instance::open(config).await.unwrap();
        let runtime = Arc::new(FakeRuntime::new());
        let stop = Box::pin(std::future::ready(Shutdown::EndSessions));
        let refused =
            helmdeck_server::run(instance, runtime, Box::new(|_| {}), stop).await.unwrap_err();
        let shown = with_causes(&refused);
        assert!(shown.contains(expected) && !shown.contains("hunter2"), "{shown}");
    }
    assert!(service.keys().is_empty());
}
