//! Fuzzes filter and handshake: feeds mutated viewer streams for some seconds.
//!
//! `cargo run --release -p helmdeck-rfb --example fuzz_rfb -- 30 [seed]`. Stops at the first stream
//! that
//! violates an invariant, and prints the seed to reproduce it.

use std::time::{Duration, Instant};

use helmdeck_rfb::{ClientMessages, Handshake, InputFilter, MAX_BUFFERED, MAX_HELD_KEYS, Role};

/// One message of each kind, and messages that press and release keys and buttons.
const SEEDS: [&[u8]; 16] = [
    &[0, 0, 0, 0, 32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0],
    &[2, 0, 0, 3, 0xff, 0xff, 0xfe, 0xcc, 0, 0, 0, 7, 0xff, 0xff, 0xfe, 0xc4],
    &[2, 0, 4, 0],
    &[3, 1, 0, 0, 0, 0, 4, 0, 3, 0],
    &[4, 1, 0, 0, 0, 0, 0, 0x61],
    &[4, 0, 0, 0, 0, 0, 0, 0x61],
    &[5, 0x81, 0, 9, 0, 7],
    &[5, 0, 0, 9, 0, 7],
    &[6, 0, 0, 0, 0, 0, 0, 4, b't', b'e', b'x', b't'],
    &[6, 0, 0, 0, 0xff, 0xff, 0xff, 0xfc, 2, 0, 0, 1],
    &[150, 1, 0, 0, 0, 0, 4, 0, 3, 0],
    &[248, 0, 0, 0, 0x80, 0, 0, 1, 4, b'p', b'i', b'n', b'g'],
    &[250, 0, 1, 2],
    &[251, 0, 4, 0, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 3, 0, 0, 0, 0, 0],
    &[255, 0, 0, 1, 0, 0, 0, 0x61, 0, 0, 0, 30],
    &[255, 0, 0, 0, 0, 0, 0, 0x61, 0, 0, 0, 30],
];
/// Streams between two checks of the clock.
const ROUND: u64 = 1000;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 16) as usize % end.max(1)
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>());
    let seconds = arguments.next().and_then(Result::ok).unwrap_or(10);
    let seed = arguments.next().and_then(Result::ok).unwrap_or(0x9e37_79b9_7f4a_7c15).max(1);
    let started = Instant::now();
    let mut random = Random(seed);
    let (mut streams, mut bytes, mut whole) = (0_u64, 0_u64, 0_u64);
    while started.elapsed() < Duration::from_secs(seconds) {
        for _ in 0..ROUND {
            let state = random.0;
            let stream = stream(&mut random);
            bytes += stream.len() as u64;
            match check(&stream, &mut random) {
                Ok(read_to_the_end) => whole += u64::from(read_to_the_end),
                Err(what) => {
                    eprintln!("{what}\nseed {state}\nstream {stream:?}");
                    std::process::exit(1);
                }
            }
        }
        streams += ROUND;
    }
    let rate = streams as f64 / started.elapsed().as_secs_f64();
    println!("{streams} streams, {bytes} bytes, {whole} valid to the end, {rate:.0} streams/s");
}

/// A few valid messages, possibly damaged.
fn stream(random: &mut Random) -> Vec<u8> {
    let mut stream = Vec::new();
    for _ in 0..random.below(12) {
        let at = random.below(SEEDS.len());
        stream.extend_from_slice(SEEDS.get(at).copied().unwrap_or_default());
    }
    for _ in 0..random.below(5) {
        let at = random.below(stream.len());
        let byte = random.next() as u8;
        match (random.below(4), stream.get_mut(at)) {
            (0, Some(place)) => *place = byte,
            (1, Some(place)) => *place ^= 1 << (byte & 7),
            (2, Some(_)) => stream.truncate(at),
            _ => stream.insert(at, byte),
        }
    }
    stream
}

/// Whether the stream was valid to its end, or which invariant it violated.
fn check(stream: &[u8], random: &mut Random) -> Result<bool, &'static str> {
    let mut view = InputFilter::new(Role::View);
    let mut control = InputFilter::new(Role::Control);
    let mut whole = InputFilter::new(Role::Control);
    let (mut seen, mut driven, mut expected) = (Vec::new(), Vec::new(), Vec::new());
    let ends_well = whole.feed(stream, true, &mut expected).is_ok();
    let (mut handshake, _) = Handshake::new();
    let mut always_driving = true;
    let mut rest = stream;
    while !rest.is_empty() {
        let length = (1 + random.below(24)).min(rest.len());
        let (piece, after) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        rest = after;
        let driving = random.below(8) > 0;
        always_driving &= driving;
        let seeing = view.feed(piece, driving, &mut seen).is_ok();
        let going = control.feed(piece, driving, &mut driven).is_ok();
        if seeing != going {
            return Err("watcher and driver disagree about what is valid");
        }
        if view.buffered().max(control.buffered()) > MAX_BUFFERED {
            return Err("too much is kept");
        }
        if !driving && control.release().len() > 12 * MAX_HELD_KEYS + 6 {
            return Err("too much is held");
        }
        let _ = handshake.feed(piece);
        if !going {
            break;
        }
    }
    if ends_well && always_driving && driven != expected {
        return Err("the split makes a difference");
    }
    if !view.release().is_empty() {
        return Err("a watcher holds something");
    }
    only(&seen, |input| !input)?;
    only(&driven, |_| true)?;
    only(&control.release(), |input| input)?;
    Ok(ends_well)
}

/// Checks that the stream consists of whole messages that satisfy `may_be`.
fn only(mut stream: &[u8], may_be: impl Fn(bool) -> bool) -> Result<(), &'static str> {
    let mut messages = ClientMessages::default();
    let (mut read, all) = (0, stream.len());
    loop {
        match messages.next(&mut stream, |_| true) {
            Ok(Some(message)) if may_be(message.kind.is_input()) => read += message.bytes.len(),
            Ok(Some(_)) => return Err("a message passed that must not"),
            Ok(None) if read == all => return Ok(()),
            Ok(None) => return Err("half a message passed"),
            Err(_) => return Err("an unknown message passed"),
        }
    }
}
