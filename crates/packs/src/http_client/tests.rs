//! Tests of addresses and redirects.

use super::*;

#[test]
fn an_address_is_split_into_host_and_path() {
    for (url, host, rest) in [
        ("http://a.example", "a.example", "/"),
        ("HTTPS://a.example:8443/x/y?q=1#z", "a.example:8443", "/x/y?q=1"),
        ("http://a.example?q=1", "a.example", "/?q=1"),
    ] {
        assert_eq!(authority(url).unwrap().1, host, "{url}");
        assert_eq!(path(url), rest, "{url}");
    }
    for bad in ["ftp://a", "file:///etc/passwd", "http://me:secret@a/", "a.example", ""] {
        assert_eq!(authority(bad).unwrap_err().code(), ErrorCode::InvalidInput, "{bad}");
    }
}

#[test]
fn a_redirect_may_be_relative() {
    let base = "http://a.example/x/y?q=1";
    for (location, url) in [
        ("https://b.example/", "https://b.example/"),
        ("//b.example/", "http://b.example/"),
        ("/z", "http://a.example/z"),
        ("z", "http://a.example/x/z"),
    ] {
        assert_eq!(join(base, location).as_deref(), Some(url));
    }
}

#[test]
fn a_redirect_to_another_host_loses_credentials_and_a_post_becomes_a_get() {
    let mut request = HttpRequest::get("http://a.example/x");
    request.method = Method::POST;
    request.body = Bytes::from_static(b"secret");
    request.headers.insert(header::AUTHORIZATION, HeaderValue::from_static("Bearer t"));
    let response = |status: u16, location| HttpResponse {
        status: StatusCode::from_u16(status).unwrap(),
        headers: HeaderMap::from_iter([(header::LOCATION, HeaderValue::from_static(location))]),
        body: Bytes::new(),
        truncated: false,
        url: String::new(),
    };
    let next = redirect(&request, &response(302, "http://b.example/")).unwrap();
    assert_eq!((next.method, next.body.len()), (Method::GET, 0));
    assert!(!next.headers.contains_key(header::AUTHORIZATION));
    let next = redirect(&request, &response(307, "/y")).unwrap();
    assert_eq!((next.method, next.body.len()), (Method::POST, 6));
    assert!(next.headers.contains_key(header::AUTHORIZATION));
    assert!(redirect(&request, &response(200, "/y")).is_none());
}

#[test]
fn a_service_of_the_operator_cannot_redirect_to_another_server() {
    let request = HttpRequest::get("http://10.0.0.1:3002/scrape");
    let response = |location| HttpResponse {
        status: StatusCode::TEMPORARY_REDIRECT,
        headers: HeaderMap::from_iter([(header::LOCATION, HeaderValue::from_static(location))]),
        body: Bytes::new(),
        truncated: false,
        url: String::new(),
    };
    let client = HttpClient::for_services().unwrap();
    let error = client.redirect(&request, &response("http://169.254.169.254/")).unwrap_err();
    assert_eq!(error.code(), ErrorCode::EgressDenied, "{error}");
    let next = client.redirect(&request, &response("/v2/scrape")).unwrap().unwrap();
    assert_eq!(next.url, "http://10.0.0.1:3002/v2/scrape");
    let other = HttpClient::new(Policy::new(Vec::new(), Vec::new())).unwrap();
    assert!(other.redirect(&request, &response("http://b.example/")).unwrap().is_some());
}
