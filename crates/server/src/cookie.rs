//! The page's cookie. It holds a token that scripts cannot read.

use axum::http::HeaderValue;
use cookie::{Cookie, SameSite};
use http::{HeaderMap, header};
use time::Duration;

use crate::App;

/// The cookie's name. Cookies ignore ports, and there may be several servers on a machine. Over TLS the name
/// differs: a page without TLS cannot replace a secure cookie, so logins would fail after TLS is turned off.
pub fn name(port: u16, tls: bool) -> String {
    // Browsers accept this prefix only from this host, and only over TLS.
    let prefix = if tls { "__Host-" } else { "" };
    format!("{prefix}helmdeck-{port}")
}

/// The cookie's value.
pub fn read<'a>(app: &App, headers: &'a HeaderMap) -> Option<&'a str> {
    find(&app.cookie_name, headers)
}

/// Sets the cookie for `seconds`; 0 deletes it.
pub fn set(app: &App, value: &str, seconds: i64) -> HeaderValue {
    // A token consists of letters, digits, dots, dashes and underscores.
    format(&app.cookie_name, value, seconds, app.origins.secure)
        .unwrap_or(HeaderValue::from_static(""))
}

/// The value of the first cookie with this name.
fn find<'a>(name: &str, headers: &'a HeaderMap) -> Option<&'a str> {
    let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut cookies = values.flat_map(Cookie::split_parse).filter_map(Result::ok);
    cookies.find(|cookie| cookie.name() == name)?.value_raw()
}

fn format(name: &str, value: &str, seconds: i64, secure: bool) -> Option<HeaderValue> {
    let cookie = Cookie::build((name, value))
        .http_only(true)
        .same_site(SameSite::Strict)
        .secure(secure)
        .path("/")
        .max_age(Duration::seconds(seconds));
    HeaderValue::try_from(cookie.to_string()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cookie_is_found_among_others_in_one_header_or_several() {
        let mut headers = HeaderMap::new();
        assert_eq!(find("helmdeck-3000", &headers), None);
        for value in ["theme=dark;  broken; helmdeck-300=no", "helmdeck-3000= a.b-c_d=; x=y"] {
            headers.append(header::COOKIE, value.parse().unwrap());
        }
        assert_eq!(find("helmdeck-3000", &headers), Some("a.b-c_d="));
        assert_eq!(find("helmdeck-300", &headers), Some("no"));
        assert_eq!(find("HELMDECK-3000", &headers), None);
    }

    #[test]
    fn the_cookie_has_another_name_over_tls() {
        assert_eq!(name(3000, false), "helmdeck-3000");
        assert_eq!(name(3000, true), "__Host-helmdeck-3000");
    }

    #[test]
    fn the_cookie_is_hidden_from_scripts_other_sites_and_plain_http() {
        let text = |secure| format("helmdeck-3000", "a.b", 60, secure).unwrap();
        assert_eq!(
            text(true),
            "helmdeck-3000=a.b; HttpOnly; SameSite=Strict; Secure; Path=/; Max-Age=60"
        );
        assert_eq!(text(false), "helmdeck-3000=a.b; HttpOnly; SameSite=Strict; Path=/; Max-Age=60");
        let gone = format("helmdeck-3000", "", 0, false).unwrap();
        assert_eq!(gone, "helmdeck-3000=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0");
    }
}
