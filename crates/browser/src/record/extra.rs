//! The headers actually sent and received, which the browser reports separately and in any order.
//!
//! Such a report names the request but not the redirect hop; hops are matched in order. A hop that
//! used no network has no report.

use std::collections::VecDeque;

use super::{
    events::ExtraInfo,
    headers::Headers,
    request::{ActualResponse, Name, Request},
};

/// Limit on reports that arrived before their request.
const MAX_EARLY: usize = 256;

/// Headers as the network stack reports them.
pub(super) enum Extra {
    Sent(Headers),
    Came(ActualResponse),
}

impl Extra {
    pub fn sent(info: ExtraInfo) -> Self {
        Self::Sent(info.headers)
    }

    pub fn came(info: ExtraInfo) -> Self {
        let ExtraInfo { headers, status_code, headers_text, .. } = info;
        let head = headers_text.map(|text| text.len());
        Self::Came(ActualResponse { status: status_code, headers, head })
    }

    /// Whether the request still lacks this report.
    pub fn fits(&self, request: &Request) -> bool {
        !request.no_extra
            && match self {
                Self::Sent(_) => !request.really_sent,
                Self::Came(_) => request.really.is_none(),
            }
    }

    pub fn apply(self, request: &mut Request) {
        match self {
            Self::Sent(headers) => {
                request.sent = headers;
                request.really_sent = true;
            }
            Self::Came(really) => {
                if let Some(response) = &mut request.response {
                    response.headers = Headers::default();
                }
                request.really = Some(really);
            }
        }
    }

    /// Removes the reports from a hop that used no network, so that a later hop gets them.
    pub fn take_back(request: &mut Request) -> Vec<Self> {
        request.no_extra = true;
        let sent = std::mem::take(&mut request.really_sent);
        let sent = sent.then(|| Self::Sent(request.sent.clone()));
        let came = request.really.take().map(Self::Came);
        sent.into_iter().chain(came).collect()
    }
}

/// Reports that arrived before their request.
#[derive(Default)]
pub(super) struct Early {
    extras: VecDeque<(Name, Extra)>,
}

impl Early {
    pub fn add(&mut self, name: Name, extra: Extra) {
        if self.extras.len() == MAX_EARLY {
            self.extras.pop_front();
        }
        self.extras.push_back((name, extra));
    }

    /// Applies the early reports of a request that just began.
    pub fn give(&mut self, request: &mut Request) {
        let mut index = 0;
        while let Some((name, extra)) = self.extras.get(index) {
            if *name == request.name && extra.fits(request) {
                if let Some((_, extra)) = self.extras.remove(index) {
                    extra.apply(request);
                }
            } else {
                index += 1;
            }
        }
    }
}
