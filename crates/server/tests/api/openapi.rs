//! The API's description of itself, and its snapshot in the repository.

use std::{fs, path::Path};

use serde_json::Value;

use crate::client::TestServer;

#[tokio::test]
async fn the_document_is_the_one_in_the_repository() {
    let server = TestServer::start().await;
    let answer = server.get("/api/v1/openapi.json", "").await;
    assert_eq!(answer.header("content-type"), "application/json");
    let served = answer.json();

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    if std::env::var_os("HELMDECK_UPDATE_SNAPSHOTS").is_some() {
        let text = serde_json::to_string_pretty(&served).unwrap();
        fs::write(&path, text + "\n").unwrap();
    }
    let kept: Value =
        serde_json::from_str(&fs::read_to_string(&path).unwrap_or_default()).unwrap_or_default();
    assert!(
        served == kept,
        "the API changed: look at the difference after HELMDECK_UPDATE_SNAPSHOTS=1 cargo nextest \
         run -p helmdeck-server openapi, and commit docs/openapi.json"
    );
}

#[tokio::test]
async fn the_document_lists_every_operation_with_its_errors() {
    let server = TestServer::start().await;
    let document = server.get("/api/v1/openapi.json", "").await.json();
    assert_eq!(document["openapi"], "3.1.0");
    for operation in helmdeck_server::operations() {
        let method = operation.method.as_str().to_ascii_lowercase();
        let path = operation.path.replace("{*", "{");
        let described = &document["paths"][path][method];
        assert_eq!(described["operationId"], operation.id.as_str(), "{}", operation.path);
        let error = &described["responses"]["default"]["$ref"];
        assert_eq!(error, "#/components/responses/Error");
    }
}
