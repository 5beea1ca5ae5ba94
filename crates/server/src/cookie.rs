//! The page's cookie: it holds a token that no script can read.

use axum::http::HeaderValue;
use http::{HeaderMap, header};

use crate::App;

/// Its value, if the browser sent it.
pub fn read<'a>(app: &App, headers: &'a HeaderMap) -> Option<&'a str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.split_once('='));
    pairs.find(|(name, _)| name.trim() == app.cookie_name).map(|(_, value)| value.trim())
}

/// Sets it for `seconds`; 0 takes it away.
pub fn set(app: &App, value: &str, seconds: i64) -> HeaderValue {
    let secure = if app.origins.secure { "; Secure" } else { "" };
    let name = &app.cookie_name;
    let text =
        format!("{name}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={seconds}{secure}");
    // A token is made of letters, digits, dots, dashes and underscores.
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(""))
}
