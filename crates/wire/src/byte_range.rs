//! The requested part of a file, as in the `Range` header.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// One range of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteRange {
    /// From the first byte to the last byte, or to the end. Both are inclusive.
    From(u64, Option<u64>),
    /// The last bytes of the file.
    Last(u64),
}

/// A part of a file that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Its first byte.
    pub first: u64,
    /// How many bytes it has.
    pub length: u64,
}

impl ByteRange {
    /// Parses `bytes=0-99`, `bytes=100-` or `bytes=-50`. Other headers yield `None`: they are
    /// answered with the whole file.
    pub fn parse(header: &str) -> Option<Self> {
        let (first, last) = header.trim().strip_prefix("bytes=")?.trim().split_once('-')?;
        let number = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            digits.then(|| text.parse::<u64>().ok()).flatten()
        };
        match (first, last) {
            ("", last) => number(last).map(Self::Last),
            (first, "") => number(first).map(|first| Self::From(first, None)),
            (first, last) => {
                let (first, last) = (number(first)?, number(last)?);
                (first <= last).then_some(Self::From(first, Some(last)))
            }
        }
    }

    /// The part of a file of this size. `None` if the file has no such bytes.
    pub fn of(self, size: u64) -> Option<Part> {
        let (first, end) = match self {
            Self::From(first, last) => {
                (first, last.map_or(size, |last| last.saturating_add(1)).min(size))
            }
            Self::Last(count) => (size.saturating_sub(count), size),
        };
        (first < end).then_some(Part { first, length: end.saturating_sub(first) })
    }
}

impl fmt::Display for ByteRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::From(first, Some(last)) => write!(f, "bytes={first}-{last}"),
            Self::From(first, None) => write!(f, "bytes={first}-"),
            Self::Last(count) => write!(f, "bytes=-{count}"),
        }
    }
}

impl Serialize for ByteRange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ByteRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom("not a range of bytes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(header: &str, size: u64) -> Option<(u64, u64)> {
        let range = ByteRange::parse(header).unwrap();
        assert_eq!(ByteRange::parse(&range.to_string()), Some(range));
        range.of(size).map(|part| (part.first, part.length))
    }

    #[test]
    fn a_range_is_cut_to_what_the_file_has() {
        assert_eq!(part("bytes=0-99", 1000), Some((0, 100)));
        assert_eq!(part("bytes=900-1999", 1000), Some((900, 100)));
        assert_eq!(part("bytes=900-18446744073709551615", 1000), Some((900, 100)));
        assert_eq!(part("bytes=999-", 1000), Some((999, 1)));
        assert_eq!(part("bytes=-50", 1000), Some((950, 50)));
        assert_eq!(part("bytes=-5000", 1000), Some((0, 1000)));
    }

    #[test]
    fn a_range_beyond_the_end_of_the_file_is_no_part() {
        assert_eq!(part("bytes=1000-", 1000), None);
        assert_eq!(part("bytes=-0", 1000), None);
        assert_eq!(part("bytes=0-", 0), None);
        assert_eq!(part("bytes=-1", 0), None);
    }

    #[test]
    fn a_header_without_a_single_byte_range_is_ignored() {
        for header in [
            "",
            "bytes",
            "bytes=",
            "bytes=-",
            "bytes=9-1",
            "bytes=0-1,5-6",
            "lines=0-1",
            "bytes=+1-2",
            "bytes=a-b",
            "bytes=99999999999999999999-",
        ] {
            assert_eq!(ByteRange::parse(header), None, "{header}");
        }
    }
}
