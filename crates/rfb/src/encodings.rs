//! Which encodings and extensions a viewer may claim to understand.
//!
//! A list of what may pass, not of what may not: an extension can give the viewer new messages or
//! old ones a new form, and a gate that cannot tell where a message ends cannot guard. What the
//! X server is never told of, it never offers, so the viewer never uses it.

use helmdeck_wire::ticket::Role;

/// Size and screens, both ways; without it the viewer may not ask for another size.
pub(crate) const EXTENDED_DESKTOP_SIZE: i32 = -308;
/// The clipboard with more than Latin-1 in it; only for those who may ever touch it.
const EXTENDED_CLIPBOARD: i32 = i32::from_be_bytes([0xc0, 0xa1, 0xe5, 0xce]);

/// Whether the X server is told that this viewer understands `encoding`.
///
/// Left out with a reason: −257 (the pointer's coordinates become relative, and what we log would
/// be wrong), −259 (audio, with messages of its own), −305 (gii, the same), −309 (xvp, whose
/// messages never pass), −311 (the guest could send the viewer to another host), −316 (a seventh
/// byte in pointer events), and the rest of VMware's numbers, which are not described in public.
pub(crate) fn may_pass(encoding: i32, role: Role) -> bool {
    match encoding {
        // How rectangles are drawn, which is between the X server and the viewer. −260 is PNG.
        0..=255 | -260 => true,
        // How much to compress: JPEG quality, its fine steps, its subsampling, and zlib's level.
        -32..=-23 | -512..=-412 | -768..=-763 | -256..=-247 => true,
        // Size of the desktop, last rectangle, place of the pointer.
        -223 | -224 | -232 => true,
        // The pointer's shape, in four forms; VMware's is the one noVNC knows that is see-through.
        -239 | -240 | -314 | 0x574d_5664 => true,
        // Keyboard lights, in two forms, and the desktop's name.
        -261 | 0x574d_5668 | -307 => true,
        // Keys by place, size and screens, fences, continuous updates: messages the gate knows.
        -258 | EXTENDED_DESKTOP_SIZE | -312 | -313 => true,
        EXTENDED_CLIPBOARD => role == Role::Control,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_may_ever_drive_is_offered_the_whole_clipboard() {
        assert!(may_pass(EXTENDED_CLIPBOARD, Role::Control));
        assert!(!may_pass(EXTENDED_CLIPBOARD, Role::View));
    }

    #[test]
    fn extensions_that_bring_messages_of_their_own_are_never_offered() {
        for encoding in [-257, -259, -305, -309, -310, -311, -316, 0x574d_5665, i32::MIN] {
            assert!(!may_pass(encoding, Role::Control), "{encoding}");
        }
    }

    #[test]
    fn what_novnc_asks_for_passes_except_xvp_and_extra_buttons() {
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
