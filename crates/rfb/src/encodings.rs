//! The encodings and extensions that a viewer may announce.
//!
//! This is an allowlist: an extension can add messages or change existing ones, and the filter must
//! know where each message ends. The X server offers only extensions that the viewer announced.

use helmdeck_wire::ticket::Role;

/// Desktop size and screens; without it the viewer may not request another size.
pub(crate) const EXTENDED_DESKTOP_SIZE: i32 = -308;
/// The extended clipboard; only for viewers that may control the session.
const EXTENDED_CLIPBOARD: i32 = i32::from_be_bytes([0xc0, 0xa1, 0xe5, 0xce]);

/// Whether the X server may learn that this viewer supports `encoding`.
///
/// Excluded on purpose: −257 (relative pointer coordinates, which would make our log wrong), −259
/// (audio, which adds messages), −305 (gii, the same), −309 (xvp, whose messages never pass), −311
/// (the guest could redirect the viewer to another host), −316 (a seventh byte in pointer events),
/// and the rest of VMware's numbers, which are undocumented.
pub(crate) fn may_pass(encoding: i32, role: Role) -> bool {
    match encoding {
        // Encodings of rectangles. −260 is PNG.
        0..=255 | -260 => true,
        // Compression: JPEG quality, fine quality, subsampling, and zlib level.
        -32..=-23 | -512..=-412 | -768..=-763 | -256..=-247 => true,
        // Desktop size, last rectangle, pointer position.
        -223 | -224 | -232 => true,
        // The cursor shape, in four forms; noVNC's form with transparency is VMware's.
        -239 | -240 | -314 | 0x574d_5664 => true,
        // Keyboard LEDs, in two forms, and the desktop name.
        -261 | 0x574d_5668 | -307 => true,
        // Key codes, screens, fences, continuous updates: messages the filter knows.
        -258 | EXTENDED_DESKTOP_SIZE | -312 | -313 => true,
        EXTENDED_CLIPBOARD => role == Role::Control,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_controllers_are_offered_the_extended_clipboard() {
        assert!(may_pass(EXTENDED_CLIPBOARD, Role::Control));
        assert!(!may_pass(EXTENDED_CLIPBOARD, Role::View));
    }

    #[test]
    fn extensions_with_unknown_messages_are_never_offered() {
        for encoding in [-257, -259, -305, -309, -310, -311, -316, 0x574d_5665, i32::MIN] {
            assert!(!may_pass(encoding, Role::Control), "{encoding}");
        }
    }

    #[test]
    fn novnc_encodings_pass_except_xvp_and_extra_buttons() {
        let asked = [
            1,
            50,
            7,
            -260,
            16,
            21,
            5,
            2,
            6,
            0,
            -23,
            -254,
            -223,
            -224,
            -258,
            -261,
            -308,
            -309,
            -312,
            -313,
            -307,
            EXTENDED_CLIPBOARD,
            -316,
            0x574d_5664,
            -239,
        ];

        let refused: Vec<i32> =
            asked.into_iter().filter(|number| !may_pass(*number, Role::Control)).collect();

        assert_eq!(refused, [-309, -316]);
    }
}
