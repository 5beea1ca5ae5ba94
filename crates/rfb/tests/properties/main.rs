//! Properties that hold for every viewer, honest or not: random streams are compared with a second,
//! simpler implementation of the protocol.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may"
)]

mod model;

use helmdeck_rfb::{Handshake, Input, InputFilter, MAX_BUFFERED, MAX_HELD_KEYS, RfbError, Role};
use proptest::collection::vec;
use proptest::prelude::*;

use model::{Desktop, Judge, is_input, messages, split};

const WATCHING: [u8; 5] = [0, 2, 3, 150, 248];
const DRIVING: [u8; 10] = [0, 2, 3, 4, 5, 6, 150, 248, 251, 255];

/// Cuts `bytes` into pieces whose lengths come from `cuts`, in turn.
fn pieces<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    let mut rest = bytes;
    let mut cuts = cuts.iter().cycle();
    while !rest.is_empty() {
        let length = cuts.next().map_or(rest.len(), |cut| (*cut).clamp(1, rest.len()));
        let (piece, after) = rest.split_at(length);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

type Outcome = (Vec<u8>, Vec<Input>, Option<RfbError>);

fn run(role: Role, pieces: &[&[u8]], driving: impl Fn(usize) -> bool) -> Outcome {
    let mut filter = InputFilter::new(role);
    let mut out = Vec::new();
    let mut inputs = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        match filter.feed(piece, driving(index), &mut out) {
            Ok(passed) => inputs.extend(passed.inputs),
            Err(error) => return (out, inputs, Some(error)),
        }
        assert!(filter.buffered() <= MAX_BUFFERED);
    }
    (out, inputs, None)
}

fn role() -> impl Strategy<Value = Role> {
    prop_oneof![Just(Role::View), Just(Role::Control)]
}

/// Random bytes, or messages with some bytes changed.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let changed = (messages(30), vec((any::<prop::sample::Index>(), any::<u8>()), 0..8)).prop_map(
        |(messages, changes)| {
            let mut bytes = messages.concat();
            for (at, byte) in changes {
                if !bytes.is_empty() {
                    let at = at.index(bytes.len());
                    bytes[at] = byte;
                }
            }
            bytes
        },
    );
    prop_oneof![vec(any::<u8>(), 0..400), changed]
}

proptest! {
    #[test]
    fn the_result_does_not_depend_on_chunk_sizes(
        stream in messages(30), cuts in vec(1_usize..40, 1..20), role in role(), driving: bool,
    ) {
        let bytes = stream.concat();
        let whole = run(role, &[&bytes], |_| driving);
        let split = run(role, &pieces(&bytes, &cuts), |_| driving);
        let single = run(role, &pieces(&bytes, &[1]), |_| driving);
        prop_assert_eq!(&whole.2, &None);
        prop_assert_eq!(&whole, &split);
        prop_assert_eq!(&whole, &single);
    }

    #[test]
    fn hostile_streams_end_alike_with_any_chunk_sizes(
        bytes in hostile(), cuts in vec(1_usize..40, 1..20), role in role(), driving: bool,
    ) {
        let single = run(role, &pieces(&bytes, &[1]), |_| driving);
        let split = run(role, &pieces(&bytes, &cuts), |_| driving);
        prop_assert_eq!(single.2, split.2);
        if single.2.is_none() {
            prop_assert_eq!(&single, &split);
        } else {
            // The chunk with the error passes nothing.
            prop_assert!(single.0.starts_with(&split.0));
            prop_assert!(single.1.starts_with(&split.1));
        }
    }

    #[test]
    fn only_whole_messages_pass_and_watchers_send_no_input(
        bytes in hostile(), cuts in vec(1_usize..40, 1..20), role in role(), driving: bool,
    ) {
        let (out, inputs, _) = run(role, &pieces(&bytes, &cuts), |_| driving);
        let messages = split(&out).expect("whole messages");
        let allowed: &[u8] =
            if driving && role == Role::Control { &DRIVING } else { &WATCHING };
        prop_assert!(messages.iter().all(|message| allowed.contains(&message[0])));
        let input = messages.iter().filter(|message| is_input(message)).count();
        prop_assert_eq!(inputs.len(), input);
    }

    #[test]
    fn input_passes_only_if_all_of_it_was_sent_while_driving(
        stream in messages(30),
        cuts in vec(1_usize..40, 1..20),
        driving in vec(any::<bool>(), 1..20),
    ) {
        let bytes = stream.concat();
        let pieces = pieces(&bytes, &cuts);
        let driving = |index: usize| driving[index % driving.len()];
        let mut drives = Vec::new();
        for (index, piece) in pieces.iter().enumerate() {
            drives.resize(drives.len() + piece.len(), driving(index));
        }
        let mut judge = Judge::default();
        let mut expected = Vec::new();
        let mut at = 0;
        for message in &stream {
            let driven = drives[at..at + message.len()].iter().all(|drives| *drives);
            at += message.len();
            expected.extend(judge.verdict(message, driven));
        }
        let (out, _, error) = run(Role::Control, &pieces, driving);
        prop_assert_eq!(error, None);
        prop_assert_eq!(out, expected);
    }

    #[test]
    fn a_release_frees_exactly_what_the_viewer_held(
        turns in vec((messages(12), any::<bool>()), 1..12),
    ) {
        let mut filter = InputFilter::new(Role::Control);
        let mut desktop = Desktop::default();
        for (stream, driving) in turns {
            let mut out = Vec::new();
            filter.feed(&stream.concat(), driving, &mut out).unwrap();
            desktop.obey(&out);
            let held = desktop.held();
            prop_assert!(held <= MAX_HELD_KEYS + 1);
            let release = split(&filter.release()).expect("whole messages");
            prop_assert_eq!(release.len(), held);
            desktop.obey(&release.concat());
            prop_assert_eq!(desktop.held(), 0);
            prop_assert!(filter.release().is_empty());
        }
    }

    #[test]
    fn everything_a_hostile_driver_holds_can_be_released(
        chunks in vec((hostile(), any::<bool>()), 1..8),
    ) {
        let mut filter = InputFilter::new(Role::Control);
        let mut desktop = Desktop::default();
        for (bytes, driving) in chunks {
            let mut out = Vec::new();
            let result = filter.feed(&bytes, driving, &mut out);
            desktop.obey(&out);
            if result.is_err() {
                break;
            }
        }
        desktop.obey(&filter.release());
        prop_assert_eq!(desktop.held(), 0);
    }

    #[test]
    fn a_handshake_result_does_not_depend_on_chunk_sizes(
        version in prop_oneof![
            Just(b"RFB 003.003\n".to_vec()),
            Just(b"RFB 003.007\n".to_vec()),
            Just(b"RFB 003.008\n".to_vec()),
            vec(any::<u8>(), 0..20),
        ],
        behind in vec(0_u8..3, 0..20),
        cuts in vec(1_usize..8, 1..10),
    ) {
        let bytes = [version, behind].concat();
        let shake = |pieces: &[&[u8]]| {
            let (mut handshake, _) = Handshake::new();
            let mut sent = Vec::new();
            let mut rest = Vec::new();
            for piece in pieces {
                let step = handshake.feed(piece)?;
                sent.extend(step.to_client);
                rest.extend(step.done.into_iter().flat_map(|done| done.rest.to_vec()));
            }
            Ok::<_, RfbError>((sent, rest))
        };
        prop_assert_eq!(shake(&[&bytes]), shake(&pieces(&bytes, &cuts)));
    }
}

#[test]
fn a_watchers_long_text_is_skipped_without_being_kept() {
    let mut filter = InputFilter::new(Role::View);
    let mut out = Vec::new();
    let mut bytes = vec![6, 0, 0, 0, 0, 0x10, 0, 0];
    bytes.resize(8 + (1 << 20), b'x');
    for piece in bytes.chunks(1000) {
        filter.feed(piece, true, &mut out).unwrap();
        assert!(filter.buffered() < 10);
    }
    filter.feed(&[3, 0, 0, 0, 0, 0, 0, 1, 0, 1], true, &mut out).unwrap();
    assert_eq!(out.len(), 10);
}

#[test]
fn a_controllers_long_text_passes_and_its_memory_is_freed() {
    let mut filter = InputFilter::new(Role::Control);
    let mut out = Vec::new();
    let mut bytes = vec![6, 0, 0, 0, 0, 0x10, 0, 0];
    bytes.resize(MAX_BUFFERED, b'x');
    for piece in bytes.chunks(1000) {
        filter.feed(piece, true, &mut out).unwrap();
    }
    assert_eq!(out, bytes);
    assert_eq!(filter.buffered(), 0);
}
