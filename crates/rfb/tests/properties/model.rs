//! A second, simpler implementation of the protocol for comparison: whole streams only, and an
//! X server that tracks keys like TigerVNC.

use std::collections::{HashMap, HashSet};

use proptest::collection::vec;
use proptest::prelude::*;

/// Whether a message is input.
pub fn is_input(message: &[u8]) -> bool {
    matches!(message[0], 4 | 5 | 6 | 250 | 251 | 255)
}

/// The messages of a whole stream; `None` if it does not consist of whole, known messages.
pub fn split(stream: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut messages = Vec::new();
    let mut rest = stream;
    while !rest.is_empty() {
        let length = match rest[0] {
            0 => 20,
            2 => 4 + 4 * usize::from(u16::from_be_bytes(rest.get(2..4)?.try_into().ok()?)),
            3 | 150 => 10,
            4 => 8,
            5 => 6,
            6 => {
                let length = i32::from_be_bytes(rest.get(4..8)?.try_into().ok()?);
                8 + length.unsigned_abs() as usize
            }
            248 => 9 + usize::from(*rest.get(8)?),
            250 => 4,
            251 => 8 + 16 * usize::from(*rest.get(6)?),
            255 if rest.get(1) == Some(&0) => 12,
            _ => return None,
        };
        messages.push(rest.get(..length)?.to_vec());
        rest = &rest[length..];
    }
    Some(messages)
}

/// Up to `most` valid messages. They use few keys and positions, so that these repeat.
pub fn messages(most: usize) -> impl Strategy<Value = Vec<Vec<u8>>> {
    vec(message(), 0..most)
}

fn message() -> impl Strategy<Value = Vec<u8>> {
    let fixed = |first: u8, length: usize| {
        vec(any::<u8>(), length - 1).prop_map(move |rest| [vec![first], rest].concat())
    };
    let number = prop_oneof![
        Just(-308_i32),
        Just(-316),
        Just(-309),
        Just(7),
        Just(-312),
        Just(0xc0a1_e5ce_u32 as i32),
        any::<i32>(),
    ];
    let encodings = vec(number, 0..6).prop_map(|numbers| {
        let mut message = vec![2, 0, 0, numbers.len() as u8];
        message.extend(numbers.into_iter().flat_map(i32::to_be_bytes));
        message
    });
    let text = (vec(any::<u8>(), 0..60), any::<bool>()).prop_map(|(text, extended)| {
        let length = text.len() as i32;
        let length = if extended { -length } else { length };
        [vec![6, 0, 0, 0], length.to_be_bytes().to_vec(), text].concat()
    });
    let fence = vec(any::<u8>(), 0..=64).prop_map(|payload| {
        [vec![248, 0, 0, 0, 0x80, 0, 0, 1, payload.len() as u8], payload].concat()
    });
    let size = vec(any::<u8>(), 0..=48).prop_map(|mut screens| {
        screens.truncate(screens.len() / 16 * 16);
        [vec![251, 0, 4, 0, 3, 0, (screens.len() / 16) as u8, 0], screens].concat()
    });
    let key = (any::<bool>(), 0_u8..4)
        .prop_map(|(down, symbol)| vec![4, u8::from(down), 0, 0, 0, 0, 0, symbol]);
    let place = (any::<bool>(), 0_u8..3, 0_u8..4).prop_map(|(down, symbol, place)| {
        vec![255, 0, 0, u8::from(down), 0, 0, 0, symbol, 0, 0, 0, place]
    });
    let pointer = (any::<u8>(), any::<u16>(), any::<u16>()).prop_map(|(buttons, x, y)| {
        [vec![5, buttons], x.to_be_bytes().to_vec(), y.to_be_bytes().to_vec()].concat()
    });
    prop_oneof![
        1 => fixed(0, 20),
        1 => fixed(3, 10),
        1 => fixed(150, 10),
        1 => fixed(250, 4),
        1 => encodings,
        1 => text,
        1 => fence,
        1 => size,
        3 => key,
        3 => place,
        3 => pointer,
    ]
}

/// What a filter for a viewer in control must pass, one whole message at a time.
#[derive(Default)]
pub struct Judge {
    keys: HashSet<Vec<u8>>,
    resizable: bool,
}

impl Judge {
    /// What passes to the X server for a message sent with or without control.
    pub fn verdict(&mut self, message: &[u8], driven: bool) -> Vec<u8> {
        let mut message = message.to_vec();
        let passes = match message[0] {
            2 => {
                message = self.encodings(&message);
                true
            }
            250 => false,
            251 => {
                message[1] = 1;
                driven && self.resizable
            }
            4 | 255 => driven && self.key(&message),
            5 | 6 => driven,
            _ => true,
        };
        if passes { message } else { Vec::new() }
    }

    fn encodings(&mut self, message: &[u8]) -> Vec<u8> {
        let harmless = |number: &i32| {
            (0..256).contains(number)
                || (-32..-22).contains(number)
                || (-256..-246).contains(number)
                || (-512..-411).contains(number)
                || (-768..-762).contains(number)
                || [-223, -224, -232, -239, -240, -258, -260, -261, -307, -308, -312, -313, -314]
                    .contains(number)
                || [0x574d_5664, 0x574d_5668, 0xc0a1_e5ce_u32 as i32].contains(number)
        };
        let kept: Vec<i32> = message[4..]
            .chunks(4)
            .map(|number| i32::from_be_bytes(number.try_into().unwrap()))
            .filter(harmless)
            .collect();
        self.resizable = kept.contains(&-308);
        let mut message = vec![2, 0, 0, kept.len() as u8];
        message.extend(kept.into_iter().flat_map(i32::to_be_bytes));
        message
    }

    fn key(&mut self, message: &[u8]) -> bool {
        let (down, name) = match message[0] {
            4 => (message[1] != 0, [&[0], &message[4..8]].concat()),
            _ => (message[2] != 0 || message[3] != 0, [&[1], &message[8..12]].concat()),
        };
        if name == [1, 0, 0, 0, 0] {
            return false;
        }
        // No stream here reaches the limit of held keys.
        if down {
            self.keys.insert(name);
            true
        } else {
            self.keys.remove(&name)
        }
    }
}

/// An X server's keys and buttons.
#[derive(Default)]
pub struct Desktop {
    keys: HashMap<u32, u32>,
    buttons: u8,
}

impl Desktop {
    /// Applies the messages.
    pub fn obey(&mut self, stream: &[u8]) {
        let number = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().unwrap());
        for message in split(stream).expect("whole messages") {
            match message[0] {
                4 => self.key(number(&message[4..8]), 0, message[1] != 0),
                255 => {
                    let down = message[2] != 0 || message[3] != 0;
                    self.key(number(&message[4..8]), number(&message[8..12]), down);
                }
                5 => self.buttons = message[1],
                _ => {}
            }
        }
    }

    /// The number of messages that release everything: one per key, and one for the pointer.
    pub fn held(&self) -> usize {
        self.keys.len() + usize::from(self.buttons != 0)
    }

    fn key(&mut self, symbol: u32, place: u32, down: bool) {
        let name = if place == 0 { 0x8000_0000 | symbol } else { place };
        if down {
            self.keys.entry(name).or_insert(symbol);
        } else {
            self.keys.remove(&name);
        }
    }
}
