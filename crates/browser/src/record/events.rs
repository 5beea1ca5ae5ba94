//! Network events of the browser, with the recorded fields only.

use serde::Deserialize;

use super::headers::Headers;

/// A request, or the next hop of one that was redirected.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct WillBeSent {
    pub request_id: String,
    pub loader_id: String,
    #[serde(rename = "documentURL")]
    pub document_url: String,
    pub request: RequestData,
    pub timestamp: f64,
    pub wall_time: f64,
    pub redirect_response: Option<Answered>,
    pub redirect_has_extra_info: bool,
    #[serde(rename = "type")]
    pub kind: String,
    pub frame_id: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct RequestData {
    pub url: String,
    pub method: String,
    pub headers: Headers,
    pub post_data: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Received {
    pub request_id: String,
    pub timestamp: f64,
    #[serde(rename = "type")]
    pub kind: String,
    pub response: Answered,
    pub has_extra_info: bool,
}

#[derive(Debug, Deserialize, Default, Clone)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Answered {
    pub status: u16,
    pub status_text: String,
    pub headers: Headers,
    pub mime_type: String,
    pub protocol: String,
    #[serde(rename = "remoteIPAddress")]
    pub remote_ip_address: String,
    pub connection_id: f64,
    pub from_disk_cache: bool,
    pub from_prefetch_cache: bool,
    pub encoded_data_length: f64,
    pub timing: Option<Timing>,
}

/// Milliseconds after `request_time`, which is in seconds; negative means never.
#[derive(Debug, Deserialize, Default, Clone)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Timing {
    pub request_time: f64,
    pub dns_start: f64,
    pub dns_end: f64,
    pub connect_start: f64,
    pub connect_end: f64,
    pub ssl_start: f64,
    pub ssl_end: f64,
    pub send_start: f64,
    pub send_end: f64,
    pub receive_headers_end: f64,
}

/// Headers actually sent or received, as the network stack reports them.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ExtraInfo {
    pub request_id: String,
    pub headers: Headers,
    pub status_code: u16,
    pub headers_text: Option<String>,
}

/// Received bytes, the end, or a failure.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct RequestProgress {
    pub request_id: String,
    pub timestamp: f64,
    pub data_length: f64,
    pub encoded_data_length: f64,
    pub error_text: String,
    pub error_message: String,
    pub blocked_reason: Option<String>,
    pub cors_error_status: Option<CorsError>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct CorsError {
    pub cors_error: String,
}

/// A WebSocket, or a step of its handshake.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SocketEvent {
    pub request_id: String,
    pub url: String,
    pub timestamp: f64,
    pub wall_time: f64,
    pub request: HandshakeRequest,
    pub response: HandshakeResponse,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct HandshakeRequest {
    pub headers: Headers,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct HandshakeResponse {
    pub status: u16,
    pub status_text: String,
    pub headers: Headers,
    pub request_headers: Option<Headers>,
}

/// A load event of a page.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct PageEvent {
    pub timestamp: f64,
}
