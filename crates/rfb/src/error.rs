//! Why a viewer's connection has to be closed.

/// The viewer sent something that cannot be relayed. The stream cannot be read on from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RfbError {
    /// The first twelve bytes are not a protocol version we speak.
    #[error("the viewer speaks a protocol version other than 3.3, 3.7 and 3.8")]
    Version,
    /// The viewer chose a way to log in that was not offered.
    #[error("the viewer chose security type {0}, which was not offered")]
    SecurityType(u8),
    /// A message whose length we cannot know, so nothing after it can be read either.
    #[error("message type {0} is not known")]
    UnknownMessage(u8),
    /// A message of QEMU's family that is not a key event.
    #[error("QEMU message {0} is not known")]
    UnknownQemuMessage(u8),
    /// More encodings than any viewer has.
    #[error("{0} encodings are too many")]
    TooManyEncodings(u16),
    /// Text for the clipboard that is too long to pass.
    #[error("{0} bytes of clipboard text are too many")]
    TextTooLong(u32),
    /// A fence with more in it than the protocol allows.
    #[error("{0} bytes in a fence are too many")]
    FenceTooLong(u8),
    /// More screens than a desktop of ours can have.
    #[error("{0} screens are too many")]
    TooManyScreens(u8),
}
