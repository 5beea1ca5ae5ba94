//! Splits a viewer's byte stream into messages. The filter decides which may pass.

use crate::RfbError;

const MAX_ENCODINGS: u16 = 1024;
const MAX_TEXT: u32 = 1024 * 1024;
const MAX_FENCE: u8 = 64;
const MAX_SCREENS: u8 = 16;

/// The most bytes of an incomplete message that are kept: the longest text with its header.
pub const MAX_BUFFERED: usize = 8 + MAX_TEXT as usize;

/// Larger buffers are freed after a long text.
const SPARE: usize = 8 * 1024;

/// The kinds of messages a viewer can send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The pixel format that the viewer wants.
    PixelFormat,
    /// The encodings and extensions that the viewer supports.
    Encodings,
    /// A request for a picture.
    UpdateRequest,
    /// A key, by symbol.
    Key,
    /// The pointer's position and buttons.
    Pointer,
    /// Text for the clipboard, plain or extended.
    CutText,
    /// A request for pictures without further requests.
    ContinuousUpdates,
    /// A marker that is returned, to measure the delay.
    Fence,
    /// Shut down, reboot or reset the machine.
    Xvp,
    /// A request for another desktop size.
    DesktopSize,
    /// A key, by key code.
    QemuKey,
}

/// One whole message. Not printable, because it may contain typed text.
#[derive(Clone, Copy)]
pub struct Message<'a> {
    /// What it is.
    pub kind: Kind,
    /// The message, including its type byte.
    pub bytes: &'a [u8],
}

/// Finds messages in a byte stream that arrives in pieces of any size.
#[derive(Default)]
pub struct ClientMessages {
    /// The start of an incomplete message.
    partial: Vec<u8>,
    /// The message in `partial` was returned, and is removed before the next is read.
    handed_out: bool,
    /// The incomplete message was refused at some point, so it is never returned.
    unwanted: bool,
    /// Remaining bytes of a message that is skipped.
    to_skip: usize,
    failed: Option<RfbError>,
}

enum Place<'b> {
    Input(&'b [u8]),
    Partial,
}

impl Kind {
    /// Whether the message changes the desktop rather than only viewing it.
    pub fn is_input(self) -> bool {
        match self {
            Self::PixelFormat
            | Self::Encodings
            | Self::UpdateRequest
            | Self::ContinuousUpdates
            | Self::Fence => false,
            Self::Key
            | Self::Pointer
            | Self::CutText
            | Self::Xvp
            | Self::DesktopSize
            | Self::QemuKey => true,
        }
    }

    fn of(first: u8) -> Result<Self, RfbError> {
        match first {
            0 => Ok(Self::PixelFormat),
            2 => Ok(Self::Encodings),
            3 => Ok(Self::UpdateRequest),
            4 => Ok(Self::Key),
            5 => Ok(Self::Pointer),
            6 => Ok(Self::CutText),
            150 => Ok(Self::ContinuousUpdates),
            248 => Ok(Self::Fence),
            250 => Ok(Self::Xvp),
            251 => Ok(Self::DesktopSize),
            // Other messages of this family are refused once their second byte is known.
            255 => Ok(Self::QemuKey),
            other => Err(RfbError::UnknownMessage(other)),
        }
    }

    /// The length of a message with this head; `None` if the head is incomplete.
    fn length(self, head: &[u8]) -> Result<Option<usize>, RfbError> {
        match (self, head) {
            (Self::PixelFormat, _) => Ok(Some(20)),
            (Self::UpdateRequest | Self::ContinuousUpdates, _) => Ok(Some(10)),
            (Self::Key, _) => Ok(Some(8)),
            // The variant with a seventh byte requires extended mouse buttons, which the filter
            // removes from the viewer's encodings.
            (Self::Pointer, _) => Ok(Some(6)),
            (Self::Xvp, _) => Ok(Some(4)),
            (Self::Encodings, &[_, _, high, low, ..]) => match u16::from_be_bytes([high, low]) {
                count if count > MAX_ENCODINGS => Err(RfbError::TooManyEncodings(count)),
                count => Ok(Some(4 + 4 * usize::from(count))),
            },
            (Self::CutText, &[_, _, _, _, a, b, c, d, ..]) => {
                // A negative length marks the extended form; its absolute value counts.
                match i32::from_be_bytes([a, b, c, d]).unsigned_abs() {
                    length if length > MAX_TEXT => Err(RfbError::TextTooLong(length)),
                    length => Ok(Some(8 + length as usize)),
                }
            }
            (Self::Fence, &[_, _, _, _, _, _, _, _, length, ..]) if length > MAX_FENCE => {
                Err(RfbError::FenceTooLong(length))
            }
            (Self::Fence, &[_, _, _, _, _, _, _, _, length, ..]) => {
                Ok(Some(9 + usize::from(length)))
            }
            (Self::DesktopSize, &[_, _, _, _, _, _, count, ..]) if count > MAX_SCREENS => {
                Err(RfbError::TooManyScreens(count))
            }
            (Self::DesktopSize, &[_, _, _, _, _, _, count, ..]) => {
                Ok(Some(8 + 16 * usize::from(count)))
            }
            (Self::QemuKey, &[_, 0, ..]) => Ok(Some(12)),
            (Self::QemuKey, &[_, other, ..]) => Err(RfbError::UnknownQemuMessage(other)),
            (
                Self::Encodings | Self::CutText | Self::Fence | Self::DesktopSize | Self::QemuKey,
                _,
            ) => Ok(None),
        }
    }
}

impl ClientMessages {
    /// The next message in `bytes`, which is advanced past it; `None` if more bytes are needed.
    ///
    /// `wanted` is checked at each call that a message spans. A message that is refused once is
    /// skipped, however much of it has arrived. Skipped bytes are not kept, so a long text that may
    /// not pass costs no memory. An error is final.
    pub fn next<'s, 'b: 's>(
        &'s mut self,
        bytes: &mut &'b [u8],
        wanted: impl Fn(Kind) -> bool,
    ) -> Result<Option<Message<'s>>, RfbError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if self.handed_out {
            self.forget();
        }
        match self.find(bytes, wanted) {
            Ok(None) => Ok(None),
            Ok(Some((kind, Place::Input(bytes)))) => Ok(Some(Message { kind, bytes })),
            Ok(Some((kind, Place::Partial))) => Ok(Some(Message { kind, bytes: &self.partial })),
            Err(error) => {
                self.failed = Some(error);
                Err(error)
            }
        }
    }

    /// The number of kept bytes of an incomplete message; at most [`MAX_BUFFERED`].
    pub fn buffered(&self) -> usize {
        self.partial.len()
    }

    fn find<'b>(
        &mut self,
        bytes: &mut &'b [u8],
        wanted: impl Fn(Kind) -> bool,
    ) -> Result<Option<(Kind, Place<'b>)>, RfbError> {
        loop {
            self.to_skip -= take(bytes, self.to_skip).len();
            if self.to_skip > 0 {
                return Ok(None);
            }
            let Some(first) = self.partial.first().or(bytes.first()) else { return Ok(None) };
            let kind = Kind::of(*first)?;
            self.unwanted |= !wanted(kind);

            // Most messages arrive whole and are returned without a copy.
            if self.partial.is_empty()
                && !self.unwanted
                && let Some(length) = kind.length(bytes)?
                && bytes.len() >= length
            {
                return Ok(Some((kind, Place::Input(take(bytes, length)))));
            }

            let length = loop {
                match kind.length(&self.partial)? {
                    Some(length) => break length,
                    None if bytes.is_empty() => return Ok(None),
                    None => self.partial.extend_from_slice(take(bytes, 1)),
                }
            };
            let missing = length.saturating_sub(self.partial.len());
            if self.unwanted {
                self.forget();
                self.to_skip = missing;
                continue;
            }
            let taken = take(bytes, missing);
            self.partial.extend_from_slice(taken);
            if taken.len() < missing {
                return Ok(None);
            }
            self.handed_out = true;
            return Ok(Some((kind, Place::Partial)));
        }
    }

    fn forget(&mut self) {
        self.partial.clear();
        self.partial.shrink_to(SPARE);
        self.handed_out = false;
        self.unwanted = false;
    }
}

/// Cuts up to `count` bytes off the front.
fn take<'b>(bytes: &mut &'b [u8], count: usize) -> &'b [u8] {
    let (taken, rest) = bytes.split_at_checked(count).unwrap_or((bytes, &[]));
    *bytes = rest;
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(bytes: &[u8], chunk: usize) -> Result<Vec<(Kind, usize)>, RfbError> {
        let mut messages = ClientMessages::default();
        let mut found = Vec::new();
        for mut chunk in bytes.chunks(chunk) {
            while let Some(message) = messages.next(&mut chunk, |_| true)? {
                found.push((message.kind, message.bytes.len()));
            }
        }
        assert_eq!(messages.buffered(), 0);
        Ok(found)
    }

    /// One message of each kind, with its length from the protocol's description.
    fn one_of_each() -> Vec<(Kind, Vec<u8>)> {
        let message = |head: &[u8], length: usize| {
            let mut bytes = head.to_vec();
            bytes.resize(length, 7);
            bytes
        };
        vec![
            (Kind::PixelFormat, message(&[0], 20)),
            (Kind::Encodings, message(&[2, 0, 0, 3], 16)),
            (Kind::Encodings, message(&[2, 0, 0, 0], 4)),
            (Kind::UpdateRequest, message(&[3], 10)),
            (Kind::Key, message(&[4], 8)),
            (Kind::Pointer, message(&[5, 0], 6)),
            (Kind::Pointer, message(&[5, 0x80], 6)),
            (Kind::CutText, message(&[6, 0, 0, 0, 0, 0, 0, 5], 13)),
            (Kind::CutText, message(&[6, 0, 0, 0, 0xff, 0xff, 0xff, 0xfb], 13)),
            (Kind::ContinuousUpdates, message(&[150], 10)),
            (Kind::Fence, message(&[248, 0, 0, 0, 0, 0, 0, 0, 64], 73)),
            (Kind::Xvp, message(&[250], 4)),
            (Kind::DesktopSize, message(&[251, 0, 0, 0, 0, 0, 2, 0], 40)),
            (Kind::QemuKey, message(&[255, 0], 12)),
        ]
    }

    #[test]
    fn message_boundaries_do_not_depend_on_chunk_sizes() {
        let each = one_of_each();
        let stream: Vec<u8> = each.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
        let expected: Vec<_> = each.iter().map(|(kind, bytes)| (*kind, bytes.len())).collect();

        for chunk in 1..=stream.len() {
            assert_eq!(kinds(&stream, chunk).as_ref(), Ok(&expected));
        }
    }

    #[test]
    fn oversized_and_unknown_messages_are_refused_permanently() {
        let cases: [(&[u8], RfbError); 8] = [
            (&[1], RfbError::UnknownMessage(1)),
            (&[253], RfbError::UnknownMessage(253)),
            (&[255, 1], RfbError::UnknownQemuMessage(1)),
            (&[2, 0, 4, 1], RfbError::TooManyEncodings(1025)),
            (&[6, 0, 0, 0, 0, 0x10, 0, 1], RfbError::TextTooLong(1024 * 1024 + 1)),
            (&[6, 0, 0, 0, 0x80, 0, 0, 0], RfbError::TextTooLong(1 << 31)),
            (&[248, 0, 0, 0, 0, 0, 0, 0, 65], RfbError::FenceTooLong(65)),
            (&[251, 0, 0, 0, 0, 0, 17], RfbError::TooManyScreens(17)),
        ];
        for (bytes, error) in cases {
            for wanted in [true, false] {
                let mut messages = ClientMessages::default();
                let mut rest = bytes;
                assert_eq!(messages.next(&mut rest, |_| wanted).err(), Some(error));
                let mut key: &[u8] = &[4, 1, 0, 0, 0, 0, 0, 0x61];
                assert_eq!(messages.next(&mut key, |_| wanted).err(), Some(error));
            }
        }
    }

    #[test]
    fn skipped_text_is_not_kept() {
        let mut messages = ClientMessages::default();
        let mut header: &[u8] = &[6, 0, 0, 0, 0, 0x10, 0, 0];
        assert!(messages.next(&mut header, |_| true).unwrap().is_none());
        let text = vec![b'x'; 512 * 1024];
        assert!(messages.next(&mut text.as_slice(), |_| true).unwrap().is_none());
        assert_eq!(messages.buffered(), 8 + text.len());

        assert!(messages.next(&mut [].as_slice(), |kind| !kind.is_input()).unwrap().is_none());
        assert_eq!(messages.buffered(), 0);

        assert!(messages.next(&mut text.as_slice(), |_| true).unwrap().is_none());
        let mut behind: &[u8] = &[250, 0, 1, 2];
        let next = messages.next(&mut behind, |_| true).unwrap().unwrap();
        assert_eq!(next.kind, Kind::Xvp);
    }
}
