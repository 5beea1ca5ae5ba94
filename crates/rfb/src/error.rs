//! Errors that close a viewer's connection.

/// The viewer sent something that cannot be relayed. The rest of the stream cannot be parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RfbError {
    /// Not a protocol version that we support.
    #[error("the viewer speaks a protocol version other than 3.3, 3.7 and 3.8")]
    Version,
    /// The viewer chose a security type that was not offered.
    #[error("the viewer chose security type {0}, which was not offered")]
    SecurityType(u8),
    /// A message of unknown length, so nothing after it can be parsed either.
    #[error("message type {0} is unknown")]
    UnknownMessage(u8),
    /// A QEMU message that is not a key event.
    #[error("QEMU message {0} is unknown")]
    UnknownQemuMessage(u8),
    /// Too many encodings.
    #[error("{0} encodings are too many")]
    TooManyEncodings(u16),
    /// Clipboard text over the limit.
    #[error("{0} bytes of clipboard text are too many")]
    TextTooLong(u32),
    /// A fence larger than the protocol allows.
    #[error("{0} bytes in a fence are too many")]
    FenceTooLong(u8),
    /// Too many screens.
    #[error("{0} screens are too many")]
    TooManyScreens(u8),
}
