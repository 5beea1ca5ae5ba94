//! What clients that speak plain HTTP to a TLS port are told.

use axum::{
    Router,
    extract::Request,
    response::{IntoResponse, Redirect, Response},
};
use http::{HeaderValue, Method, StatusCode, header, uri::Authority};

/// Answers everything in plain HTTP.
pub fn router() -> Router {
    Router::new().fallback(use_https)
}

/// Sends browsers to the same address with https. Programs are refused: one whose first request is
/// redirected would send its token in plain text again and again.
async fn use_https(request: Request) -> Response {
    let headers = request.headers();
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let host = host.filter(|host| host.parse::<Authority>().is_ok());
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
    let https = host.map(|host| format!("https://{host}{target}"));
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let browser = reads && !headers.contains_key(header::AUTHORIZATION);
    let mut response = match https {
        // Not for good: browsers would remember it after TLS was turned off.
        Some(https) if browser && !headers.contains_key(header::UPGRADE) => {
            Redirect::temporary(&https).into_response()
        }
        https => {
            let https = https.unwrap_or_else(|| "https://".to_owned());
            let message = format!("This port speaks HTTPS: use {https}\n");
            (StatusCode::BAD_REQUEST, message).into_response()
        }
    };
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}
