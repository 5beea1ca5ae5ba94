//! Keeps the start and the end of a program's output, in limited memory.

use std::collections::VecDeque;

use bytes::Bytes;

/// The output of one stream, as bytes.
pub struct Output {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    head_limit: usize,
    tail_limit: usize,
    /// The number of bytes written in total.
    total: u64,
}

impl Output {
    /// Keeps at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        let tail_limit = limit / 2;
        let head_limit = limit - tail_limit;
        Self { head: Vec::new(), tail: VecDeque::new(), head_limit, tail_limit, total: 0 }
    }

    /// Adds output.
    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.head_limit - self.head.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        let last = rest.get(rest.len().saturating_sub(self.tail_limit)..).unwrap_or_default();
        let excess = (self.tail.len() + last.len()).saturating_sub(self.tail_limit);
        self.tail.drain(..excess);
        self.tail.extend(last);
    }

    /// Frees memory that only further output would need.
    pub fn shrink(&mut self) {
        self.head.shrink_to_fit();
        self.tail.shrink_to_fit();
    }

    /// Whether a part in the middle was dropped.
    pub fn is_truncated(&self) -> bool {
        self.left_out() > 0
    }

    fn left_out(&self) -> u64 {
        self.total - self.head.len() as u64 - self.tail.len() as u64
    }

    /// The kept bytes from position `at`, at most `most`, and the position of the first of them,
    /// which is higher if some were dropped. `None` at the end.
    pub fn from(&self, at: u64, most: usize) -> Option<(u64, Bytes)> {
        let head = usize::try_from(at).ok().and_then(|at| self.head.get(at..));
        if let Some(found) = head.filter(|found| !found.is_empty()) {
            return Some((at, Bytes::copy_from_slice(found.get(..most).unwrap_or(found))));
        }
        let first = self.total - self.tail.len() as u64;
        let at = at.max(first);
        let skipped = usize::try_from(at - first).unwrap_or(usize::MAX);
        if skipped >= self.tail.len() {
            return None;
        }
        let end = self.tail.len().min(skipped.saturating_add(most));
        Some((at, self.tail.range(skipped..end).copied().collect()))
    }

    /// The kept output as text, with a line where bytes were dropped. Invalid UTF-8 is replaced; a
    /// character that is partly dropped is dropped whole.
    pub fn text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if !self.is_truncated() {
            let all = [self.head.as_slice(), &tail].concat();
            return String::from_utf8_lossy(&all).into_owned();
        }
        let head = without_cut_end(&self.head);
        let tail = without_cut_start(&tail);
        let left_out = self.total - head.len() as u64 - tail.len() as u64;
        let new_line = if head.ends_with(b"\n") { "" } else { "\n" };
        let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
        format!("{head}{new_line}[… {left_out} bytes left out …]\n{tail}")
    }
}

/// The longest UTF-8 character, in bytes.
const LONGEST: usize = 4;

/// Removes an incomplete character from the end.
fn without_cut_end(bytes: &[u8]) -> &[u8] {
    let last = bytes.len().saturating_sub(LONGEST - 1);
    let start = bytes.iter().skip(last).rposition(|byte| *byte >= 0xc0);
    let Some(cut) = start.and_then(|start| bytes.split_at_checked(last + start)) else {
        return bytes;
    };
    // An error without a length means that further bytes could complete the character.
    let is_cut = std::str::from_utf8(cut.1).is_err_and(|error| error.error_len().is_none());
    if is_cut { cut.0 } else { bytes }
}

/// Removes an incomplete character from the start.
fn without_cut_start(bytes: &[u8]) -> &[u8] {
    let is_inner = |byte: &&u8| **byte & 0xc0 == 0x80;
    let inner = bytes.iter().take(LONGEST - 1).take_while(is_inner).count();
    bytes.get(inner..).unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(limit: usize, bytes: &[u8], at_once: usize) -> Output {
        let mut output = Output::new(limit);
        bytes.chunks(at_once).for_each(|chunk| output.push(chunk));
        output
    }

    #[test]
    fn output_within_the_limit_is_kept() {
        for at_once in [1, 3, 100] {
            let output = written(7, b"abcdefg", at_once);
            assert_eq!((output.text().as_str(), output.is_truncated()), ("abcdefg", false));
        }
    }

    #[test]
    fn long_output_keeps_start_and_end_with_a_marker_between() {
        let numbers: String = (0..100_000).map(|n| format!("{n}\n")).collect();
        for at_once in [1, 7, 4096, 1 << 20] {
            let output = written(1000, numbers.as_bytes(), at_once);
            let text = output.text();
            assert!(output.is_truncated());
            assert!(text.starts_with("0\n1\n2\n") && text.ends_with("\n99998\n99999\n"), "{text}");
            let line = format!("[… {} bytes left out …]", numbers.len() - 1000);
            assert_eq!(text.lines().filter(|found| *found == line).count(), 1, "{text}");
            assert!(output.head.len() + output.tail.len() <= 1000);
        }
    }

    #[test]
    fn memory_stays_within_the_limit() {
        let mut output = Output::new(1 << 10);
        for _ in 0..10_000 {
            output.push(&[b'x'; 10_000]);
        }
        assert!(output.head.capacity() + output.tail.capacity() <= 4 << 10);
        assert_eq!(output.total, 100_000_000);
    }

    #[test]
    fn characters_at_the_cut_are_complete_or_dropped() {
        for character in ["é", "世", "🎉"] {
            let text = character.repeat(100);
            for limit in 20..40 {
                let output = written(limit, text.as_bytes(), 5);
                let kept = output.text();
                let (head, rest) = kept.split_once("\n[… ").unwrap();
                let (count, tail) = rest.split_once(" bytes left out …]\n").unwrap();
                let count: usize = count.parse().unwrap();
                assert!(!kept.contains('\u{fffd}'), "{limit}: {kept}");
                assert_eq!(head.len() + count + tail.len(), text.len(), "{limit}: {kept}");
                assert!(head.len() + tail.len() <= limit);
                assert!(head.len() + tail.len() + 2 * (LONGEST - 1) >= limit, "{limit}: {kept}");
            }
        }
    }

    #[test]
    fn invalid_utf8_is_replaced() {
        let output = written(100, b"a\xff\xfeb", 1);
        assert_eq!(output.text(), "a\u{fffd}\u{fffd}b");
        // Not the start of a character.
        let output = written(4, b"\x80\x80\x80\x80\x80\x80\x80\x80", 1);
        assert!(output.text().contains("left out"));
    }

    #[test]
    fn reading_continues_at_any_byte_and_reports_gaps() {
        let all: Vec<u8> = (0..=255).collect();
        let output = written(100, &all, 9);
        assert_eq!(output.from(0, 10), Some((0, Bytes::copy_from_slice(&all[..10]))));
        assert_eq!(output.from(45, 10), Some((45, Bytes::copy_from_slice(&all[45..50]))));
        let last = Bytes::copy_from_slice(&all[206..]);
        for at in [50, 100, 206] {
            assert_eq!(output.from(at, 1000), Some((206, last.clone())), "{at}");
        }
        assert_eq!(output.from(250, 3), Some((250, Bytes::copy_from_slice(&all[250..253]))));
        assert_eq!(output.from(256, 10), None);
        assert_eq!(output.from(9999, 10), None);
        assert_eq!(Output::new(10).from(0, 10), None);
    }
}
