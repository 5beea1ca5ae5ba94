//! Releases everything that is held down when control changes.

use helmdeck_task::block_in_place;
use x11rb::{
    connection::Connection as _,
    protocol::{
        xproto::{BUTTON_RELEASE_EVENT, ConnectionExt as _, KEY_RELEASE_EVENT, KeyButMask},
        xtest::ConnectionExt as _,
    },
};

use crate::{Display, DisplayError};

/// The first five buttons have a mask bit each; the thumb buttons have none and are always
/// released.
const BUTTONS: [(u8, Option<KeyButMask>); 7] = [
    (1, Some(KeyButMask::BUTTON1)),
    (2, Some(KeyButMask::BUTTON2)),
    (3, Some(KeyButMask::BUTTON3)),
    (4, Some(KeyButMask::BUTTON4)),
    (5, Some(KeyButMask::BUTTON5)),
    (8, None),
    (9, None),
];

impl Display {
    /// Releases all keys and buttons held by actions. Waits for an action in progress.
    pub async fn release_all(&self) -> Result<(), DisplayError> {
        let input = self.input().await?;
        block_in_place(|| {
            let x = &input.connection;
            let (keys, pointer) = (x.query_keymap()?, x.query_pointer(x.root)?);
            let (keys, pointer) = (keys.reply()?.keys, pointer.reply()?.mask);
            let down = |code: &u8| {
                keys.get(usize::from(code / 8)).is_some_and(|bits| bits & (1 << (code % 8)) != 0)
            };
            for code in (8..=255).filter(down) {
                x.xtest_fake_input(KEY_RELEASE_EVENT, code, 0, x.root, 0, 0, 0)?;
            }
            let held = |mask: Option<KeyButMask>| mask.is_none_or(|bit| pointer.contains(bit));
            for (button, _) in BUTTONS.into_iter().filter(|(_, mask)| held(*mask)) {
                x.xtest_fake_input(BUTTON_RELEASE_EVENT, button, 0, x.root, 0, 0, 0)?;
            }
            x.flush()?;
            x.round_trip()
        })
    }
}
