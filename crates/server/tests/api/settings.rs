//! Settings that an admin changes at runtime.

use http::Method;
use serde_json::json;

use crate::client::TestServer;

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
