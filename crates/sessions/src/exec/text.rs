//! Decodes a byte stream into text without splitting characters.

use super::Written;

/// Maximum length of an incomplete character.
const LONGEST_CUT: usize = 3;

/// Decodes one stream.
#[derive(Default)]
pub struct Decoder {
    /// Bytes of an incomplete character.
    cut: Vec<u8>,
}

impl Decoder {
    /// Decodes more bytes, after possibly missing ones. Invalid UTF-8 is replaced.
    pub fn feed(&mut self, bytes: &[u8], left_out: u64) -> Written {
        let mut all = std::mem::take(&mut self.cut);
        if left_out > 0 && !all.is_empty() {
            // The rest of the character is missing.
            all = "\u{fffd}".into();
        }
        all.extend_from_slice(bytes);
        let cut = cut(&all);
        self.cut = all.split_off(all.len() - cut);
        Written { text: String::from_utf8_lossy(&all).into_owned(), left_out }
    }

    /// The remaining text at the end.
    pub fn finish(&mut self) -> Written {
        let text = String::from_utf8_lossy(&std::mem::take(&mut self.cut)).into_owned();
        Written { text, left_out: 0 }
    }
}

/// Number of bytes at the end that are an incomplete character.
fn cut(bytes: &[u8]) -> usize {
    let last = bytes.len().saturating_sub(LONGEST_CUT);
    let Some(start) = bytes.iter().skip(last).rposition(|byte| *byte >= 0xc0) else { return 0 };
    let end = bytes.get(last + start..).unwrap_or_default();
    // An error without a length means that more bytes could complete the character.
    let is_cut = std::str::from_utf8(end).is_err_and(|error| error.error_len().is_none());
    if is_cut { end.len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_in_two_pieces_is_not_broken() {
        let text = "a é 世 🎉 z";
        for at_once in 1..=5 {
            let mut decoder = Decoder::default();
            let pieces: Vec<String> =
                text.as_bytes().chunks(at_once).map(|chunk| decoder.feed(chunk, 0).text).collect();
            assert_eq!(pieces.concat(), text, "{at_once}: {pieces:?}");
            assert_eq!(decoder.finish().text, "");
        }
    }

    #[test]
    fn invalid_utf8_is_replaced_without_delay() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.feed(b"a\xff", 0).text, "a\u{fffd}");
        assert_eq!(decoder.feed(b"\xe4", 0).text, "", "it could be a character");
        assert_eq!(decoder.feed(b"b", 0).text, "\u{fffd}b");
        assert_eq!(decoder.feed(b"\xe4\xb8", 0).text, "");
        assert_eq!(decoder.finish().text, "\u{fffd}");
    }

    #[test]
    fn a_character_whose_end_is_missing_is_replaced() {
        let mut decoder = Decoder::default();
        decoder.feed("世".as_bytes().get(..2).unwrap(), 0);
        let written = decoder.feed(b"x", 500);
        assert_eq!((written.text.as_str(), written.left_out), ("\u{fffd}x", 500));
    }
}
