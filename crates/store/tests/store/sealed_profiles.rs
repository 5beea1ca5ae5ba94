//! An attacker who can write sealed profiles can only make them unreadable.

use std::{
    io,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use proptest::{prelude::*, sample::Index};

use crate::{
    name,
    profiles::{profiles, read, write},
};

const KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
/// Length of the file's header and nonce.
const HEAD: usize = 16 + 19;
const PIECE: usize = 256 << 10;
/// Size of a piece with its authentication tag.
const SEALED_PIECE: usize = PIECE + 16;
/// Size of the last of three pieces.
const LAST_PIECE: usize = 1000;
/// Number of cases. Each reads up to three pieces.
const CASES: u32 = 64;

/// A profile of three pieces.
static FILE: LazyLock<Vec<u8>> = LazyLock::new(|| sealed("ann", "work", 2 * PIECE + LAST_PIECE));

fn run<T>(what: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(what)
}

fn file(dir: &Path, owner: &str, profile: &str) -> PathBuf {
    let owner: String = owner.bytes().map(|byte| format!("{byte:02x}")).collect();
    dir.join(format!("o{owner}")).join(profile)
}

/// The file of a profile of this size.
fn sealed(owner: &str, profile: &str, size: usize) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    run(write(&profiles(dir.path(), Some(KEY)), owner, &name(profile), &vec![7; size]));
    std::fs::read(file(dir.path(), owner, profile)).unwrap()
}

/// Reads the profile whose file holds these bytes.
fn open(key: &str, owner: &str, profile: &str, bytes: &[u8]) -> io::Result<Vec<u8>> {
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path(), owner, profile);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
    run(read(&profiles(dir.path(), Some(key)), owner, &name(profile)))
}

fn is_refused(bytes: &[u8]) -> bool {
    open(KEY, "ann", "work", bytes).is_err()
}

/// The header of the file, and its pieces.
fn parts() -> (&'static [u8], Vec<&'static [u8]>) {
    let (head, pieces) = FILE.split_at(HEAD);
    (head, pieces.chunks(SEALED_PIECE).collect())
}

#[test]
fn an_unchanged_profile_opens() {
    assert_eq!(FILE.len(), HEAD + 2 * SEALED_PIECE + LAST_PIECE + 16);
    assert_eq!(open(KEY, "ann", "work", &FILE).unwrap(), vec![7; 2 * PIECE + LAST_PIECE]);
}

#[test]
fn the_same_profile_is_sealed_differently_each_time() {
    let (one, other) = (sealed("ann", "work", 100), sealed("ann", "work", 100));
    assert_ne!(one[16..HEAD], other[16..HEAD]);
    assert_ne!(one[HEAD..], other[HEAD..]);
}

#[test]
fn another_key_owner_or_name_does_not_open_it() {
    for (key, owner, profile) in [
        (KEY.replace("00", "01").as_str(), "ann", "work"),
        (KEY, "bob", "work"),
        (KEY, "ann", "home"),
        (KEY, "annw", "ork"),
    ] {
        assert!(open(key, owner, profile, &FILE).is_err(), "{key} {owner} {profile}");
    }
}

#[test]
fn a_profile_that_ends_with_a_full_piece_is_refused_with_a_byte_less_or_more() {
    for size in [0, 1, PIECE, 2 * PIECE] {
        let whole = sealed("ann", "work", size);
        assert!(open(KEY, "ann", "work", &whole).is_ok(), "{size}");
        assert!(is_refused(&whole[..whole.len() - 1]), "{size}");
        assert!(is_refused(&[&whole[..], &[0]].concat()), "{size}");
        assert!(is_refused(&[&whole[..], &[0, 0]].concat()), "{size}");
        assert!(is_refused(&whole[..HEAD]), "{size}");
    }
}

#[test]
fn a_profile_that_was_cut_between_two_pieces_is_refused() {
    for pieces in 0..3 {
        assert!(is_refused(&FILE[..HEAD + pieces * SEALED_PIECE]), "{pieces}");
    }
}

#[test]
fn a_piece_of_another_file_is_refused() {
    let other = sealed("ann", "work", 2 * PIECE + LAST_PIECE);
    for (index, piece) in other[HEAD..].chunks(SEALED_PIECE).enumerate() {
        let (head, mut pieces) = parts();
        pieces[index] = piece;
        assert!(is_refused(&[head, &pieces.concat()].concat()), "{index}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, ..ProptestConfig::default() })]

    #[test]
    fn a_profile_that_was_cut_is_refused(at: Index) {
        prop_assert!(is_refused(&FILE[..at.index(FILE.len())]));
    }

    #[test]
    fn appended_bytes_are_refused(more in 1..2 * SEALED_PIECE, byte: u8) {
        prop_assert!(is_refused(&[&FILE[..], &vec![byte; more]].concat()));
    }

    #[test]
    fn a_changed_byte_is_refused(at: Index, change in 1..=u8::MAX) {
        let mut changed = FILE.clone();
        changed[at.index(FILE.len())] ^= change;
        prop_assert!(is_refused(&changed));
    }

    #[test]
    fn pieces_that_were_swapped_repeated_or_left_out_are_refused(
        order in prop::collection::vec(0..3_usize, 0..5)
    ) {
        prop_assume!(order != [0, 1, 2]);
        let (head, pieces) = parts();
        let chosen = order.iter().map(|index| pieces[*index]);
        prop_assert!(is_refused(&std::iter::once(head).chain(chosen).collect::<Vec<_>>().concat()));
    }
}
