//! Profiles in files: written, read, listed and deleted.

use std::{io, path::Path};

use helmdeck_store::{Pieces, Profiles, SealingKey};
use helmdeck_wire::session::ProfileName;

use crate::name;

const KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
/// Files of an earlier version: profile `work` of `ann`.
const PLAIN: &[u8] = include_bytes!("../fixtures/profile-plain-0");
const FIRST_SEALED: &[u8] = include_bytes!("../fixtures/profile-sealed-1");
/// Offset of the format byte.
const FORMAT: usize = 15;
const PIECE: usize = 256 << 10;

pub fn profiles(dir: &Path, key: Option<&str>) -> Profiles {
    Profiles::new(dir.to_owned(), key.map(|key| SealingKey::parse(key).unwrap()))
}

pub async fn write(profiles: &Profiles, owner: &str, profile: &ProfileName, content: &[u8]) {
    let mut writer = profiles.create(owner, profile).await.unwrap();
    // Smaller than a sealed piece.
    for bytes in content.chunks(100_000) {
        writer.add(bytes).await.unwrap();
    }
    assert_eq!(writer.finish().await.unwrap(), content.len() as u64);
}

/// The content of a profile, or why it cannot be read.
pub async fn read(profiles: &Profiles, owner: &str, profile: &ProfileName) -> io::Result<Vec<u8>> {
    let mut reader = profiles.open(owner, profile).await?.unwrap();
    let mut content = Vec::new();
    while let Some(piece) = reader.next().await? {
        content.extend_from_slice(&piece);
    }
    assert!(reader.next().await?.is_none(), "the end stays the end");
    Ok(content)
}

/// Writes bytes to the file of profile `work` of `ann`.
fn put(dir: &Path, bytes: &[u8]) {
    std::fs::create_dir_all(dir.join("o616e6e")).unwrap();
    std::fs::write(dir.join("o616e6e/work"), bytes).unwrap();
}

#[tokio::test]
async fn a_profile_of_any_size_comes_back_sealed_or_not() {
    let dir = tempfile::tempdir().unwrap();
    for key in [None, Some(KEY)] {
        let profiles = profiles(&dir.path().join(format!("{}", key.is_some())), key);
        for size in [0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 2 * PIECE + 7] {
            let content: Vec<u8> = (0..size).map(|n| (n % 251) as u8).collect();
            write(&profiles, "ann", &name("work"), &content).await;
            let found = read(&profiles, "ann", &name("work")).await.unwrap();
            assert!(found == content, "{size} bytes, sealed: {}", key.is_some());
        }
    }
}

#[tokio::test]
async fn profiles_are_their_owners_and_gone_when_they_are_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let profiles = profiles(dir.path(), None);
    write(&profiles, "ann", &name("work"), b"signed in").await;
    write(&profiles, "ann", &name("home"), b"").await;
    drop(profiles.create("ann", &name("unfinished")).await.unwrap());
    let listed = profiles.list("ann").await.unwrap();
    let listed: Vec<&str> = listed.iter().map(|profile| profile.name.as_str()).collect();
    assert_eq!(listed, ["home", "work"]);
    assert!(profiles.list("bob").await.unwrap().is_empty());
    assert!(profiles.open("bob", &name("work")).await.unwrap().is_none());
    for _ in 0..2 {
        profiles.delete("ann", &name("work")).await.unwrap();
    }
    assert!(profiles.open("ann", &name("work")).await.unwrap().is_none());
}

#[tokio::test]
async fn profiles_of_an_earlier_version_open_and_are_resealed_when_saved() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), PLAIN);
    let plain = profiles(dir.path(), None);
    assert_eq!(read(&plain, "ann", &name("work")).await.unwrap(), b"signed in");

    put(dir.path(), FIRST_SEALED);
    let sealed = profiles(dir.path(), Some(KEY));
    let content = read(&sealed, "ann", &name("work")).await.unwrap();
    assert_eq!(content, b"signed in as ada");
    write(&sealed, "ann", &name("work"), &content).await;
    let file = std::fs::read(dir.path().join("o616e6e/work")).unwrap();
    assert_eq!((FIRST_SEALED[FORMAT], file[FORMAT]), (b'1', b'2'));
    assert_eq!(read(&sealed, "ann", &name("work")).await.unwrap(), content);
}

#[tokio::test]
async fn a_profile_of_an_earlier_version_that_was_changed_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let sealed = profiles(dir.path(), Some(KEY));
    let (head, pieces) = FIRST_SEALED.split_at(48);
    let (first, rest) = pieces.split_at(4 + 7 + 16);
    let (second, third) = rest.split_at(4 + 6 + 16);
    let whole = [head, first, second, third].concat();
    assert_eq!(whole, FIRST_SEALED);
    let mut changed = vec![
        [head, second, first, third].concat(),
        [head, first, third].concat(),
        [head, first, second, third, third].concat(),
        [head, first, first, second, third].concat(),
    ];
    changed.extend((0..FIRST_SEALED.len()).map(|at| FIRST_SEALED[..at].to_vec()));
    changed.extend((1..40).map(|more| [FIRST_SEALED, &vec![0; more]].concat()));
    changed.extend((0..FIRST_SEALED.len()).map(|at| {
        let mut flipped = FIRST_SEALED.to_vec();
        flipped[at] ^= 1;
        flipped
    }));
    for bytes in changed {
        put(dir.path(), &bytes);
        assert!(read(&sealed, "ann", &name("work")).await.is_err(), "{bytes:?}");
    }
    put(dir.path(), FIRST_SEALED);
    let other = profiles(dir.path(), Some(&KEY.replace('0', "1")));
    assert!(read(&other, "ann", &name("work")).await.is_err());
}

#[tokio::test]
async fn a_profile_that_does_not_match_the_key_setting_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let why = async |key, bytes: &[u8]| {
        put(dir.path(), bytes);
        let refused = profiles(dir.path(), key).open("ann", &name("work")).await;
        refused.err().unwrap().to_string()
    };
    assert!(why(Some(KEY), PLAIN).await.contains("HELMDECK_PROFILE_KEY is set"));
    assert!(why(None, FIRST_SEALED).await.contains("HELMDECK_PROFILE_KEY is not set"));
    assert!(why(None, b"helmdeckprofile2").await.contains("HELMDECK_PROFILE_KEY is not set"));
    assert!(why(None, b"nonsense, and long enough").await.contains("not a profile"));
    assert!(why(Some(KEY), b"helmdeckprofile9").await.contains("not a profile"));
}
