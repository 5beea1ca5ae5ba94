//! Writing a tar archive of plain files. Whoever reads it makes the folders that names need.

use std::io::{self, Read, Write};

const BLOCK: usize = 512;
/// What fits into a header's field for the name.
const MAX_NAME: usize = 100;
const FILE: u8 = b'0';
/// A name that does not fit comes before its file, as one of its own (GNU).
const LONG_NAME: u8 = b'L';

/// Adds a file of exactly `size` bytes.
pub(super) fn add(
    out: &mut impl Write,
    name: &str,
    size: u64,
    content: &mut impl Read,
) -> io::Result<()> {
    if name.len() > MAX_NAME {
        let length = name.len() as u64 + 1;
        out.write_all(&header("././@LongLink", length, LONG_NAME)?)?;
        out.write_all(name.as_bytes())?;
        out.write_all(&[0])?;
        fill(out, length)?;
    }
    out.write_all(&header(name, size, FILE)?)?;
    // One that holds more than it says would be taken for the next header.
    let copied = io::copy(&mut content.take(size + 1), out)?;
    if copied != size {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "a file is not of the size it says",
        ));
    }
    fill(out, size)
}

/// Ends the archive.
pub(super) fn finish(out: &mut impl Write) -> io::Result<()> {
    out.write_all(&[0; 2 * BLOCK])
}

fn header(name: &str, size: u64, kind: u8) -> io::Result<[u8; BLOCK]> {
    let mut header = [0; BLOCK];
    let mut put = |at: usize, bytes: &[u8]| {
        for (place, byte) in header.iter_mut().skip(at).zip(bytes) {
            *place = *byte;
        }
    };
    let name: Vec<u8> = name.bytes().take(MAX_NAME).collect();
    put(0, &name);
    put(100, b"0000644\0");
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    put(124, format!("{size:011o}\0").as_bytes());
    put(136, b"00000000000\0");
    // While the sum is counted, its own field is blank.
    put(148, b"        ");
    put(156, &[kind]);
    put(257, b"ustar  \0");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    let mut field = header.get_mut(148..156).ok_or(io::ErrorKind::InvalidData)?;
    write!(field, "{sum:06o}\0 ")?;
    Ok(header)
}

/// Zeros up to the next block.
fn fill(out: &mut impl Write, written: u64) -> io::Result<()> {
    let over = usize::try_from(written % BLOCK as u64).unwrap_or_default();
    let zeros = [0; BLOCK];
    out.write_all(zeros.get(over..).filter(|_| over > 0).unwrap_or_default())
}
