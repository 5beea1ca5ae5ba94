//! What of a viewer's messages reaches the X server: watchers watch, and only the driver drives.

use helmdeck_wire::ticket::Role;

use crate::RfbError;
use crate::client::{ClientMessages, Kind, Message};
use crate::encodings::{self, EXTENDED_DESKTOP_SIZE};
use crate::held::{Held, Key};

/// A type no message has: the X server closes the connection when it takes a byte for a type that
/// is none. It stands where the protocol has padding.
const NO_MESSAGE: u8 = 1;
/// Something a person did to the desktop. It never says which key or what text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// A key went down, again if it repeats, or up.
    Key {
        /// Whether it went down.
        down: bool,
    },
    /// The pointer moved, or a button changed.
    Pointer {
        /// From the left edge, in pixels; may lie outside the desktop.
        x: u16,
        /// From the top edge, in pixels; may lie outside the desktop.
        y: u16,
        /// The buttons that are down now, the left one in the lowest bit. The wheel is buttons too.
        buttons: u8,
        /// Those of them that were up before: a click begins.
        pressed: u8,
    },
    /// Text was put on the clipboard, or asked for.
    CutText,
    /// Another size of the desktop was asked for.
    Resize {
        /// In pixels.
        width: u16,
        /// In pixels.
        height: u16,
    },
}

/// What a viewer did to the desktop with some bytes it sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Passed {
    /// In the order it happened; looking on is not in it. At most one per six bytes fed.
    pub inputs: Vec<Input>,
}

/// Guards the way from one viewer to the X server.
///
/// INVARIANT: what comes out is whole messages of known kinds, and input is among them only if the
/// viewer was driving from the message's first byte to its last.
pub struct Gate {
    role: Role,
    messages: ClientMessages,
    held: Held,
    resizable: bool,
}

impl Gate {
    /// A gate for a viewer that has just finished its handshake.
    pub fn new(role: Role) -> Self {
        Self { role, messages: ClientMessages::default(), held: Held::default(), resizable: false }
    }

    /// Takes what the viewer sent, in pieces of any size, and appends to `out` what may go on to
    /// the X server. `driving` says whether the viewer has control right now; it makes no
    /// difference for one that may only watch.
    ///
    /// After an error `out` is as it was, so nothing passes that is not reported; the connection
    /// is then to be closed, after what [`Gate::release`] returns was sent.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        driving: bool,
        out: &mut Vec<u8>,
    ) -> Result<Passed, RfbError> {
        let drives = driving && self.role == Role::Control;
        let before = (out.len(), self.held.clone());
        let mut passed = Passed::default();
        let mut rest = bytes;
        loop {
            let next = self.messages.next(&mut rest, |kind| may_pass(kind, drives));
            match next {
                Ok(Some(message)) => {
                    let mut way = Way {
                        role: self.role,
                        held: &mut self.held,
                        resizable: &mut self.resizable,
                        out,
                    };
                    passed.inputs.extend(way.pass(message));
                }
                Ok(None) => return Ok(passed),
                Err(error) => {
                    out.truncate(before.0);
                    self.held = before.1;
                    return Err(error);
                }
            }
        }
    }

    /// The messages that let go of all keys and buttons this viewer holds down, to be sent to the
    /// X server as soon as it stops driving or is gone. Nothing if it holds nothing.
    ///
    /// Input that is here in part is forgotten, as it belongs to the time before. Whether Caps
    /// Lock or Num Lock is on stays as it is: the key is let go of, not pressed again.
    pub fn release(&mut self) -> Vec<u8> {
        // No byte brings no message; what counts is that input is not wanted at this moment.
        let _ = self.messages.next(&mut [].as_slice(), |kind| !kind.is_input());
        self.held.release()
    }

    /// How much of an unfinished message is kept; never more than [`crate::MAX_BUFFERED`].
    pub fn buffered(&self) -> usize {
        self.messages.buffered()
    }
}

fn may_pass(kind: Kind, drives: bool) -> bool {
    match kind {
        // Power belongs to whoever owns the session, and goes through the API.
        Kind::Xvp => false,
        other => drives || !other.is_input(),
    }
}

/// The parts of a gate that a message changes on its way through.
struct Way<'g> {
    role: Role,
    held: &'g mut Held,
    resizable: &'g mut bool,
    out: &'g mut Vec<u8>,
}

impl Way<'_> {
    fn pass(&mut self, message: Message<'_>) -> Option<Input> {
        match (message.kind, message.bytes) {
            (Kind::Encodings, [_, _, _, _, list @ ..]) => {
                self.pass_encodings(list);
                None
            }
            (Kind::Key, &[_, down, _, _, a, b, c, d]) => {
                let symbol = u32::from_be_bytes([a, b, c, d]);
                self.pass_key(message, Key::Symbol(symbol), symbol, down != 0)
            }
            (Kind::QemuKey, &[_, _, high, low, a, b, c, d, e, f, g, h]) => {
                let symbol = u32::from_be_bytes([a, b, c, d]);
                let place = u32::from_be_bytes([e, f, g, h]);
                self.pass_key(message, Key::Place(place), symbol, (high | low) != 0)
            }
            (Kind::Pointer, &[_, buttons, left, x, top, y]) => {
                let (x, y) = (u16::from_be_bytes([left, x]), u16::from_be_bytes([top, y]));
                self.out.extend_from_slice(message.bytes);
                let pressed = self.held.pointer(x, y, buttons);
                Some(Input::Pointer { x, y, buttons, pressed })
            }
            (Kind::DesktopSize, &[_, _, a, b, c, d, ref screens @ ..]) => {
                self.pass_size([a, b, c, d], screens)
            }
            (Kind::CutText, bytes) => {
                self.out.extend_from_slice(bytes);
                Some(Input::CutText)
            }
            (_, bytes) => {
                self.out.extend_from_slice(bytes);
                None
            }
        }
    }

    fn pass_encodings(&mut self, list: &[u8]) {
        let (numbers, _) = list.as_chunks::<4>();
        let kept: Vec<i32> = numbers
            .iter()
            .map(|number| i32::from_be_bytes(*number))
            .filter(|number| encodings::may_pass(*number, self.role))
            .collect();
        *self.resizable = kept.contains(&EXTENDED_DESKTOP_SIZE);
        // It cannot be more than the message had, and that was counted in two bytes.
        let count = u16::try_from(kept.len()).unwrap_or(u16::MAX);
        self.out.extend_from_slice(&[2, 0]);
        self.out.extend_from_slice(&count.to_be_bytes());
        self.out.extend(kept.into_iter().flat_map(i32::to_be_bytes));
    }

    fn pass_key(
        &mut self,
        message: Message<'_>,
        key: Key,
        symbol: u32,
        down: bool,
    ) -> Option<Input> {
        // A key without a place is nothing to the X server, so it would be held here for ever.
        if key == Key::Place(0) || !self.held.key(key, symbol, down) {
            return None;
        }
        self.out.extend_from_slice(message.bytes);
        Some(Input::Key { down })
    }

    /// Two faults of TigerVNC 1.12 are kept from being used. Asked for a size by a viewer that did
    /// not say it can take one, it crashes, with the desktop. And when it has read only the first
    /// byte of this message, it takes the second for the type of the next, which would let a driver
    /// shift the stream and go on typing, when it no longer drives, in what we take for a fence.
    fn pass_size(&mut self, size: [u8; 4], screens: &[u8]) -> Option<Input> {
        if !*self.resizable {
            return None;
        }
        self.out.extend_from_slice(&[251, NO_MESSAGE]);
        self.out.extend_from_slice(&size);
        self.out.extend_from_slice(screens);
        let [a, b, c, d] = size;
        Some(Input::Resize {
            width: u16::from_be_bytes([a, b]),
            height: u16::from_be_bytes([c, d]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY_DOWN: [u8; 8] = [4, 1, 0, 0, 0, 0, 0, 0x61];
    const KEY_UP: [u8; 8] = [4, 0, 0, 0, 0, 0, 0, 0x61];
    const RESIZABLE: [u8; 8] = [2, 0, 0, 1, 0xff, 0xff, 0xfe, 0xcc];
    const RESIZE: [u8; 8] = [251, 0, 4, 0, 3, 0, 0, 0];

    fn passed(gate: &mut Gate, bytes: &[u8], driving: bool) -> (Vec<u8>, Vec<Input>) {
        let mut out = Vec::new();
        let passed = gate.feed(bytes, driving, &mut out).unwrap();
        (out, passed.inputs)
    }

    #[test]
    fn a_watcher_sees_everything_and_touches_nothing() {
        let mut gate = Gate::new(Role::View);
        let request = [3, 1, 0, 0, 0, 0, 0, 10, 0, 10];
        let stream = [KEY_DOWN.as_slice(), &request, &[5, 1, 0, 1, 0, 1], &[250, 0, 1, 2]].concat();

        assert_eq!(passed(&mut gate, &stream, true), (request.to_vec(), vec![]));
        assert!(gate.release().is_empty());
    }

    #[test]
    fn a_click_is_reported_once_and_with_its_place() {
        let mut gate = Gate::new(Role::Control);
        let stream =
            [[5, 0, 0, 9, 0, 7], [5, 1, 0, 9, 0, 7], [5, 1, 1, 0, 0, 8], [5, 0, 1, 0, 0, 8]];

        let (out, inputs) = passed(&mut gate, stream.as_flattened(), true);

        assert_eq!(out, stream.as_flattened());
        let clicks: Vec<_> = inputs
            .into_iter()
            .filter(|input| !matches!(input, Input::Pointer { pressed: 0, .. }))
            .collect();
        assert_eq!(clicks, [Input::Pointer { x: 9, y: 7, buttons: 1, pressed: 1 }]);
    }

    #[test]
    fn what_was_begun_while_driving_and_ended_later_does_not_pass() {
        for cut in 1..KEY_DOWN.len() {
            let (begin, end) = KEY_DOWN.split_at(cut);
            let mut gate = Gate::new(Role::Control);
            assert_eq!(passed(&mut gate, begin, true).0, [0_u8; 0]);
            assert_eq!(passed(&mut gate, end, false).0, [0_u8; 0]);
            assert_eq!(passed(&mut gate, &KEY_DOWN, true).0, KEY_DOWN, "the next one is whole");

            let mut gate = Gate::new(Role::Control);
            assert_eq!(passed(&mut gate, begin, false).0, [0_u8; 0]);
            assert_eq!(passed(&mut gate, end, true).0, [0_u8; 0]);

            let mut gate = Gate::new(Role::Control);
            assert_eq!(passed(&mut gate, begin, true).0, [0_u8; 0]);
            assert!(gate.release().is_empty());
            assert_eq!(passed(&mut gate, end, true).0, [0_u8; 0], "control went and came back");
        }
    }

    #[test]
    fn what_was_let_go_at_the_hand_over_does_not_come_up_twice() {
        let mut gate = Gate::new(Role::Control);
        passed(&mut gate, &KEY_DOWN, true);
        assert_eq!(gate.release(), KEY_UP);

        assert_eq!(passed(&mut gate, &KEY_UP, false), (vec![], vec![]));
        assert_eq!(passed(&mut gate, &KEY_UP, true), (vec![], vec![]));
    }

    #[test]
    fn a_chunk_with_an_error_in_it_passes_nothing_and_holds_nothing() {
        let mut gate = Gate::new(Role::Control);
        let mut out = vec![1, 2, 3];

        let error = gate.feed(&[KEY_DOWN.as_slice(), &[9]].concat(), true, &mut out);

        assert_eq!(error, Err(RfbError::UnknownMessage(9)));
        assert_eq!(out, [1, 2, 3]);
        assert!(gate.release().is_empty());
        assert_eq!(gate.feed(&KEY_DOWN, true, &mut out), Err(RfbError::UnknownMessage(9)));
    }

    #[test]
    fn extra_mouse_buttons_and_the_watchers_clipboard_are_taken_from_the_encodings() {
        let asked = [7, -316, -308, 0xc0a1_e5ce_u32 as i32];
        let message = |numbers: &[i32]| {
            let mut message = vec![2, 0, 0, numbers.len() as u8];
            message.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
            message
        };

        let view = passed(&mut Gate::new(Role::View), &message(&asked), false).0;
        let control = passed(&mut Gate::new(Role::Control), &message(&asked), false).0;

        assert_eq!(view, message(&[7, -308]));
        assert_eq!(control, message(&[7, -308, asked[3]]));
    }

    #[test]
    fn only_a_viewer_that_can_take_another_size_may_ask_for_one() {
        let mut gate = Gate::new(Role::Control);
        assert_eq!(passed(&mut gate, &RESIZE, true), (vec![], vec![]));

        passed(&mut gate, &RESIZABLE, false);
        let (out, inputs) = passed(&mut gate, &RESIZE, true);

        assert_eq!(out, [251, NO_MESSAGE, 4, 0, 3, 0, 0, 0]);
        assert_eq!(inputs, [Input::Resize { width: 1024, height: 768 }]);
        assert_eq!(passed(&mut gate, &RESIZE, false), (vec![], vec![]));
    }
}
