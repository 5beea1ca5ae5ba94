//! One recorded request, from start to end.

use helmdeck_wire::browser::{NetworkRequest, RequestKind, TabId};

use super::{
    events::{Answered, Timing},
    headers::Headers,
    moment,
};

/// The size of a request without its texts.
const REQUEST: usize = 600;

/// The browser's id of a request, shared by its redirects. Other browsers may use the same id.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Name {
    /// The number of the browser.
    pub browser: u64,
    pub id: String,
}

/// A request that is recorded.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub id: u64,
    /// The number of its last change, counted over all requests.
    pub changed: u64,
    pub name: Name,
    pub tab: TabId,
    /// The number of the recorded page it belongs to.
    pub page: u64,
    /// In seconds of the browser's monotonic clock, and since 1970.
    pub started: f64,
    pub at: f64,
    pub method: String,
    pub url: String,
    pub kind: RequestKind,
    pub sent: Headers,
    pub posted: Option<String>,
    pub response: Option<Response>,
    /// The response as the network stack received it, without the cache.
    pub really: Option<ActualResponse>,
    /// Whether `sent` holds the headers that were actually sent.
    pub really_sent: bool,
    /// No report of the actual headers will follow.
    pub no_extra: bool,
    /// When it completed or failed.
    pub ended: Option<f64>,
    pub error: Option<String>,
    /// Over the network, and decoded.
    pub bytes: Option<u64>,
    pub content: u64,
    pub from_cache: bool,
}

/// The recorded part of a response.
#[derive(Debug, Clone)]
pub(crate) struct Response {
    pub at: f64,
    pub status: u16,
    pub status_text: String,
    pub headers: Headers,
    pub mime_type: String,
    pub protocol: String,
    pub address: String,
    pub connection: u64,
    /// Bytes before the body.
    pub head: u64,
    pub timing: Option<Timing>,
}

#[derive(Debug, Clone)]
pub(crate) struct ActualResponse {
    pub status: u16,
    pub headers: Headers,
    /// The length of the headers as text.
    pub head: Option<usize>,
}

impl Request {
    pub fn status(&self) -> Option<u16> {
        let really = self.really.as_ref().map(|really| really.status).filter(|status| *status > 0);
        really.or_else(|| self.response.as_ref().map(|response| response.status))
    }

    /// The received headers.
    pub fn received(&self) -> Option<&Headers> {
        let really = self.really.as_ref().map(|really| &really.headers);
        really.or_else(|| self.response.as_ref().map(|response| &response.headers))
    }

    pub fn failed(&self) -> bool {
        self.error.is_some() || self.status().is_some_and(|status| status >= 400)
    }

    pub fn answered(&mut self, response: Answered, at: f64) {
        self.from_cache |= response.from_disk_cache || response.from_prefetch_cache;
        let headers = if self.really.is_some() { Headers::default() } else { response.headers };
        self.response = Some(Response {
            at,
            status: response.status,
            status_text: response.status_text,
            headers,
            mime_type: response.mime_type,
            protocol: response.protocol,
            address: response.remote_ip_address,
            connection: whole(response.connection_id),
            head: whole(response.encoded_data_length),
            timing: response.timing,
        });
    }

    /// Its size in memory.
    pub fn size(&self) -> usize {
        let response = self.response.as_ref().map_or(0, |response| {
            response.headers.size() + response.mime_type.len() + response.status_text.len()
        });
        let posted = self.posted.as_ref().map_or(0, String::len);
        let error = self.error.as_ref().map_or(0, String::len);
        let really = self.really.as_ref().map_or(0, |really| really.headers.size());
        // The name is stored here and in the index.
        let texts = self.url.len() + self.method.len() + 2 * self.name.id.len() + self.tab.0.len();
        REQUEST + texts + self.sent.size() + response + posted + error + really
    }

    /// The request as listed in a reply.
    pub fn listed(&self) -> NetworkRequest {
        let response = self.response.as_ref();
        let mime_type = response.map(|response| response.mime_type.clone());
        NetworkRequest {
            id: self.id,
            at: moment(self.at),
            tab: self.tab.clone(),
            method: self.method.clone(),
            url: self.url.clone(),
            kind: self.kind,
            status: self.status(),
            error: self.error.clone(),
            mime_type: mime_type.filter(|mime_type| !mime_type.is_empty()),
            bytes: self.bytes,
            ms: self.ended.map(|ended| whole((ended - self.started) * 1000.0)),
            from_cache: self.from_cache,
        }
    }
}

/// Converts a count reported as a float. Invalid numbers become zero.
pub(super) fn whole(number: f64) -> u64 {
    number.round().max(0.0) as u64
}

/// Maps the browser's resource type.
pub(super) fn kind(name: &str) -> RequestKind {
    match name {
        "Document" => RequestKind::Document,
        "Stylesheet" => RequestKind::Stylesheet,
        "Image" => RequestKind::Image,
        "Media" => RequestKind::Media,
        "Font" => RequestKind::Font,
        "Script" => RequestKind::Script,
        "TextTrack" => RequestKind::TextTrack,
        "XHR" => RequestKind::Xhr,
        "Fetch" => RequestKind::Fetch,
        "Prefetch" => RequestKind::Prefetch,
        "EventSource" => RequestKind::EventSource,
        "WebSocket" => RequestKind::WebSocket,
        "Manifest" => RequestKind::Manifest,
        "Ping" => RequestKind::Ping,
        "Preflight" => RequestKind::Preflight,
        _ => RequestKind::Other,
    }
}
