//! What really was sent and came back, which the browser tells in its own order.
//!
//! It says for which request, and not for which hop of it: those are in order. A hop that touched no
//! network has none.

use std::collections::VecDeque;

use super::{
    headers::Headers,
    request::{Name, Really, Request},
    told::ExtraInfo,
};

/// What came before its request, at most.
const MAX_EARLY: usize = 256;

/// What is known better than by the page.
pub(super) enum Extra {
    Sent(Headers),
    Came(Really),
}

impl Extra {
    pub fn sent(info: ExtraInfo) -> Self {
        Self::Sent(info.headers)
    }

    pub fn came(info: ExtraInfo) -> Self {
        let ExtraInfo { headers, status_code, headers_text, .. } = info;
        let head = headers_text.map(|text| text.len());
        Self::Came(Really { status: status_code, headers, head })
    }

    /// Whether a request still lacks it.
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

    /// Takes back what belongs to a later hop, from one that turns out to have none.
    pub fn take_back(request: &mut Request) -> Vec<Self> {
        request.no_extra = true;
        let sent = std::mem::take(&mut request.really_sent);
        let sent = sent.then(|| Self::Sent(request.sent.clone()));
        let came = request.really.take().map(Self::Came);
        sent.into_iter().chain(came).collect()
    }
}

/// What came before its request did.
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

    /// Gives a request that has just begun what is its own.
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
