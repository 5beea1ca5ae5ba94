//! Removes header fields that must not pass through the proxy.

use http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{
        CONNECTION, CONTENT_LENGTH, EXPECT, FORWARDED, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE,
        TRANSFER_ENCODING, UPGRADE, VIA,
    },
};

/// Marks answers of the proxy itself: `denied` by policy, or `failed`.
pub(crate) const EGRESS: HeaderName = HeaderName::from_static("x-helmdeck-egress");

/// Hop-by-hop fields (RFC 9110, 7.6.1), and those between a client and its proxy.
const HOP_BY_HOP: [HeaderName; 9] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    HeaderName::from_static("proxy-authentication-info"),
    TE,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// Fields with which a client could claim to be a proxy for another client.
const PROVENANCE: [HeaderName; 6] = [
    FORWARDED,
    VIA,
    HeaderName::from_static("x-forwarded-for"),
    HeaderName::from_static("x-forwarded-host"),
    HeaderName::from_static("x-forwarded-proto"),
    HeaderName::from_static("x-real-ip"),
];

/// The protocol that the sender wants to upgrade to, if any.
pub(crate) fn upgrade(headers: &HeaderMap) -> Option<HeaderValue> {
    let asked = tokens(headers).any(|token| token.eq_ignore_ascii_case("upgrade"));
    headers.get(UPGRADE).filter(|_| asked).cloned()
}

/// Keeps only what a server should see.
pub(crate) fn clean_request(headers: &mut HeaderMap) {
    let (chunked, upgrade) = (headers.contains_key(TRANSFER_ENCODING), upgrade(headers));
    clean(headers);
    for name in &PROVENANCE {
        headers.remove(name);
    }
    // Handled here: the client is asked for the body once the server accepts it.
    headers.remove(EXPECT);
    // hyper sends the body of a GET only if a header announces it.
    if chunked {
        headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        headers.remove(CONTENT_LENGTH);
    }
    put_upgrade(headers, upgrade);
}

/// Keeps only what a client should see.
pub(crate) fn clean_response(headers: &mut HeaderMap, switches: Switches) {
    let upgrade = upgrade(headers);
    clean(headers);
    // Only this proxy may set it.
    headers.remove(EGRESS);
    if switches == Switches::Protocol {
        put_upgrade(headers, upgrade);
    }
}

/// Whether a response ends HTTP on its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Switches {
    /// It does: 101.
    Protocol,
    /// It does not.
    Nothing,
}

fn put_upgrade(headers: &mut HeaderMap, upgrade: Option<HeaderValue>) {
    if let Some(protocol) = upgrade {
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(UPGRADE, protocol);
    }
}

fn clean(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = tokens(headers).filter_map(|token| token.parse().ok()).collect();
    for name in named.iter().chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
}

/// The options in every `Connection` field.
fn tokens(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let fields = headers.get_all(CONNECTION).into_iter().filter_map(|field| field.to_str().ok());
    fields.flat_map(|field| field.split(',').map(str::trim))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(fields: &[(&'static str, &'static str)]) -> HeaderMap {
        let parsed = fields
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        parsed.collect()
    }

    fn names(headers: &HeaderMap) -> Vec<&str> {
        let mut names: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn fields_between_client_and_proxy_are_removed() {
        let mut fields = headers(&[
            ("connection", "close, X-Mine"),
            ("x-mine", "1"),
            ("keep-alive", "1"),
            ("proxy-connection", "keep-alive"),
            ("proxy-authorization", "Basic c2VjcmV0"),
            ("te", "trailers"),
            ("upgrade", "h2c"),
            ("x-forwarded-for", "10.0.0.1"),
            ("via", "1.1 x"),
            ("expect", "100-continue"),
            ("cookie", "a=b"),
            ("content-length", "3"),
        ]);
        clean_request(&mut fields);
        assert_eq!(names(&fields), ["content-length", "cookie"]);
    }

    #[test]
    fn a_site_cannot_forge_an_answer_of_the_proxy() {
        let mut fields = headers(&[("x-helmdeck-egress", "denied"), ("etag", "x")]);
        clean_response(&mut fields, Switches::Nothing);
        assert_eq!(names(&fields), ["etag"]);
    }

    #[test]
    fn a_requested_upgrade_passes() {
        let mut fields = headers(&[
            ("connection", "keep-alive, Upgrade, HTTP2-Settings"),
            ("upgrade", "websocket"),
            ("http2-settings", "x"),
            ("sec-websocket-key", "x"),
        ]);
        clean_request(&mut fields);
        assert_eq!(names(&fields), ["connection", "sec-websocket-key", "upgrade"]);
        assert_eq!(fields.get(CONNECTION).unwrap(), "Upgrade");
        clean_response(&mut fields, Switches::Nothing);
        assert_eq!(names(&fields), ["sec-websocket-key"]);
    }
}
