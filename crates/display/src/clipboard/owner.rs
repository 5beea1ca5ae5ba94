//! The clipboard protocol: offering our text, and requesting the text of others.

use std::{sync::Arc, time::Instant};

use rustix::event::{PollFd, PollFlags};
use x11rb::{
    connection::Connection as _,
    protocol::{
        Event,
        xproto::{
            Atom, AtomEnum, ConnectionExt as _, CreateWindowAux, EventMask, GetPropertyReply,
            PropMode, Property, SELECTION_NOTIFY_EVENT, SelectionNotifyEvent,
            SelectionRequestEvent, Timestamp, Window, WindowClass,
        },
    },
    wrapper::ConnectionExt as _,
};

use super::{
    MAX_BYTES, READ_DEADLINE,
    transfer::{PIECE, Transfers},
};
use crate::{connection::Connection, error::DisplayError, stream::wait};

/// An invisible window that represents us in the protocol.
pub(super) struct Owner {
    x: Connection,
    window: Window,
    /// Our text and since when we own the clipboard; `None` while another program owns it.
    own: Option<(Arc<[u8]>, Timestamp)>,
    transfers: Transfers,
}

impl Owner {
    pub(super) fn new(x: Connection) -> Result<Self, DisplayError> {
        let window = x.generate_id()?;
        let aux = CreateWindowAux::new().event_mask(EventMask::PROPERTY_CHANGE);
        let kind = WindowClass::INPUT_OUTPUT;
        x.create_window(0, window, x.root, -10, -10, 1, 1, 0, kind, 0, &aux)?.check()?;
        Ok(Self { x, window, own: None, transfers: Transfers::default() })
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.x
    }

    /// Handles all pending requests of programs.
    pub(super) fn serve(&mut self) -> Result<(), DisplayError> {
        while let Some(event) = self.x.poll_for_event()? {
            self.handle(event)?;
        }
        self.transfers.forget_stuck();
        Ok(self.x.flush()?)
    }

    /// Takes ownership of the clipboard with a new text.
    pub(super) fn set(&mut self, text: &str) -> Result<String, DisplayError> {
        let time = self.server_time()?;
        let selection = self.x.atoms.CLIPBOARD;
        self.x.set_selection_owner(self.window, selection, time)?;
        if self.x.get_selection_owner(selection)?.reply()?.owner != self.window {
            return Err(DisplayError::Refused(
                "another program does not release the clipboard".to_owned(),
            ));
        }
        self.own = Some((text.as_bytes().into(), time));
        Ok(text.to_owned())
    }

    /// The clipboard's text; empty if there is none.
    pub(super) fn read(&mut self, deadline: Instant) -> Result<String, DisplayError> {
        self.serve()?;
        if let Some((text, _)) = &self.own {
            return Ok(String::from_utf8_lossy(text).into_owned());
        }
        if self.has_no_owner()? {
            return Ok(String::new());
        }
        if let Some(utf8) = self.convert(self.x.atoms.UTF8_STRING, deadline)? {
            return Ok(String::from_utf8_lossy(&utf8).into_owned());
        }
        let latin = self.convert(AtomEnum::STRING.into(), deadline)?.unwrap_or_default();
        Ok(latin.into_iter().map(char::from).collect())
    }

    fn has_no_owner(&self) -> Result<bool, DisplayError> {
        let owner = self.x.get_selection_owner(self.x.atoms.CLIPBOARD)?.reply()?.owner;
        Ok(owner == x11rb::NONE)
    }

    /// Requests the text from its owner in one format; `None` if the owner does not have it.
    fn convert(&mut self, form: Atom, deadline: Instant) -> Result<Option<Vec<u8>>, DisplayError> {
        let (selection, property) = (self.x.atoms.CLIPBOARD, self.x.atoms.HELMDECK_CLIPBOARD);
        self.x.delete_property(self.window, property)?;
        let time = self.server_time()?;
        self.x.convert_selection(self.window, selection, form, property, time)?;
        let window = self.window;
        let answer = self.next(deadline, |event| match event {
            Event::SelectionNotify(answer) => {
                answer.requestor == window && answer.target == form && answer.time == time
            }
            _ => false,
        })?;
        match answer {
            Some(Event::SelectionNotify(answer)) if answer.property != x11rb::NONE => {}
            Some(_) => return Ok(None),
            // The owner may have exited before it answered.
            None if self.has_no_owner()? => return Ok(None),
            None => return Err(self.late()),
        }
        let whole = self.take_property(property)?;
        if whole.type_ != self.x.atoms.INCR {
            return Ok(Some(whole.value));
        }
        let mut bytes = Vec::new();
        loop {
            let piece = self.next(deadline, |event| match event {
                Event::PropertyNotify(event) => {
                    event.window == window
                        && event.atom == property
                        && event.state == Property::NEW_VALUE
                }
                _ => false,
            })?;
            if piece.is_none() {
                return Err(self.late());
            }
            let piece = self.take_property(property)?.value;
            if piece.is_empty() {
                return Ok(Some(bytes));
            }
            bytes.extend(piece);
            if bytes.len() > MAX_BYTES {
                return Err(DisplayError::TextTooLong { limit: MAX_BYTES, unit: "bytes" });
            }
        }
    }

    fn late(&self) -> DisplayError {
        let what = "an answer of the program that owns the clipboard".to_owned();
        DisplayError::Timeout { what, waited: READ_DEADLINE }
    }

    /// Reads a property and deletes it, which tells the sender to continue.
    fn take_property(&self, property: Atom) -> Result<GetPropertyReply, DisplayError> {
        let words = (MAX_BYTES / 4) as u32;
        let reply =
            self.x.get_property(true, self.window, property, AtomEnum::ANY, 0, words)?.reply()?;
        if reply.bytes_after > 0 {
            return Err(DisplayError::TextTooLong { limit: MAX_BYTES, unit: "bytes" });
        }
        Ok(reply)
    }

    /// The next `wanted` event, or `None` at the deadline. Other events are handled meanwhile.
    fn next(
        &mut self,
        deadline: Instant,
        wanted: impl Fn(&Event) -> bool,
    ) -> Result<Option<Event>, DisplayError> {
        self.x.flush()?;
        while Instant::now() < deadline {
            match self.x.poll_for_event()? {
                Some(event) if wanted(&event) => return Ok(Some(event)),
                Some(event) => {
                    self.handle(event)?;
                    self.x.flush()?;
                }
                None => {
                    wait(&mut [PollFd::new(&self.x, PollFlags::IN)], deadline)
                        .map_err(DisplayError::Lost)?;
                }
            }
        }
        Ok(None)
    }

    /// The server's time. Appending nothing to a property causes an event with it.
    fn server_time(&mut self) -> Result<Timestamp, DisplayError> {
        let (window, property) = (self.window, self.x.atoms.TIMESTAMP);
        self.x.change_property8(PropMode::APPEND, window, property, AtomEnum::STRING, &[])?;
        let deadline = Instant::now() + READ_DEADLINE;
        let event = self.next(deadline, |event| match event {
            Event::PropertyNotify(event) => event.window == window && event.atom == property,
            _ => false,
        })?;
        match event {
            Some(Event::PropertyNotify(event)) => Ok(event.time),
            _ => Err(DisplayError::Lost(std::io::ErrorKind::TimedOut.into())),
        }
    }

    fn handle(&mut self, event: Event) -> Result<(), DisplayError> {
        match event {
            // Requests can be forged. One in our own name would make us stop listening.
            Event::SelectionRequest(request) if request.requestor != self.window => {
                self.hand_over(&request)
            }
            Event::SelectionClear(event) if event.selection == self.x.atoms.CLIPBOARD => {
                self.own = None;
                Ok(())
            }
            Event::PropertyNotify(event) if event.window != self.window => {
                self.transfers.go_on(&self.x, &event)
            }
            _ => Ok(()),
        }
    }

    /// Sends our text to a program in the requested format.
    fn hand_over(&mut self, request: &SelectionRequestEvent) -> Result<(), DisplayError> {
        // Very old programs let us choose the property.
        let property =
            if request.property == x11rb::NONE { request.target } else { request.property };
        let given = self.give(request, property)?;
        let answer = SelectionNotifyEvent {
            response_type: SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: request.time,
            requestor: request.requestor,
            selection: request.selection,
            target: request.target,
            property: if given { property } else { x11rb::NONE },
        };
        // The errors of a program that is gone by now can be ignored.
        self.x.send_event(false, request.requestor, EventMask::NO_EVENT, answer)?.ignore_error();
        Ok(())
    }

    /// Writes the text to the requestor; false if the format is not available.
    fn give(
        &mut self,
        request: &SelectionRequestEvent,
        property: Atom,
    ) -> Result<bool, DisplayError> {
        let Some((text, since)) = &self.own else { return Ok(false) };
        let (x, to, atoms) = (&self.x, request.requestor, self.x.atoms);
        let string = Atom::from(AtomEnum::STRING);
        let bytes: Arc<[u8]> = match request.target {
            target if target == atoms.TARGETS => {
                let forms = [
                    atoms.TARGETS,
                    atoms.TIMESTAMP,
                    atoms.UTF8_STRING,
                    atoms.PLAIN_UTF8,
                    atoms.PLAIN,
                    atoms.TEXT,
                    string,
                ];
                x.change_property32(PropMode::REPLACE, to, property, AtomEnum::ATOM, &forms)?
                    .ignore_error();
                return Ok(true);
            }
            target if target == atoms.TIMESTAMP => {
                x.change_property32(PropMode::REPLACE, to, property, AtomEnum::INTEGER, &[*since])?
                    .ignore_error();
                return Ok(true);
            }
            target if target == string => latin(text).into(),
            target
                if [atoms.UTF8_STRING, atoms.PLAIN_UTF8, atoms.PLAIN, atoms.TEXT]
                    .contains(&target) =>
            {
                text.clone()
            }
            _ => return Ok(false),
        };
        let kind = if request.target == atoms.TEXT { atoms.UTF8_STRING } else { request.target };
        if bytes.len() > PIECE {
            self.transfers.begin(x, (to, property, kind), bytes)?;
        } else {
            x.change_property8(PropMode::REPLACE, to, property, kind, &bytes)?.ignore_error();
        }
        Ok(true)
    }
}

/// The text in Latin-1; other characters become question marks.
fn latin(utf8: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(utf8);
    text.chars().map(|char| u8::try_from(u32::from(char)).unwrap_or(b'?')).collect()
}
