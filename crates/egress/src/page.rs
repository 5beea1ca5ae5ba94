//! The page that a client gets in place of a connection.

use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Response, StatusCode,
    header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE},
};
use http_body_util::Full;

use crate::{EgressError, ViaError, headers};

/// The answer to a connection over the limit, sent without reading the request.
pub(crate) const OVERLOADED: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\n\
    content-type: text/plain; charset=utf-8\r\n\
    x-helmdeck-egress: failed\r\n\
    connection: close\r\n\
    content-length: 67\r\n\r\n\
    helmdeck: this session has too many connections open. Close some.\r\n";

/// The format of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Html,
    Text,
}

impl Format {
    /// HTML if the client names it in `Accept`, as browsers do.
    pub(crate) fn wanted(headers: &HeaderMap) -> Self {
        let fields = headers.get_all(ACCEPT).into_iter().filter_map(|field| field.to_str().ok());
        let html = fields.flat_map(|field| field.split(',')).any(|kind| {
            kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/html"))
        });
        if html { Self::Html } else { Self::Text }
    }
}

/// The page that explains why `asked` is not reachable, with advice.
pub(crate) fn refusal(error: &EgressError, asked: &str, format: Format) -> Response<Full<Bytes>> {
    let status = status(error);
    let (title, advice) = match error {
        EgressError::Denied { rule, address } => {
            ("Not allowed from this session", rule.advice(*address))
        }
        EgressError::BadTarget { .. }
        | EgressError::BadRange(_)
        | EgressError::BadVia(_)
        | EgressError::BadBypass(_) => ("The proxy does not understand the request", String::new()),
        EgressError::Via(error) => (error.title(), error.advice()),
        EgressError::Unresolved(_)
        | EgressError::ResolveDeadline
        | EgressError::Unreachable { .. }
        | EgressError::ConnectDeadline { .. }
        | EgressError::Broken(_)
        | EgressError::Nonsense(_)
        | EgressError::AnswerDeadline => ("The server could not be reached", String::new()),
    };
    let reason = reason(error);
    let (kind, body) = match format {
        Format::Html => ("text/html; charset=utf-8", html(title, asked, &reason, &advice)),
        Format::Text => ("text/plain; charset=utf-8", text(title, asked, &reason, &advice)),
    };
    let denied = error.denial().is_some();
    let mut response = Response::new(Full::from(body));
    *response.status_mut() = status;
    let fields = response.headers_mut();
    fields.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    fields.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    fields.insert(
        headers::EGRESS,
        HeaderValue::from_static(if denied { "denied" } else { "failed" }),
    );
    response
}

fn status(error: &EgressError) -> StatusCode {
    match error {
        EgressError::BadRange(_)
        | EgressError::BadTarget { .. }
        | EgressError::BadVia(_)
        | EgressError::BadBypass(_) => StatusCode::BAD_REQUEST,
        EgressError::Via(ViaError::Unreachable(cause)) => status(cause),
        EgressError::Via(ViaError::Deadline) => StatusCode::GATEWAY_TIMEOUT,
        // Not 407: a browser would ask the viewer for a password.
        EgressError::Via(
            ViaError::Credentials(_)
            | ViaError::Refused(_)
            | ViaError::Nonsense(_)
            | ViaError::Broken(_),
        ) => StatusCode::BAD_GATEWAY,
        EgressError::Denied { .. } => StatusCode::FORBIDDEN,
        EgressError::Unresolved(_)
        | EgressError::Unreachable { .. }
        | EgressError::Broken(_)
        | EgressError::Nonsense(_) => StatusCode::BAD_GATEWAY,
        EgressError::ResolveDeadline
        | EgressError::ConnectDeadline { .. }
        | EgressError::AnswerDeadline => StatusCode::GATEWAY_TIMEOUT,
    }
}

/// The error and its causes, as one sentence.
fn reason(error: &EgressError) -> String {
    let mut sentence = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(source) = cause {
        sentence.push_str(": ");
        sentence.push_str(&source.to_string());
        cause = source.source();
    }
    sentence.push('.');
    sentence
}

fn text(title: &str, asked: &str, reason: &str, advice: &str) -> String {
    let end = if advice.is_empty() { String::new() } else { format!("{advice}\n") };
    format!("helmdeck: {title}.\n\nAsked for: {asked}\nReason: {reason}\n{end}")
}

fn html(title: &str, asked: &str, reason: &str, advice: &str) -> String {
    let (asked, reason, advice) = (escaped(asked), escaped(reason), escaped(advice));
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         <style>:root{{color-scheme:light dark}}body{{font:16px/1.5 system-ui,sans-serif;\
         max-width:40rem;margin:15vh auto;padding:0 1.5rem}}h1{{font-size:1.4rem}}\
         dt{{opacity:.7}}dd{{margin:0 0 1rem;overflow-wrap:anywhere}}\
         footer{{opacity:.7;font-size:.85rem}}</style></head><body><h1>{title}</h1>\
         <dl><dt>Asked for</dt><dd><code>{asked}</code></dd>\
         <dt>Reason</dt><dd>{reason}</dd></dl><p>{advice}</p>\
         <footer>This page comes from helmdeck, not from the server that was asked for.</footer>\
         </body></html>\n"
    )
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_overload_answer_has_the_length_it_claims() {
        let text = std::str::from_utf8(OVERLOADED).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}", body.len())), "{}", body.len());
    }

    #[test]
    fn markup_in_a_page_is_escaped() {
        let error = EgressError::BadTarget { text: "<script>".into(), reason: "it is not" };
        let page = html("t", "<img src=x>", &reason(&error), "");
        assert!(!page.contains("<script") && !page.contains("<img"), "{page}");
    }

    #[test]
    fn browsers_get_html_and_tools_get_text() {
        let wanted = |accept: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_static(accept));
            Format::wanted(&headers)
        };
        assert_eq!(wanted("text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"), Format::Html);
        assert_eq!(wanted("application/json, Text/HTML;q=0.1"), Format::Html);
        assert_eq!(wanted("*/*"), Format::Text);
        assert_eq!(Format::wanted(&HeaderMap::new()), Format::Text);
    }
}
