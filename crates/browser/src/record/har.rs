//! Requests as a HAR 1.2 document.

use std::net::IpAddr;

use helmdeck_wire::browser::{Har, RequestKind};
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::{
    cookies,
    headers::Headers,
    moment,
    pages::Visited,
    request::{Request, Response},
};

/// Builds the document from these requests and the pages they belong to.
pub(crate) fn document(requests: &[Request], pages: &[Visited], secrets: bool) -> Har {
    let of = |page: &&Visited| requests.iter().any(|request| request.page == page.id);
    let pages: Vec<_> = pages.iter().filter(of).collect();
    let known = |request: &Request| pages.iter().any(|page| page.id == request.page);
    let entries: Vec<_> =
        requests.iter().map(|request| entry(request, known(request), secrets)).collect();
    let log = json!({
        "version": "1.2",
        "creator": { "name": "helmdeck", "version": env!("CARGO_PKG_VERSION") },
        "pages": pages.into_iter().map(page).collect::<Vec<_>>(),
        "entries": entries,
    });
    Har { log }
}

fn page(page: &Visited) -> Value {
    let after = |moment: Option<f64>| moment.map_or(-1.0, |at| (at - page.started) * 1000.0);
    json!({
        "id": name(page.id),
        "startedDateTime": date(moment(page.at)),
        "title": page.url,
        "pageTimings": { "onContentLoad": after(page.dom), "onLoad": after(page.load) },
    })
}

fn name(page: u64) -> String {
    format!("page_{page}")
}

fn entry(request: &Request, with_page: bool, secrets: bool) -> Value {
    let timings = Timings::of(request);
    let mut entry = json!({
        "startedDateTime": date(moment(request.at)),
        "time": timings.total(),
        "request": har_request(request, secrets),
        "response": answered(request, secrets),
        "cache": {},
        "timings": timings.har(),
        "_resourceType": request.kind.as_str(),
    });
    if let Value::Object(entry) = &mut entry {
        if with_page {
            entry.insert("pageref".to_owned(), json!(name(request.page)));
        }
        if let Some(response) = &request.response {
            if let Some(address) = server(response, &request.url) {
                entry.insert("serverIPAddress".to_owned(), json!(address.to_string()));
            }
            if response.connection > 0 {
                // Connection numbers are unique only within one browser.
                let connection = format!("{}-{}", request.name.browser, response.connection);
                entry.insert("connection".to_owned(), json!(connection));
            }
        }
        if request.from_cache {
            entry.insert("_fromCache".to_owned(), json!("disk"));
        }
    }
    entry
}

fn har_request(request: &Request, secrets: bool) -> Value {
    let posted = request.posted.as_ref();
    let mut described = json!({
        "method": request.method,
        "url": request.url,
        "httpVersion": version(request.response.as_ref()),
        "cookies": cookies::sent(&request.sent, secrets),
        "headers": request.sent.har(secrets),
        "queryString": query(&request.url),
        "headersSize": -1,
        "bodySize": length(&request.sent).or(posted.map(String::len)).unwrap_or(0),
    });
    if let (Value::Object(described), Some(posted), true) = (&mut described, posted, secrets) {
        let mime_type = request.sent.get("content-type").unwrap_or_default();
        described.insert("postData".to_owned(), json!({ "mimeType": mime_type, "text": posted }));
    }
    described
}

fn length(headers: &Headers) -> Option<usize> {
    headers.get("content-length")?.parse().ok()
}

fn answered(request: &Request, secrets: bool) -> Value {
    let none = Headers::default();
    let headers = request.received().unwrap_or(&none);
    let response = request.response.as_ref();
    let head = request.really.as_ref().and_then(|really| really.head);
    let body = match (request.from_cache, request.bytes, response) {
        (true, ..) => Some(0),
        (false, Some(bytes), Some(response)) => Some(bytes.saturating_sub(response.head)),
        _ => None,
    };
    let mime_type = response.map(|response| response.mime_type.as_str()).unwrap_or_default();
    let mut answered = json!({
        "status": request.status().unwrap_or(0),
        "statusText": response.map(|response| response.status_text.as_str()).unwrap_or_default(),
        "httpVersion": version(response),
        "cookies": cookies::set(headers, secrets),
        "headers": headers.har(secrets),
        "content": {
            "size": request.content,
            "mimeType": if mime_type.is_empty() { "x-unknown" } else { mime_type },
        },
        "redirectURL": super::shown(headers.get("location").unwrap_or_default(), 8 << 10),
        "headersSize": head.map_or(json!(-1), |head| json!(head)),
        "bodySize": body.map_or(json!(-1), |body| json!(body)),
        "_transferSize": request.bytes.filter(|_| !request.from_cache).unwrap_or(0),
    });
    if let (Value::Object(answered), Some(error)) = (&mut answered, &request.error) {
        answered.insert("_error".to_owned(), json!(error));
    }
    answered
}

fn version(response: Option<&Response>) -> String {
    match response.map(|response| response.protocol.as_str()).unwrap_or_default() {
        "" => "unknown".to_owned(),
        "h2" => "HTTP/2".to_owned(),
        "h3" => "HTTP/3".to_owned(),
        other => other.to_ascii_uppercase(),
    }
}

/// The server's address. A loopback address is the proxy's, unless the site is on loopback.
fn server(response: &Response, url: &str) -> Option<IpAddr> {
    let address: IpAddr = response.address.trim_matches(['[', ']']).parse().ok()?;
    let host = url.split_once("://").map(|(_, rest)| rest).unwrap_or_default();
    let here = ["localhost", "127.", "[::1]"].iter().any(|here| host.starts_with(here));
    (here || !address.is_loopback()).then_some(address)
}

/// The query parameters of an address.
fn query(url: &str) -> Vec<Value> {
    let url = url.split('#').next().unwrap_or_default();
    let (_, query) = url.split_once('?').unwrap_or_default();
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.map(|(name, value)| json!({ "name": decoded(name), "value": decoded(value) })).collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes().iter();
    while let Some(&byte) = rest.next() {
        let code = rest.as_slice().get(..2).filter(|_| byte == b'%');
        let code = code.and_then(|code| str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(decoded) => {
                bytes.push(decoded);
                rest.nth(1);
            }
            None => bytes.push(if byte == b'+' { b' ' } else { byte }),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A time in HAR format.
pub(super) fn date(at: OffsetDateTime) -> String {
    let (date, (hour, minute, second, milli)) = (at.date(), at.time().as_hms_milli());
    format!("{date}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

/// Phases of a request in milliseconds; `None` for a phase that did not happen. Each phase begins
/// where the previous one ended, so that they add up. `connect` includes `ssl`.
#[derive(Debug, PartialEq)]
struct Timings {
    blocked: Option<f64>,
    dns: Option<f64>,
    connect: Option<f64>,
    ssl: Option<f64>,
    send: f64,
    wait: f64,
    receive: f64,
}

impl Timings {
    fn of(request: &Request) -> Self {
        let response = request.response.as_ref();
        let since = |at: f64| ((at - request.started) * 1000.0).max(0.0);
        // A WebSocket stays open after its handshake.
        let socket = request.kind == RequestKind::WebSocket;
        let ended = response.map(|response| response.at).filter(|_| socket).or(request.ended);
        let Some(timing) = response.and_then(|response| response.timing.as_ref()) else {
            let answered = response.map_or(0.0, |response| since(response.at));
            let ended = ended.map_or(answered, since);
            let wait = if response.is_some() { answered.min(ended) } else { ended };
            let (blocked, dns, connect, ssl) = (None, None, None, None);
            return Self { blocked, dns, connect, ssl, send: 0.0, wait, receive: ended - wait };
        };
        // Since the request was made.
        let begin = since(timing.request_time);
        let at = |moment: f64| (moment >= 0.0).then_some(begin + moment);
        let mut done = 0.0;
        let mut until = |end: Option<f64>| {
            let phase = end.map(|end| (end - done).max(0.0));
            done += phase.unwrap_or(0.0);
            phase
        };
        let starts = [timing.dns_start, timing.connect_start, timing.send_start];
        let blocked = until(starts.into_iter().find_map(at));
        let dns = until(at(timing.dns_start).and(at(timing.dns_end)));
        let connect = until(at(timing.connect_start).and(at(timing.connect_end)));
        let ssl = at(timing.ssl_start).map(|_| (timing.ssl_end - timing.ssl_start).max(0.0));
        let send = until(at(timing.send_end)).unwrap_or(0.0);
        let wait = until(at(timing.receive_headers_end)).unwrap_or(0.0);
        let receive = until(ended.map(since)).unwrap_or(0.0);
        Self { blocked, dns, connect, ssl, send, wait, receive }
    }

    fn total(&self) -> f64 {
        let before = [self.blocked, self.dns, self.connect].into_iter().flatten().sum::<f64>();
        rounded(before + self.send + self.wait + self.receive)
    }

    fn har(&self) -> Value {
        let or_never = |phase: Option<f64>| phase.map_or(-1.0, rounded);
        json!({
            "blocked": or_never(self.blocked),
            "dns": or_never(self.dns),
            "connect": or_never(self.connect),
            "ssl": or_never(self.ssl),
            "send": rounded(self.send),
            "wait": rounded(self.wait),
            "receive": rounded(self.receive),
        })
    }
}

/// Rounds to whole microseconds.
fn rounded(milliseconds: f64) -> f64 {
    (milliseconds * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded() {
        let expected = json!([
            { "name": "a b", "value": "1+2" },
            { "name": "ä", "value": "%zz%" },
            { "name": "empty", "value": "" },
        ]);
        let url = "http://a/?a+b=1%2B2&%C3%A4=%zz%&&empty#c?d=1";
        assert_eq!(Value::from(query(url)), expected);
        assert!(query("http://a/").is_empty());
    }

    #[test]
    fn times_have_milliseconds() {
        assert_eq!(date(moment(1_794_815_907.07)), "2026-11-16T07:58:27.070Z");
    }
}
