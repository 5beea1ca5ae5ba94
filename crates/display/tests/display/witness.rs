//! A window over the whole screen that records its events.

use std::time::Duration;

use x11rb::{
    connection::Connection as _,
    protocol::{
        Event,
        xproto::{ConnectionExt as _, CreateWindowAux, EventMask, WindowClass},
    },
    rust_connection::RustConnection,
};

pub struct Witness {
    pub x: RustConnection,
    pub root: u32,
}

/// An event: button or key code, x, y, and the modifiers held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    Press(u8, i16, i16, u16),
    Release(u8, i16, i16),
    Move(i16, i16),
    Key(u8),
    KeyUp(u8),
}

impl Witness {
    pub fn on(display: &str) -> Self {
        let (x, screen) = RustConnection::connect(Some(display)).unwrap();
        let root = x.setup().roots[screen].root;
        let window = x.generate_id().unwrap();
        let events = EventMask::BUTTON_PRESS
            | EventMask::BUTTON_RELEASE
            | EventMask::POINTER_MOTION
            | EventMask::KEY_PRESS
            | EventMask::KEY_RELEASE
            | EventMask::EXPOSURE;
        let aux = CreateWindowAux::new()
            .event_mask(events)
            .override_redirect(1)
            .background_pixel(0x0010_2030);
        let kind = WindowClass::INPUT_OUTPUT;
        x.create_window(0, window, root, 0, 0, 8000, 8000, 0, kind, 0, &aux).unwrap();
        x.map_window(window).unwrap();
        x.flush().unwrap();
        loop {
            if let Event::Expose(_) = x.wait_for_event().unwrap() {
                break;
            }
        }
        let witness = Self { x, root };
        witness.seen();
        witness
    }

    /// All events so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.x.get_input_focus().unwrap().reply().unwrap();
        let mut seen = Vec::new();
        while let Some(event) = self.x.poll_for_event().unwrap() {
            seen.push(match event {
                Event::ButtonPress(e) => {
                    Seen::Press(e.detail, e.root_x, e.root_y, u16::from(e.state) & 0xff)
                }
                Event::ButtonRelease(e) => Seen::Release(e.detail, e.root_x, e.root_y),
                Event::MotionNotify(e) => Seen::Move(e.root_x, e.root_y),
                Event::KeyPress(e) => Seen::Key(e.detail),
                Event::KeyRelease(e) => Seen::KeyUp(e.detail),
                _ => continue,
            });
        }
        seen
    }

    /// The symbols of every key.
    pub fn layout(&self) -> Vec<u32> {
        let (min, max) = (self.x.setup().min_keycode, self.x.setup().max_keycode);
        self.x.get_keyboard_mapping(min, max - min + 1).unwrap().reply().unwrap().keysyms
    }

    /// Whether any key or button is down.
    pub fn anything_down(&self) -> bool {
        let keys = self.x.query_keymap().unwrap().reply().unwrap().keys;
        let buttons = u16::from(self.x.query_pointer(self.root).unwrap().reply().unwrap().mask);
        keys.iter().any(|byte| *byte != 0) || buttons & 0x1f00 != 0
    }

    /// Waits until another program sees pressed keys.
    pub async fn until_down(&self) {
        while !self.anything_down() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}
