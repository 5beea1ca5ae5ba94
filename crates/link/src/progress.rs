//! The guest's progress reports, line by line.

use bytes::BytesMut;
use helmdeck_wire::guest::Progress;
use http_body_util::BodyExt;
use hyper::body::Incoming;

use crate::{LinkError, client::Connection};

/// Limit on a report. A guest that sends more is broken or hostile.
const MAX_LINE: usize = 256 << 10;

/// A stream of reports. It ends with the guest.
pub struct ProgressStream {
    body: Incoming,
    received: BytesMut,
    /// The size of the last report in bytes.
    size: usize,
    /// Keeps the connection open.
    _connection: Connection,
}

impl ProgressStream {
    pub(crate) fn new(connection: Connection, body: Incoming) -> Self {
        Self { body, received: BytesMut::new(), size: 0, _connection: connection }
    }

    /// The size of the last report in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The next report, or `None` when the guest is gone. Cancel-safe.
    pub async fn next(&mut self) -> Result<Option<Progress>, LinkError> {
        loop {
            if let Some(end) = self.received.iter().position(|byte| *byte == b'\n') {
                let line = self.received.split_to(end + 1);
                self.size = line.len();
                let report = serde_json::from_slice(&line);
                return report.map(Some).map_err(|e| LinkError::Nonsense(e.to_string()));
            }
            if self.received.len() > MAX_LINE {
                return Err(LinkError::Nonsense("a report without an end".into()));
            }
            match self.body.frame().await {
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.received.extend_from_slice(&data);
                    }
                }
                Some(Err(_)) | None => return Ok(None),
            }
        }
    }
}
