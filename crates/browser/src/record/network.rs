//! The requests of all tabs: the latest, limited in number and bytes.

use std::collections::{HashMap, VecDeque};

use helmdeck_cdp::Event;
use helmdeck_wire::browser::{ExportHar, NetworkLog, ReadNetwork, RequestKind, TabId};
use time::OffsetDateTime;

use super::{
    events::{Answered, ExtraInfo, Received, RequestProgress, SocketEvent, WillBeSent},
    extra::{Early, Extra},
    pages::{Pages, Visited},
    request::{Name, Request, kind, whole},
    shown,
};

const MAX_REQUESTS: usize = 4000;
const MAX_BYTES: usize = 12 << 20;
/// Limit on dropped requests whose last change is remembered.
const MAX_LOST: usize = 10_000;
/// The most bytes of an address, and of a `data:` address.
const MAX_URL: usize = 8 << 10;
const MAX_DATA: usize = 256;
/// The most bytes of a request body; the browser does not report longer ones.
pub(crate) const MAX_POSTED: usize = 64 << 10;
/// The default limit.
const LIMIT: u32 = 100;
/// Requests within the browser itself, which are not recorded.
const INTERNAL: [&str; 4] = ["chrome://", "devtools://", "chrome-untrusted://", "chrome-error://"];

/// The latest requests.
#[derive(Default)]
pub(crate) struct Network {
    /// INVARIANT: ids are consecutive, up to `last`.
    requests: VecDeque<Request>,
    /// The recorded hops of each request.
    hops: HashMap<Name, Vec<u64>>,
    early: Early,
    pub pages: Pages,
    bytes: usize,
    last: u64,
    /// Counts the changes to all requests.
    changes: u64,
    /// The last change of each dropped request, and how many more were dropped before.
    lost: VecDeque<u64>,
    lost_before: u64,
    /// Offset from the browser's clock to the time of day, in seconds.
    offset: Option<f64>,
    /// A person has control: request bodies are not recorded.
    pub private: bool,
}

impl Network {
    /// Records an event of a tab, in the browser of that number.
    pub fn record_event(&mut self, browser: u64, tab: &TabId, event: &Event, now: OffsetDateTime) {
        let name = |id: &str| Name { browser, id: id.to_owned() };
        match event.method.strip_prefix("Network.").unwrap_or_default() {
            "requestWillBeSent" => {
                if let Ok(told) = event.read::<WillBeSent>() {
                    self.begun(name(&told.request_id), tab, told);
                }
            }
            "requestWillBeSentExtraInfo" => {
                if let Ok(info) = event.read::<ExtraInfo>() {
                    self.extra(name(&info.request_id), Extra::sent(info));
                }
            }
            "responseReceivedExtraInfo" => {
                if let Ok(info) = event.read::<ExtraInfo>() {
                    self.extra(name(&info.request_id), Extra::came(info));
                }
            }
            "responseReceived" => {
                if let Ok(received) = event.read::<Received>() {
                    self.answered(&name(&received.request_id), received);
                }
            }
            "requestServedFromCache" | "dataReceived" | "loadingFinished" | "loadingFailed" => {
                if let Ok(went_on) = event.read::<RequestProgress>() {
                    self.went_on(&name(&went_on.request_id), &event.method, &went_on);
                }
            }
            method if method.starts_with("webSocket") && !method.starts_with("webSocketFrameS") => {
                self.on_socket_event(browser, tab, event, now);
            }
            _ => {}
        }
    }

    fn begun(&mut self, name: Name, tab: &TabId, told: WillBeSent) {
        if INTERNAL.iter().any(|scheme| told.request.url.starts_with(scheme)) {
            return;
        }
        self.offset = Some(told.wall_time - told.timestamp);
        let mut taken_back = Vec::new();
        match (&told.redirect_response, self.current(&name)) {
            (Some(response), Some(before)) => {
                let (response, at) = (response.clone(), told.timestamp);
                let bytes = whole(response.encoded_data_length);
                self.change(before, |request| {
                    if !told.redirect_has_extra_info {
                        taken_back = Extra::take_back(request);
                    }
                    request.answered(response, at);
                    (request.ended, request.bytes) = (Some(at), Some(bytes));
                });
            }
            // Two sessions may report the same request.
            (None, Some(_)) => return,
            (_, None) => {}
        }
        let page = self.pages.of(tab, &told);
        let mut request = self.new_request(name, tab, &told.request.url);
        (request.page, request.started, request.at) = (page, told.timestamp, told.wall_time);
        (request.method, request.sent) = (told.request.method, told.request.headers);
        request.kind = kind(&told.kind);
        let posted = told.request.post_data.filter(|_| !self.private);
        request.posted = posted.filter(|posted| posted.len() <= MAX_POSTED);
        for extra in taken_back {
            extra.apply(&mut request);
        }
        self.add(request);
    }

    fn new_request(&mut self, name: Name, tab: &TabId, url: &str) -> Request {
        self.last += 1;
        self.changes += 1;
        let room = if url.starts_with("data:") { MAX_DATA } else { MAX_URL };
        Request {
            id: self.last,
            changed: self.changes,
            name,
            tab: tab.clone(),
            page: 0,
            started: 0.0,
            at: 0.0,
            method: "GET".to_owned(),
            url: shown(url, room),
            kind: RequestKind::Other,
            sent: Default::default(),
            posted: None,
            response: None,
            really: None,
            really_sent: false,
            no_extra: false,
            ended: None,
            error: None,
            bytes: None,
            content: 0,
            from_cache: false,
        }
    }

    fn add(&mut self, mut request: Request) {
        self.early.give(&mut request);
        self.bytes += request.size();
        self.hops.entry(request.name.clone()).or_default().push(request.id);
        self.requests.push_back(request);
        self.make_room();
    }

    fn make_room(&mut self) {
        while self.requests.len() > MAX_REQUESTS || self.bytes > MAX_BYTES {
            let Some(oldest) = self.requests.pop_front() else { return };
            self.bytes -= oldest.size();
            if let Some(hops) = self.hops.get_mut(&oldest.name) {
                hops.retain(|hop| *hop != oldest.id);
                if hops.is_empty() {
                    self.hops.remove(&oldest.name);
                }
            }
            if self.lost.len() == MAX_LOST {
                self.lost.pop_front();
                self.lost_before += 1;
            }
            self.lost.push_back(oldest.changed);
        }
    }

    fn answered(&mut self, name: &Name, told: Received) {
        let Some(current) = self.current(name) else { return };
        self.change(current, |request| {
            if !told.has_extra_info {
                request.no_extra = true;
            }
            request.kind = kind(&told.kind);
            request.answered(told.response, told.timestamp);
        });
    }

    fn went_on(&mut self, name: &Name, method: &str, told: &RequestProgress) {
        let Some(current) = self.current(name) else { return };
        match method {
            "Network.dataReceived" => {
                if let Some(request) = self.request(current) {
                    request.content += whole(told.data_length);
                }
            }
            "Network.requestServedFromCache" => {
                self.change(current, |request| request.from_cache = true);
            }
            "Network.loadingFinished" => self.change(current, |request| {
                request.ended = Some(told.timestamp);
                request.bytes = Some(whole(told.encoded_data_length));
            }),
            _ => self.change(current, |request| {
                request.ended = Some(told.timestamp);
                request.error = Some(told.failure());
            }),
        }
    }

    fn on_socket_event(&mut self, browser: u64, tab: &TabId, event: &Event, now: OffsetDateTime) {
        let Ok(mut told) = event.read::<SocketEvent>() else { return };
        let name = Name { browser, id: std::mem::take(&mut told.request_id) };
        let method = event.method.strip_prefix("Network.").unwrap_or_default();
        if method == "webSocketCreated" {
            let now = now.unix_timestamp_nanos() as f64 / 1e9;
            let mut request = self.new_request(name, tab, &told.url);
            (request.kind, request.at) = (RequestKind::WebSocket, now);
            request.started = self.offset.map_or(0.0, |offset| now - offset);
            request.page = self.pages.shown(tab);
            return self.add(request);
        }
        let Some(current) = self.current(&name) else { return };
        match method {
            "webSocketWillSendHandshakeRequest" => self.change(current, |request| {
                (request.started, request.at) = (told.timestamp, told.wall_time);
                (request.sent, request.really_sent) = (told.request.headers, true);
            }),
            "webSocketHandshakeResponseReceived" => self.change(current, |request| {
                if let Some(headers) = told.response.request_headers {
                    request.sent = headers;
                }
                let response = Answered {
                    status: told.response.status,
                    status_text: told.response.status_text,
                    headers: told.response.headers,
                    protocol: "http/1.1".to_owned(),
                    ..Answered::default()
                };
                request.answered(response, told.timestamp);
            }),
            "webSocketFrameError" => {
                let Ok(told) = event.read::<RequestProgress>() else { return };
                self.change(current, |request| request.error = Some(told.error_message));
            }
            "webSocketClosed" => {
                self.change(current, |request| request.ended = Some(told.timestamp));
            }
            _ => {}
        }
    }

    fn extra(&mut self, name: Name, extra: Extra) {
        let hops = self.hops.get(&name).map(Vec::as_slice).unwrap_or_default();
        let first = self.first();
        let lacking = hops.iter().copied().find(|hop| {
            let request = index(*hop, first).and_then(|index| self.requests.get(index));
            request.is_some_and(|request| extra.fits(request))
        });
        match lacking {
            Some(hop) => self.change(hop, |request| extra.apply(request)),
            None => self.early.add(name, extra),
        }
    }

    /// Marks the open requests of a tab as failed.
    pub fn lost(&mut self, tab: &TabId, why: &str) {
        let under_way = self.requests.iter().filter(|request| {
            request.tab == *tab && request.ended.is_none() && request.error.is_none()
        });
        let under_way: Vec<_> = under_way.map(|request| request.id).collect();
        for id in under_way {
            self.change(id, |request| request.error = Some(why.to_owned()));
        }
    }

    /// Returns the requests that match.
    pub fn read(&self, wanted: &ReadNetwork) -> NetworkLog {
        let ReadNetwork { tab, since, limit, failed, kind } = wanted;
        let limit = usize::try_from(limit.unwrap_or(LIMIT)).unwrap_or(usize::MAX);
        let mut requests: Vec<_> = self.since(tab.as_ref(), *since).collect();
        requests.retain(|request| {
            (!failed || request.failed()) && kind.is_none_or(|kind| request.kind == kind)
        });
        let mut next = self.changes;
        if since.is_some() {
            requests.sort_by_key(|request| request.changed);
            if requests.len() > limit {
                requests.truncate(limit);
                next = requests.last().map_or(next, |request| request.changed);
            }
        } else {
            requests.drain(..requests.len().saturating_sub(limit));
        }
        let from = since.unwrap_or(0);
        let lost = self.lost.iter().filter(|changed| **changed > from).count();
        let before = if from == 0 { self.lost_before } else { 0 };
        let dropped = before + u64::try_from(lost).unwrap_or(u64::MAX);
        let requests = requests.into_iter().map(Request::listed).collect();
        NetworkLog { requests, dropped, next }
    }

    /// Returns the requests to export, and all recorded pages.
    pub fn export(&self, wanted: &ExportHar) -> (Vec<Request>, Vec<Visited>) {
        let requests = self.since(wanted.tab.as_ref(), wanted.since).cloned().collect();
        (requests, self.pages.list())
    }

    fn since<'a>(
        &'a self,
        tab: Option<&'a TabId>,
        since: Option<u64>,
    ) -> impl Iterator<Item = &'a Request> {
        let from = since.unwrap_or(0);
        self.requests.iter().filter(move |request| {
            request.changed > from && tab.is_none_or(|tab| request.tab == *tab)
        })
    }

    pub fn knows(&self, tab: &TabId) -> bool {
        self.requests.iter().any(|request| request.tab == *tab)
    }

    /// The last hop of a request, if it is recorded.
    fn current(&self, name: &Name) -> Option<u64> {
        self.hops.get(name)?.last().copied()
    }

    fn first(&self) -> u64 {
        self.requests.front().map_or(0, |request| request.id)
    }

    fn request(&mut self, id: u64) -> Option<&mut Request> {
        index(id, self.first()).and_then(|index| self.requests.get_mut(index))
    }

    /// Changes a request and counts the change.
    fn change(&mut self, id: u64, change: impl FnOnce(&mut Request)) {
        self.changes += 1;
        let changes = self.changes;
        let Some(request) = self.request(id) else { return };
        let before = request.size();
        change(request);
        request.changed = changes;
        let after = request.size();
        self.bytes = (self.bytes + after).saturating_sub(before);
        self.make_room();
    }
}

fn index(id: u64, first: u64) -> Option<usize> {
    usize::try_from(id.checked_sub(first)?).ok()
}

impl RequestProgress {
    fn failure(&self) -> String {
        let cors = self.cors_error_status.as_ref().map(|error| error.cors_error.as_str());
        match self.blocked_reason.as_deref().or(cors) {
            Some(why) => format!("{} ({why})", self.error_text),
            None => self.error_text.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
