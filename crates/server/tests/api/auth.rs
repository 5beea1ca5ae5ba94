//! Tokens and login.

use std::time::Duration;

use futures_util::future::{join, join_all};
use jsonwebtoken::{EncodingKey, Header, encode};
use secrecy::ExposeSecret;
use serde_json::json;
use time::OffsetDateTime;
use tokio::time::timeout;

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
async fn the_initial_admin_can_log_in_with_all_scopes() {
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
    assert_eq!(message, "unknown field \"otp\": known fields are password, username");
    server.post(LOGIN, "", "user=admin").await.assert_error(400, "invalid_json");
}

#[tokio::test]
async fn after_five_wrong_passwords_even_the_right_one_has_to_wait() {
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
async fn an_expired_token_is_reported_as_expired() {
    let server = TestServer::start().await;
    let token = signed(
        json!({"sub": "a", "scopes": ["admin"], "iat": 1, "nbf": 1, "exp": 2, "iss": "helmdeck"}),
        SECRET,
    );
    let answer = server.get(SESSIONS, &token).await;
    let message = answer.assert_error(401, "invalid_token");
    assert!(message.contains("has expired"), "{message}");
    assert_eq!(answer.header("www-authenticate"), "Bearer realm=\"helmdeck\"");
}

#[tokio::test]
async fn foreign_tokens_are_refused() {
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
        let refused = server.get(SESSIONS, &token).await;
        refused.assert_error(401, "invalid_token");
        assert_eq!(refused.header("www-authenticate"), "Bearer realm=\"helmdeck\"");
    }
}

#[tokio::test]
async fn a_token_that_has_just_expired_is_accepted_because_clocks_differ() {
    let server = TestServer::start().await;
    let expired = |seconds: i64| {
        let exp = OffsetDateTime::now_utc().unix_timestamp() - seconds;
        let claims = json!({"sub": "a", "scopes": ["admin"], "iat": 1, "nbf": 1, "exp": exp,
                            "iss": "helmdeck"});
        signed(claims, SECRET)
    };
    assert_eq!(server.get(SESSIONS, &expired(1)).await.status, 200);
    server.get(SESSIONS, &expired(10)).await.assert_error(401, "invalid_token");
}

#[tokio::test]
async fn a_token_is_accepted_in_the_authorization_header_only() {
    let server = TestServer::start().await;
    let token = server.token(&["admin"]);
    let path = format!("{SESSIONS}?token={token}");
    server.get(&path, "").await.assert_error(401, "missing_bearer");
    let basic = server.request(http::Method::GET, SESSIONS, "").header("authorization", "Basic x");
    server.send(basic, "").await.assert_error(401, "missing_bearer");
}

#[tokio::test]
async fn pages_of_other_sites_cannot_log_their_visitors_in_by_cookie() {
    let server = with_password().await;
    let body = json!({"username": "admin", "password": "correct horse"}).to_string();
    let send = async |kind: &str, origin: &str| {
        let mut request = server.request(http::Method::POST, "/api/v1/auth/cookie", "");
        if !kind.is_empty() {
            request = request.header("content-type", kind);
        }
        if !origin.is_empty() {
            request = request.header("origin", origin);
        }
        server.send(request, &body).await
    };
    for kind in ["", "text/plain", "application/x-www-form-urlencoded", "application/jsonx"] {
        let message = send(kind, "").await.assert_error(400, "invalid_input");
        assert!(message.contains("application/json"), "{message}");
    }
    let json = "application/json; charset=utf-8";
    send(json, "https://evil.example").await.assert_error(403, "foreign_origin");
    assert_eq!(send(json, "").await.status, 200);
}

#[tokio::test]
async fn a_login_succeeds_during_a_flood_of_failures_from_another_address() {
    let server = with_password().await;
    let request = || server.request(http::Method::POST, LOGIN, "");
    let wrong = (0..120).map(async |n| {
        let body = json!({"username": format!("user{n}"), "password": "wrong"}).to_string();
        server.send(request(), &body).await.status.as_u16()
    });
    // Before the failures of one address had to wait for one another, it took 17 seconds.
    let soon = Duration::from_secs(8);
    let right = async {
        let body = json!({"username": "admin", "password": "correct horse"}).to_string();
        let login = server.send_from([127, 0, 0, 2], request(), &body);
        timeout(soon, login).await.expect("no wait for the failures").status.as_u16()
    };
    let (answers, right) = join(join_all(wrong), right).await;
    assert_eq!(right, 200);
    let refused = answers.iter().filter(|status| **status == 429).count();
    assert!(refused > 0 && answers.iter().all(|status| [401, 429].contains(status)), "{answers:?}");
}

#[tokio::test]
async fn behind_a_trusted_proxy_failed_logins_are_counted_by_client() {
    let env =
        [("HELMDECK_ADMIN_PASSWORD", "correct horse"), ("HELMDECK_TRUSTED_PROXIES", "127.0.0.9")];
    let server = TestServer::start_with(&env, Nowhere::default()).await;
    let try_from = async |proxy: [u8; 4], client: &str, password: &str| {
        let body = json!({"username": "admin", "password": password}).to_string();
        let request =
            server.request(http::Method::POST, LOGIN, "").header("x-forwarded-for", client);
        server.send_from(proxy, request, &body).await.status.as_u16()
    };
    for _ in 0..5 {
        assert_eq!(try_from([127, 0, 0, 9], "192.0.2.1", "wrong").await, 401);
    }
    assert_eq!(try_from([127, 0, 0, 9], "192.0.2.1", "correct horse").await, 429);
    assert_eq!(try_from([127, 0, 0, 9], "192.0.2.2", "correct horse").await, 200);
    // `X-Forwarded-For` of other peers is ignored.
    for n in 0..5 {
        assert_eq!(try_from([127, 0, 0, 1], &format!("198.51.100.{n}"), "wrong").await, 401);
    }
    assert_eq!(try_from([127, 0, 0, 1], "198.51.100.9", "correct horse").await, 429);
}
