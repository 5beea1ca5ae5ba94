//! Settings that an admin changes at runtime.

use helmdeck_testkit::{Client, FakeVendors, VendorFault};
use http::Method;
use serde_json::{Value, json};

use crate::{client::TestServer, models::server};

#[tokio::test]
async fn an_admin_turns_a_feature_on_and_others_see_it() {
    let server = TestServer::start().await;
    let (admin, reader) = (server.token(&["admin"]), server.token(&["sessions:read"]));
    let ask = async |method: Method, token: &str, body: &str| {
        server.send(server.request(method, "/api/v1/settings", token), body).await
    };
    let off = json!({ "browser_passthrough": { "enabled": false, "by_configuration": false } });
    assert_eq!(ask(Method::GET, &reader, "").await.json(), off);

    let turn_on = r#"{"browser_passthrough": true}"#;
    ask(Method::PATCH, &reader, turn_on).await.assert_error(403, "forbidden");
    assert_eq!(ask(Method::GET, &reader, "").await.json(), off);
    let on = ask(Method::PATCH, &admin, turn_on).await.json();
    assert_eq!(on["browser_passthrough"]["enabled"], json!(true));
    assert_eq!(ask(Method::GET, &reader, "").await.json(), on);
    // Fields that are not given keep their values.
    assert_eq!(ask(Method::PATCH, &admin, "{}").await.json(), on);
    let message = ask(Method::PATCH, &admin, r#"{"browser_pasthrough": true}"#).await;
    assert!(message.assert_error(400, "invalid_input").contains("browser_pasthrough"));
}

#[tokio::test]
async fn the_model_of_vision_is_pinned_for_runs_that_name_none_and_stays_after_a_restart() {
    let vendors = FakeVendors::start().await;
    let mut server = server(&vendors, &["groq", "openai"], &[]).await;
    let (admin, ann) = (server.admin(), server.client("ann", "sessions:*,models:use"));
    let change = async |client: &Client, model: &str| {
        let body = json!({ "vision_model": model }).to_string();
        client.send(Method::PATCH, "/api/v1/settings", &[], body.into()).await
    };
    let listed = async |client: &Client| client.get("/api/v1/models").await.expect(200).json();
    assert_eq!(listed(&ann).await["vision_pinned"], false);
    change(&ann, "groq/llama-4-scout").await.expect_error(403, "forbidden");
    change(&admin, "nobody/x").await.expect_error(404, "model_not_found");
    change(&admin, "x").await.expect_error(400, "invalid_input");
    let shown = change(&admin, "groq/llama-4-scout").await.expect(200).json();
    assert_eq!(shown["vision_model"], "groq/llama-4-scout");

    server.leave().await;
    server.restart().await;
    let ann = server.client("ann", "sessions:*,models:use");
    let list = listed(&ann).await;
    assert_eq!(
        (&list["vision_model"], &list["vision_pinned"]),
        (&json!("groq/llama-4-scout"), &json!(true))
    );
    let desk = crate::vision::desktop(&server, &ann).await;
    vendors.fail("groq", VendorFault::Status(500, None), 1);
    let path = format!("/api/v1/sessions/{}/vision/act", desk.id);
    let run = ann.post(&path, &json!({ "instruction": "Click Save" })).await.expect(200).json();
    assert_eq!((&run["outcome"], vendors.count("groq")), (&json!("provider_error"), 1), "{run}");
    let shown = change(&server.admin(), "").await.expect(200).json();
    assert_eq!(shown["vision_model"], Value::Null);
    assert_eq!(listed(&ann).await["vision_pinned"], false);
}
