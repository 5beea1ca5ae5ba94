//! Tokens and logging in.

use jsonwebtoken::{EncodingKey, Header, encode};
use secrecy::ExposeSecret;
use serde_json::json;

use crate::{
    client::{SECRET, TestServer},
    nowhere::Nowhere,
};

const LOGIN: &str = "/api/v1/auth/login";
const SESSIONS: &str = "/api/v1/sessions";

async fn with_password() -> TestServer {
    let env = [("HELMDECK_ADMIN_PASSWORD", "correct horse")];
    TestServer::start_with(&env, Nowhere::default()).await
}

fn signed(claims: serde_json::Value, secret: &str) -> String {
    encode(&Header::default(), &claims, &EncodingKey::from_secret(secret.as_bytes())).unwrap()
}

#[tokio::test]
async fn the_admin_of_the_first_start_logs_in_and_may_do_everything() {
    let server = TestServer::start().await;
    let admin = server.new_admin.clone().unwrap();
    let body = json!({"username": admin.username, "password": admin.password.expose_secret()});
    let answer = server.post(LOGIN, "", body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());

    let body = answer.json();
    assert_eq!(body["subject"], "admin");
    assert!(body["expires_at"].as_str().unwrap().ends_with('Z'));
    let token = body["token"].as_str().unwrap();
    assert_eq!(server.get(SESSIONS, token).await.status, 200);
    assert_eq!(server.get("/metrics", token).await.status, 200);
}

#[tokio::test]
async fn a_configured_password_is_not_announced() {
    let server = with_password().await;
    assert!(server.new_admin.is_none());
    let body = json!({"username": "admin", "password": "correct horse"});
    assert_eq!(server.post(LOGIN, "", body).await.status, 200);
}

#[tokio::test]
async fn wrong_credentials_look_the_same_whatever_is_wrong() {
    let server = with_password().await;
    let fail = async |username: &str, password: &str| {
        let body = json!({"username": username, "password": password});
        server.post(LOGIN, "", body).await.assert_error(401, "invalid_credentials")
    };
    assert_eq!(fail("admin", "wrong").await, fail("nobody", "correct horse").await);
}

#[tokio::test]
async fn incomplete_credentials_are_refused_before_anything_is_checked() {
    let server = with_password().await;
    for body in [json!({}), json!({"username": "admin"}), json!({"username": "", "password": "x"})]
    {
        server.post(LOGIN, "", body).await.assert_error(400, "missing_credentials");
    }
    let extra = json!({"username": "admin", "password": "x", "otp": 1});
    let message = server.post(LOGIN, "", extra).await.assert_error(400, "invalid_input");
    assert_eq!(message, "unknown field \"otp\": known fields are username, password");
    server.post(LOGIN, "", "user=admin").await.assert_error(400, "invalid_json");
}

#[tokio::test]
async fn the_sixth_wrong_password_is_told_to_wait_and_so_is_the_right_one() {
    let server = with_password().await;
    let wrong = json!({"username": "admin", "password": "wrong"});
    for _ in 0..5 {
        server.post(LOGIN, "", &wrong).await.assert_error(401, "invalid_credentials");
    }
    let right = json!({"username": "admin", "password": "correct horse"});
    for body in [&wrong, &right] {
        let answer = server.post(LOGIN, "", body).await;
        answer.assert_error(429, "too_many_attempts");
        assert!((1..=2).contains(&answer.header("retry-after").parse::<u64>().unwrap()));
    }
    let other = json!({"username": "other", "password": "wrong"});
    server.post(LOGIN, "", other).await.assert_error(401, "invalid_credentials");
}

#[tokio::test]
async fn an_expired_token_says_so() {
    let server = TestServer::start().await;
    let token = signed(
        json!({"sub": "a", "scopes": ["admin"], "iat": 1, "nbf": 1, "exp": 2, "iss": "helmdeck"}),
        SECRET,
    );
    let answer = server.get(SESSIONS, &token).await;
    let message = answer.assert_error(401, "invalid_token");
    assert!(message.contains("token expired"), "{message}");
    assert_eq!(answer.header("www-authenticate"), "Bearer realm=\"helmdeck\"");
}

#[tokio::test]
async fn a_token_that_is_not_ours_is_refused() {
    let server = TestServer::start().await;
    let claims = json!({"sub": "a", "scopes": ["admin"], "iat": 1, "nbf": 1,
                        "exp": 4_102_444_800_i64, "iss": "helmdeck"});
    let mut foreign = claims.clone();
    foreign["iss"] = json!("someone");
    let mut endless = claims.clone();
    endless.as_object_mut().unwrap().remove("exp");

    assert_eq!(server.get(SESSIONS, &signed(claims.clone(), SECRET)).await.status, 200);
    let unsigned = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIiwic2NvcGVzIjpbImFkbWluIl19.";
    for token in [
        signed(claims, "another secret, also long enough for HS256"),
        signed(foreign, SECRET),
        signed(endless, SECRET),
        unsigned.to_owned(),
        "garbage".to_owned(),
    ] {
        server.get(SESSIONS, &token).await.assert_error(401, "invalid_token");
    }
}

#[tokio::test]
async fn a_token_counts_in_the_authorization_header_only() {
    let server = TestServer::start().await;
    let token = server.token(&["admin"]);
    let path = format!("{SESSIONS}?token={token}");
    server.get(&path, "").await.assert_error(401, "missing_bearer");
    let basic = server.request(http::Method::GET, SESSIONS, "").header("authorization", "Basic x");
    server.send(basic, "").await.assert_error(401, "missing_bearer");
}
