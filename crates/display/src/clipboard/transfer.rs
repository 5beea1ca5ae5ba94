//! Sends large texts to programs in pieces (INCR), at their pace.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use x11rb::{
    protocol::xproto::{
        Atom, ChangeWindowAttributesAux, ConnectionExt as _, EventMask, PropMode, Property,
        PropertyNotifyEvent, Window,
    },
    wrapper::ConnectionExt as _,
};

use crate::{connection::Connection, error::DisplayError};

/// Larger texts go in pieces of this size.
pub(super) const PIECE: usize = 256 << 10;
/// How long a program may take to fetch the next piece.
const PATIENCE: Duration = Duration::from_secs(10);
/// Limit on simultaneous transfers; the oldest is dropped.
const MAX_TRANSFERS: usize = 16;

/// Transfers in progress.
#[derive(Default)]
pub(super) struct Transfers(Vec<Transfer>);

struct Transfer {
    requestor: Window,
    property: Atom,
    kind: Atom,
    bytes: Arc<[u8]>,
    sent: usize,
    last: Instant,
}

impl Transfers {
    /// Announces a text to a program; pieces follow as the program takes them.
    pub(super) fn begin(
        &mut self,
        x: &Connection,
        (requestor, property, kind): (Window, Atom, Atom),
        bytes: Arc<[u8]>,
    ) -> Result<(), DisplayError> {
        if self.0.len() >= MAX_TRANSFERS {
            self.0.remove(0);
        }
        let aux = ChangeWindowAttributesAux::new().event_mask(EventMask::PROPERTY_CHANGE);
        x.change_window_attributes(requestor, &aux)?.ignore_error();
        let size = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        x.change_property32(PropMode::REPLACE, requestor, property, x.atoms.INCR, &[size])?
            .ignore_error();
        let last = Instant::now();
        self.0.push(Transfer { requestor, property, kind, bytes, sent: 0, last });
        Ok(())
    }

    /// A program took a piece: sends the next one. An empty piece ends the transfer.
    pub(super) fn go_on(
        &mut self,
        x: &Connection,
        event: &PropertyNotifyEvent,
    ) -> Result<(), DisplayError> {
        let wanted = |t: &Transfer| t.requestor == event.window && t.property == event.atom;
        let Some(at) = self.0.iter().position(wanted) else { return Ok(()) };
        let Some(transfer) = self.0.get_mut(at).filter(|_| event.state == Property::DELETE) else {
            return Ok(());
        };
        let rest = transfer.bytes.get(transfer.sent..).unwrap_or_default();
        let piece = rest.get(..PIECE).unwrap_or(rest);
        let Transfer { requestor, property, kind, .. } = *transfer;
        x.change_property8(PropMode::REPLACE, requestor, property, kind, piece)?.ignore_error();
        transfer.sent += piece.len();
        transfer.last = Instant::now();
        if piece.is_empty() {
            self.0.remove(at);
            if !self.0.iter().any(|transfer| transfer.requestor == requestor) {
                let aux = ChangeWindowAttributesAux::new().event_mask(EventMask::NO_EVENT);
                x.change_window_attributes(requestor, &aux)?.ignore_error();
            }
        }
        Ok(())
    }

    /// Drops transfers whose program stopped fetching.
    pub(super) fn forget_stuck(&mut self) {
        self.0.retain(|transfer| transfer.last.elapsed() < PATIENCE);
    }
}
