//! Decides which of a viewer's messages reach the X server: only the viewer in control sends input.

use helmdeck_wire::ticket::Role;

use crate::RfbError;
use crate::client::{ClientMessages, Kind, Message};
use crate::encodings::{self, EXTENDED_DESKTOP_SIZE};
use crate::held::{Held, Key};

/// An invalid message type: the X server closes the connection if it reads this byte as a type. It
/// is placed where the protocol has padding.
const NO_MESSAGE: u8 = 1;
/// Input to the desktop. It never contains which key or what text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// A key was pressed, repeated or released.
    Key {
        /// Whether it was pressed.
        down: bool,
    },
    /// The pointer moved, or a button changed.
    Pointer {
        /// Horizontal position in pixels; may be outside the desktop.
        x: u16,
        /// Vertical position in pixels; may be outside the desktop.
        y: u16,
        /// The pressed buttons, the left one in the lowest bit. The wheel counts as buttons.
        buttons: u8,
        /// The buttons that were not pressed before: a click begins.
        pressed: u8,
    },
    /// Clipboard text was set or requested.
    CutText,
    /// Another desktop size was requested.
    Resize {
        /// In pixels.
        width: u16,
        /// In pixels.
        height: u16,
    },
}

/// The input in some bytes of a viewer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Passed {
    /// In order; messages for viewing are not included. At most one per six bytes fed.
    pub inputs: Vec<Input>,
}

/// Filters the messages from one viewer to the X server.
///
/// INVARIANT: the output is whole messages of known kinds. It contains input only if the viewer had
/// control from the message's first byte to its last.
pub struct InputFilter {
    role: Role,
    messages: ClientMessages,
    held: Held,
    resizable: bool,
}

impl InputFilter {
    /// A filter for a viewer that has just finished its handshake.
    pub fn new(role: Role) -> Self {
        Self { role, messages: ClientMessages::default(), held: Held::default(), resizable: false }
    }

    /// Takes bytes of the viewer, in pieces of any size, and appends to `out` what may pass to the
    /// X server. `driving` states whether the viewer has control now; it has no effect on a viewer
    /// that may only watch.
    ///
    /// After an error `out` is unchanged, so nothing passes unreported. The caller then sends the
    /// result of [`InputFilter::release`] and closes the connection.
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
                    let mut way = Passing {
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

    /// The messages that release all keys and buttons held by this viewer. The caller sends them to
    /// the X server when the viewer loses control or disconnects. Empty if nothing is held.
    ///
    /// Incomplete input is discarded. Caps Lock and Num Lock keep their state: their keys are
    /// released, not pressed again.
    pub fn release(&mut self) -> Vec<u8> {
        // Without bytes there is no message; this marks incomplete input as unwanted.
        let _ = self.messages.next(&mut [].as_slice(), |kind| !kind.is_input());
        self.held.release()
    }

    /// The number of kept bytes of an incomplete message; at most [`crate::MAX_BUFFERED`].
    pub fn buffered(&self) -> usize {
        self.messages.buffered()
    }
}

fn may_pass(kind: Kind, drives: bool) -> bool {
    match kind {
        // The session's owner controls power through the API.
        Kind::Xvp => false,
        other => drives || !other.is_input(),
    }
}

/// The parts of a filter that a passing message changes.
struct Passing<'g> {
    role: Role,
    held: &'g mut Held,
    resizable: &'g mut bool,
    out: &'g mut Vec<u8>,
}

impl Passing<'_> {
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
        // At most the count of the message, which has two bytes.
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
        // The X server ignores key code zero, so it would stay in `held` forever.
        if key == Key::Place(0) || !self.held.key(key, symbol, down) {
            return None;
        }
        self.out.extend_from_slice(message.bytes);
        Some(Input::Key { down })
    }

    /// Works around two bugs of TigerVNC 1.12. It crashes, together with the desktop, if a viewer
    /// requests a size without having announced support. And after reading only the first byte of
    /// this message, it takes the second for the type of the next message. A viewer could use that
    /// to shift the stream and hide input in what looks like a fence, even after losing control.
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

    fn passed(filter: &mut InputFilter, bytes: &[u8], driving: bool) -> (Vec<u8>, Vec<Input>) {
        let mut out = Vec::new();
        let passed = filter.feed(bytes, driving, &mut out).unwrap();
        (out, passed.inputs)
    }

    #[test]
    fn a_watcher_can_view_but_not_send_input() {
        let mut filter = InputFilter::new(Role::View);
        let request = [3, 1, 0, 0, 0, 0, 0, 10, 0, 10];
        let stream = [KEY_DOWN.as_slice(), &request, &[5, 1, 0, 1, 0, 1], &[250, 0, 1, 2]].concat();

        assert_eq!(passed(&mut filter, &stream, true), (request.to_vec(), vec![]));
        assert!(filter.release().is_empty());
    }

    #[test]
    fn a_click_is_reported_once_with_its_position() {
        let mut filter = InputFilter::new(Role::Control);
        let stream =
            [[5, 0, 0, 9, 0, 7], [5, 1, 0, 9, 0, 7], [5, 1, 1, 0, 0, 8], [5, 0, 1, 0, 0, 8]];

        let (out, inputs) = passed(&mut filter, stream.as_flattened(), true);

        assert_eq!(out, stream.as_flattened());
        let clicks: Vec<_> = inputs
            .into_iter()
            .filter(|input| !matches!(input, Input::Pointer { pressed: 0, .. }))
            .collect();
        assert_eq!(clicks, [Input::Pointer { x: 9, y: 7, buttons: 1, pressed: 1 }]);
    }

    #[test]
    fn input_that_spans_a_loss_of_control_does_not_pass() {
        for cut in 1..KEY_DOWN.len() {
            let (begin, end) = KEY_DOWN.split_at(cut);
            let mut filter = InputFilter::new(Role::Control);
            assert_eq!(passed(&mut filter, begin, true).0, [0_u8; 0]);
            assert_eq!(passed(&mut filter, end, false).0, [0_u8; 0]);
            assert_eq!(passed(&mut filter, &KEY_DOWN, true).0, KEY_DOWN, "the next one is whole");

            let mut filter = InputFilter::new(Role::Control);
            assert_eq!(passed(&mut filter, begin, false).0, [0_u8; 0]);
            assert_eq!(passed(&mut filter, end, true).0, [0_u8; 0]);

            let mut filter = InputFilter::new(Role::Control);
            assert_eq!(passed(&mut filter, begin, true).0, [0_u8; 0]);
            assert!(filter.release().is_empty());
            assert_eq!(passed(&mut filter, end, true).0, [0_u8; 0], "control went and came back");
        }
    }

    #[test]
    fn keys_released_at_handover_are_not_released_again() {
        let mut filter = InputFilter::new(Role::Control);
        passed(&mut filter, &KEY_DOWN, true);
        assert_eq!(filter.release(), KEY_UP);

        assert_eq!(passed(&mut filter, &KEY_UP, false), (vec![], vec![]));
        assert_eq!(passed(&mut filter, &KEY_UP, true), (vec![], vec![]));
    }

    #[test]
    fn a_chunk_with_an_error_in_it_passes_nothing_and_holds_nothing() {
        let mut filter = InputFilter::new(Role::Control);
        let mut out = vec![1, 2, 3];

        let error = filter.feed(&[KEY_DOWN.as_slice(), &[9]].concat(), true, &mut out);

        assert_eq!(error, Err(RfbError::UnknownMessage(9)));
        assert_eq!(out, [1, 2, 3]);
        assert!(filter.release().is_empty());
        assert_eq!(filter.feed(&KEY_DOWN, true, &mut out), Err(RfbError::UnknownMessage(9)));
    }

    #[test]
    fn extra_buttons_and_a_watchers_clipboard_are_removed_from_the_encodings() {
        let asked = [7, -316, -308, 0xc0a1_e5ce_u32 as i32];
        let message = |numbers: &[i32]| {
            let mut message = vec![2, 0, 0, numbers.len() as u8];
            message.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
            message
        };

        let view = passed(&mut InputFilter::new(Role::View), &message(&asked), false).0;
        let control = passed(&mut InputFilter::new(Role::Control), &message(&asked), false).0;

        assert_eq!(view, message(&[7, -308]));
        assert_eq!(control, message(&[7, -308, asked[3]]));
    }

    #[test]
    fn only_viewers_that_support_resizing_may_request_it() {
        let mut filter = InputFilter::new(Role::Control);
        assert_eq!(passed(&mut filter, &RESIZE, true), (vec![], vec![]));

        passed(&mut filter, &RESIZABLE, false);
        let (out, inputs) = passed(&mut filter, &RESIZE, true);

        assert_eq!(out, [251, NO_MESSAGE, 4, 0, 3, 0, 0, 0]);
        assert_eq!(inputs, [Input::Resize { width: 1024, height: 768 }]);
        assert_eq!(passed(&mut filter, &RESIZE, false), (vec![], vec![]));
    }
}
