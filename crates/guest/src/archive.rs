//! Tar archives from and to the server: only files and folders.
//!
//! The `tar` crate only reads and writes headers. Files are created here, so that an archive cannot
//! choose their location: no path leads out of the folder, and links and devices are skipped both
//! ways.
//! The unpacked size never exceeds that of the archive; sparse files, which could, are skipped as
//! well.

use std::{
    fs::{self, DirBuilder, OpenOptions},
    io::{self, BufWriter, Read, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Component, Path, PathBuf},
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use rustix::fs::OFlags;
use tar::{Archive, Builder, EntryType, Header};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, duplex},
    task::spawn_blocking,
};
use tokio_util::io::SyncIoBridge;

use crate::error::GuestError;

/// How much is read or written at once.
const PIECE: usize = 256 << 10;

/// Unpacks an archive into a folder, before the agent runs anything; `what` names it in errors.
pub async fn unpack<E>(
    into: &Path,
    mut pieces: impl Stream<Item = Result<Bytes, E>> + Unpin,
    what: &'static str,
) -> Result<(), GuestError>
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let (mut input, output) = duplex(PIECE);
    let into = into.to_owned();
    // Ends when this future is dropped, because its input ends.
    let extracting = spawn_blocking(move || extract(&into, SyncIoBridge::new(output)));
    let mut received = Ok(());
    while let Some(piece) = pieces.next().await {
        match piece {
            // The extraction reports why it stopped reading.
            Ok(piece) if input.write_all(&piece).await.is_err() => break,
            Ok(_) => {}
            Err(error) => {
                received = Err(io::Error::other(error));
                break;
            }
        }
    }
    drop(input);
    let extracted = extracting.await.map_err(io::Error::other);
    received.and(extracted.flatten()).map_err(|error| GuestError::Io(what, error))
}

fn extract(into: &Path, archive: impl Read) -> io::Result<()> {
    let mut archive = Archive::new(archive);
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = beneath(into, &entry.path()?)?;
        let mode = entry.header().mode()? & 0o777;
        match entry.header().entry_type() {
            EntryType::Directory => make_folder(&path, mode)?,
            EntryType::Regular => {
                if let Some(folder) = path.parent() {
                    make_folder(folder, 0o777)?;
                }
                // We must be able to write it, whatever mode the archive gives.
                let mut file = OpenOptions::new()
                    .write(true)
                    .create(true)
                    .truncate(true)
                    .mode(mode | 0o600)
                    .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
                    .open(&path)?;
                io::copy(&mut entry, &mut file)?;
                let modified = Duration::from_secs(entry.header().mtime()?);
                if let Some(modified) = SystemTime::UNIX_EPOCH.checked_add(modified) {
                    file.set_modified(modified)?;
                }
            }
            // Links could lead anywhere, and pipes block readers.
            _ => {}
        }
    }
    // Padding must be read, or the sender gets an error.
    io::copy(&mut archive.into_inner(), &mut io::sink()).map(drop)
}

/// The path an entry is unpacked to.
fn beneath(folder: &Path, path: &Path) -> io::Result<PathBuf> {
    let mut parts = path.components().filter(|part| *part != Component::CurDir);
    if !parts.all(|part| matches!(part, Component::Normal(_))) {
        let message = format!("{path:?} leads out of the archive");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    Ok(folder.join(path))
}

/// Creates a folder and its parents, if they do not exist.
fn make_folder(path: &Path, mode: u32) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(mode | 0o700).create(path)
}

/// A file or folder to pack.
pub struct Source {
    /// The base folder of its name.
    pub inside: PathBuf,
    /// Its name in the archive, relative to the base folder.
    pub name: PathBuf,
}

/// Packs files and folders, except excluded names. Unreadable files are skipped. An incomplete
/// archive ends with an error.
pub fn pack(
    sources: Vec<Source>,
    left_out: fn(&str) -> bool,
) -> impl Stream<Item = io::Result<Bytes>> {
    let (input, output) = duplex(PIECE);
    // Ends when the stream is dropped, because writing fails.
    let packing = spawn_blocking(move || {
        let out = BufWriter::with_capacity(PIECE, SyncIoBridge::new(input));
        write(out, &sources, left_out)
    });
    stream::try_unfold((packing, output), async |(packing, mut output)| {
        let mut piece = vec![0; PIECE];
        let read = output.read(&mut piece).await?;
        if read > 0 {
            piece.truncate(read);
            return Ok(Some((piece.into(), (packing, output))));
        }
        packing.await.map_err(io::Error::other)??;
        Ok(None)
    })
}

fn write(out: impl Write, sources: &[Source], left_out: fn(&str) -> bool) -> io::Result<()> {
    let mut archive = Builder::new(out);
    for Source { inside, name } in sources {
        add(&mut archive, inside, name, left_out)?;
    }
    archive.into_inner()?.flush()
}

/// Adds a file, or a folder with its content.
fn add(
    archive: &mut Builder<impl Write>,
    inside: &Path,
    name: &Path,
    left_out: fn(&str) -> bool,
) -> io::Result<()> {
    let path = inside.join(name);
    let Ok(facts) = fs::symlink_metadata(&path) else { return Ok(()) };
    if facts.is_file() {
        return add_file(archive, &path, name);
    }
    if !facts.is_dir() {
        return Ok(());
    }
    let mut header = Header::new_gnu();
    header.set_metadata(&facts);
    header.set_size(0);
    archive.append_data(&mut header, name, io::empty())?;
    let Ok(entries) = fs::read_dir(&path) else { return Ok(()) };
    for entry in entries.flatten() {
        if !left_out(&entry.file_name().to_string_lossy()) {
            add(archive, inside, &name.join(entry.file_name()), left_out)?;
        }
    }
    Ok(())
}

fn add_file(archive: &mut Builder<impl Write>, path: &Path, name: &Path) -> io::Result<()> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let opened = opened.and_then(|file| Ok((file.metadata()?, file)));
    let Ok((facts, file)) = opened else { return Ok(()) };
    if !facts.is_file() {
        return Ok(());
    }
    let mut header = Header::new_gnu();
    header.set_metadata(&facts);
    archive.append_data(&mut header, name, exactly(file, facts.len()))
}

/// Exactly as many bytes as the header states: files of a running browser change.
fn exactly(content: impl Read, size: u64) -> impl Read {
    content.chain(io::repeat(0)).take(size)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn entry(kind: EntryType, size: u64) -> Header {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(0o640);
        header.set_size(size);
        header
    }

    /// An archive with one entry whose name is written unchanged.
    fn archive(kind: EntryType, name: &str, content: &[u8]) -> Vec<u8> {
        let mut header = entry(kind, content.len() as u64);
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        let mut archive = Builder::new(Vec::new());
        archive.append(&header, content).unwrap();
        archive.into_inner().unwrap()
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn packed(inside: &Path, names: &[&str]) -> Vec<u8> {
        let source = |name: &&str| Source { inside: inside.to_owned(), name: name.into() };
        let sources: Vec<Source> = names.iter().map(source).collect();
        let mut archive = Vec::new();
        write(&mut archive, &sources, |name| name == "Cache").unwrap();
        archive
    }

    #[test]
    fn files_and_folders_keep_content_mode_and_time() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let long = format!("profile/{}/{}", "a".repeat(120), "b".repeat(120));
        fs::create_dir_all(from.path().join(&long)).unwrap();
        fs::create_dir(from.path().join("profile/Cache")).unwrap();
        fs::write(from.path().join("profile/Cache/x"), "left out").unwrap();
        let deep = Path::new(&long).join("file");
        fs::write(from.path().join(&deep), vec![7; 1000]).unwrap();
        let file = fs::File::create(from.path().join("profile/secret")).unwrap();
        file.set_permissions(fs::Permissions::from_mode(0o600)).unwrap();
        let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        file.set_modified(then).unwrap();
        fs::write(from.path().join("cookies.json"), "[]").unwrap();

        let archive = packed(from.path(), &["profile", "cookies.json", "missing"]);
        extract(to.path(), archive.as_slice()).unwrap();
        assert_eq!(names(to.path()), ["cookies.json", "profile"]);
        assert_eq!(fs::read(to.path().join(&deep)).unwrap(), vec![7; 1000]);
        assert!(!to.path().join("profile/Cache").exists());
        let secret = fs::metadata(to.path().join("profile/secret")).unwrap();
        assert_eq!(secret.permissions().mode() & 0o777, 0o600);
        assert_eq!(secret.modified().unwrap(), then);
    }

    #[test]
    fn links_pipes_devices_and_sparse_files_are_skipped_both_ways() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(from.path().join("profile")).unwrap();
        let inside = from.path().join("profile");
        symlink("/etc/passwd", inside.join("link")).unwrap();
        let pipe = rustix::fs::FileType::Fifo;
        let mode = rustix::fs::Mode::RWXU;
        rustix::fs::mknodat(rustix::fs::CWD, inside.join("pipe"), pipe, mode, 0).unwrap();
        fs::write(inside.join("kept"), "x").unwrap();
        extract(to.path(), packed(from.path(), &["profile"]).as_slice()).unwrap();
        assert_eq!(names(&to.path().join("profile")), ["kept"]);

        let to = tempfile::tempdir().unwrap();
        let odd = [EntryType::Symlink, EntryType::Link, EntryType::Char, EntryType::Block];
        for kind in odd.into_iter().chain([EntryType::Fifo, EntryType::Continuous]) {
            let mut header = entry(kind, 0);
            let mut archive = Builder::new(Vec::new());
            archive.append_link(&mut header, "odd", "/etc/passwd").unwrap();
            extract(to.path(), archive.into_inner().unwrap().as_slice()).unwrap();
        }
        assert!(names(to.path()).is_empty());
        // A terabyte in half a kilobyte.
        let mut header = entry(EntryType::GNUSparse, 0);
        header.as_gnu_mut().unwrap().set_real_size(1 << 40);
        header.as_gnu_mut().unwrap().sparse[0].set_offset(1 << 40);
        header.as_gnu_mut().unwrap().sparse[0].set_length(0);
        let mut archive = Builder::new(Vec::new());
        archive.append_data(&mut header, "bomb", io::empty()).unwrap();
        extract(to.path(), archive.into_inner().unwrap().as_slice()).unwrap();
        assert!(names(to.path()).is_empty());
    }

    #[test]
    fn a_path_outside_the_folder_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let into = dir.path().join("into");
        fs::create_dir(&into).unwrap();
        let absolute = format!("{}/made", dir.path().display());
        for kind in [EntryType::Regular, EntryType::Directory] {
            for name in ["../made", "a/../../made", "..", &absolute] {
                let content: &[u8] = if kind == EntryType::Regular { b"x" } else { b"" };
                let refused = extract(&into, archive(kind, name, content).as_slice()).unwrap_err();
                assert_eq!(refused.kind(), io::ErrorKind::InvalidData, "{name}");
                assert_eq!(names(dir.path()), ["into"], "{name}");
                assert!(names(&into).is_empty(), "{name}");
            }
        }
        extract(&into, archive(EntryType::Regular, "./a/./b", b"x").as_slice()).unwrap();
        assert_eq!(fs::read(into.join("a/b")).unwrap(), b"x");
    }

    #[test]
    fn existing_links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (into, outside) = (dir.path().join("into"), dir.path().join("outside"));
        fs::create_dir(&into).unwrap();
        fs::write(&outside, "mine").unwrap();
        symlink(&outside, into.join("file")).unwrap();
        let archive = archive(EntryType::Regular, "file", b"theirs");
        assert!(extract(&into, archive.as_slice()).is_err());
        assert_eq!(fs::read_to_string(outside).unwrap(), "mine");
    }

    #[test]
    fn a_truncated_archive_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let whole = archive(EntryType::Regular, "file", &[7; 5000]);
        assert!(extract(dir.path(), &whole[..3000]).is_err());
        extract(dir.path(), whole.as_slice()).unwrap();
    }

    #[test]
    fn a_file_that_shrinks_while_packed_keeps_the_archive_valid() {
        struct Shrunk;
        impl Read for Shrunk {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Ok(0)
            }
        }
        let mut content = Vec::new();
        exactly(Shrunk, 700).read_to_end(&mut content).unwrap();
        assert_eq!(content, [0; 700]);
        content.clear();
        exactly(io::repeat(1), 700).read_to_end(&mut content).unwrap();
        assert_eq!(content, [1; 700], "nor does one that grows");
    }

    #[tokio::test]
    async fn a_packed_stream_can_be_unpacked() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(from.path().join("profile")).unwrap();
        fs::write(from.path().join("profile/large"), vec![3; 3 * PIECE]).unwrap();
        let source = Source { inside: from.path().to_owned(), name: "profile".into() };
        let archive = Box::pin(pack(vec![source], |_| false));
        unpack(to.path(), archive, "the profile").await.unwrap();
        assert_eq!(fs::read(to.path().join("profile/large")).unwrap(), vec![3; 3 * PIECE]);

        let broken = [Ok(Bytes::from_static(&[0; 1024])), Err("the server disconnected")];
        let refused = unpack(to.path(), stream::iter(broken), "the profile").await.unwrap_err();
        assert!(refused.to_string().contains("the server disconnected"), "{refused}");
    }

    #[test]
    fn archives_of_the_tar_program_can_be_unpacked() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let long = format!("profile/{}", "a".repeat(120));
        fs::create_dir(from.path().join("profile")).unwrap();
        fs::write(from.path().join(&long), "x").unwrap();
        symlink("/etc/passwd", from.path().join("profile/link")).unwrap();
        let mut tar = std::process::Command::new("tar");
        let tar = tar.arg("--directory").arg(from.path()).args(["--create", "profile"]);
        let archive = tar.output().unwrap().stdout;
        // It is padded to ten kilobytes, all of which are read.
        let mut rest = archive.as_slice();
        assert_eq!(rest.len(), 10240);
        extract(to.path(), &mut rest).unwrap();
        assert!(rest.is_empty());
        assert_eq!(names(&to.path().join("profile")), ["a".repeat(120)]);
        assert_eq!(fs::read_to_string(to.path().join(long)).unwrap(), "x");
    }

    #[tokio::test]
    async fn a_refused_archive_is_reported_without_reading_the_rest() {
        let dir = tempfile::tempdir().unwrap();
        let bad = Bytes::from(archive(EntryType::Regular, "../made", b"x"));
        let endless = stream::repeat_with(|| Ok::<_, io::Error>(Bytes::from_static(&[0; 512])));
        let pieces = stream::iter([Ok(bad)]).chain(endless);
        let refused = unpack(dir.path(), pieces, "the profile").await.unwrap_err();
        assert!(refused.to_string().contains("leads out of the archive"), "{refused}");
    }
}
