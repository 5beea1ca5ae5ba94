//! Long texts in pieces, so that no reply overwhelms a model.
//!
//! A reply holds the beginning of a long text and a cursor; `text-read` returns the next piece. Texts
//! are kept in memory for their caller, and the oldest give way.

use std::collections::VecDeque;

use helmdeck_wire::ErrorCode;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::error::{ApiError, ApiResult};

/// The most characters of one text in a reply.
pub const PIECE: usize = 20_000;
/// The most bytes that are kept for all callers.
const MAX_BYTES: usize = 64 << 20;
/// The most texts that are kept.
const MAX_TEXTS: usize = 2048;
/// The most texts, and bytes of texts, that are kept for one caller.
const MAX_OF_OWNER: (usize, usize) = (64, 16 << 20);

/// The most characters of a value before its lists are cut. A text that was cut itself has room in it.
const MAX_VALUE: usize = PIECE * 3 / 2;
/// The most lists that are cut in one value.
const MOST_LISTS: usize = 4;

/// The texts that can be read on.
#[derive(Default)]
pub struct Texts {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    texts: VecDeque<Text>,
    bytes: usize,
    made: u64,
}

struct Text {
    id: u64,
    owner: String,
    text: String,
}

/// A piece of a text, and where the next one begins.
#[derive(Debug, PartialEq, Eq)]
pub struct Piece {
    pub text: String,
    pub cursor: Option<String>,
    pub total_chars: usize,
}

impl Texts {
    /// The beginning of a text; the rest is kept for `owner` if it is too long.
    pub fn bound(&self, owner: &str, text: String) -> Piece {
        let end = nth_char(&text, PIECE);
        let total_chars = text.chars().count();
        if end == text.len() {
            return Piece { text, cursor: None, total_chars };
        }
        let beginning = text.get(..end).unwrap_or_default().to_owned();
        let id = self.keep(owner, text);
        Piece { text: beginning, cursor: Some(format!("{id}.{end}")), total_chars }
    }

    /// The piece at a cursor.
    pub fn read(&self, owner: &str, cursor: &str) -> ApiResult<Piece> {
        let gone = || {
            let message = "this cursor is unknown or no longer kept: call the tool again";
            ApiError::new(ErrorCode::NotFound, message).of_field("cursor", Vec::new())
        };
        let (id, start) = cursor.split_once('.').ok_or_else(gone)?;
        let (id, start) =
            id.parse::<u64>().ok().zip(start.parse::<usize>().ok()).ok_or_else(gone)?;
        let kept = self.kept.lock();
        let text = kept.texts.iter().find(|text| text.id == id && text.owner == owner);
        let text = &text.ok_or_else(gone)?.text;
        let rest = text.get(start..).ok_or_else(gone)?;
        let end = start + nth_char(rest, PIECE);
        let piece = text.get(start..end).unwrap_or_default().to_owned();
        let cursor = (end < text.len()).then(|| format!("{id}.{end}"));
        Ok(Piece { text: piece, cursor, total_chars: text.chars().count() })
    }

    /// Bounds every text inside a value, and the longest lists if it is still too long; returns where
    /// the rests can be read.
    pub fn bound_value(&self, owner: &str, value: &mut Value) -> Vec<Value> {
        let mut more = Vec::new();
        self.walk(owner, value, &mut String::new(), &mut more);
        for _ in 0..MOST_LISTS {
            let excess = value.to_string().len().saturating_sub(MAX_VALUE);
            if excess == 0 {
                break;
            }
            let Some(cut) = self.cut_longest_list(owner, value, excess) else { break };
            more.push(cut);
        }
        more
    }

    /// Cuts items off the end of the longest list; `None` if there is no list to cut.
    fn cut_longest_list(&self, owner: &str, value: &mut Value, excess: usize) -> Option<Value> {
        let mut longest = (0, String::new());
        longest_list(value, &mut String::new(), &mut longest);
        let (length, path) = longest;
        let items = value.pointer_mut(&path)?.as_array_mut()?;
        let total = items.len();
        let mut room = length.saturating_sub(excess);
        let fits = |item: &&Value| {
            let left = room.checked_sub(item.to_string().len() + 1);
            room = left.unwrap_or_default();
            left.is_some()
        };
        let shown = items.iter().take_while(fits).count();
        let rest = Value::Array(items.split_off(shown));
        let id = self.keep(owner, rest.to_string());
        Some(json!({
            "field": path, "shown_items": shown, "total_items": total, "cursor": format!("{id}.0"),
        }))
    }

    fn walk(&self, owner: &str, value: &mut Value, path: &mut String, more: &mut Vec<Value>) {
        match value {
            Value::String(text) if text.len() > PIECE => {
                let piece = self.bound(owner, std::mem::take(text));
                if let Some(cursor) = &piece.cursor {
                    let (total, shown) = (piece.total_chars, PIECE);
                    more.push(json!({
                        "field": path, "shown_chars": shown, "total_chars": total, "cursor": cursor,
                    }));
                }
                *text = piece.text;
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    let length = path.len();
                    path.push_str(&format!("/{index}"));
                    self.walk(owner, item, path, more);
                    path.truncate(length);
                }
            }
            Value::Object(fields) => {
                for (name, field) in fields {
                    let length = path.len();
                    path.push_str(&format!("/{name}"));
                    self.walk(owner, field, path, more);
                    path.truncate(length);
                }
            }
            _ => {}
        }
    }

    fn keep(&self, owner: &str, text: String) -> u64 {
        let mut kept = self.kept.lock();
        kept.made += 1;
        kept.bytes += text.len();
        let id = kept.made;
        kept.texts.push_back(Text { id, owner: owner.to_owned(), text });
        kept.drop_oldest_of(owner);
        while kept.texts.len() > MAX_TEXTS || (kept.bytes > MAX_BYTES && kept.texts.len() > 1) {
            kept.drop_at(0);
        }
        id
    }
}

impl Kept {
    /// Drops the oldest texts of an owner who has too many: one caller's texts cost no other's.
    fn drop_oldest_of(&mut self, owner: &str) {
        loop {
            let own = || self.texts.iter().enumerate().filter(|(_, text)| text.owner == owner);
            let (count, (most, most_bytes)) = (own().count(), MAX_OF_OWNER);
            let bytes: usize = own().map(|(_, text)| text.text.len()).sum();
            if count <= most && (bytes <= most_bytes || count <= 1) {
                return;
            }
            let Some((oldest, _)) = own().next() else { return };
            self.drop_at(oldest);
        }
    }

    fn drop_at(&mut self, index: usize) {
        if let Some(text) = self.texts.remove(index) {
            self.bytes -= text.text.len();
        }
    }
}

/// The list with the longest JSON that has items, and its place. A list inside another counts as the
/// longer one if it is nearly all of it.
fn longest_list(value: &Value, path: &mut String, longest: &mut (usize, String)) {
    let mut inside = |name: &str, value: &Value, longest: &mut (usize, String)| {
        let length = path.len();
        path.push('/');
        path.push_str(&name.replace('~', "~0").replace('/', "~1"));
        longest_list(value, path, longest);
        path.truncate(length);
    };
    match value {
        Value::Array(items) => {
            let mut within = (0, String::new());
            for (index, item) in items.iter().enumerate() {
                inside(&index.to_string(), item, &mut within);
            }
            let length = value.to_string().len();
            let own = (length, path.clone());
            let found = if within.0 * 2 > length { within } else { own };
            if !items.is_empty() && found.0 > longest.0 {
                *longest = found;
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                inside(name, field, longest);
            }
        }
        _ => {}
    }
}

/// The byte at which the character with this number begins, or the end.
fn nth_char(text: &str, n: usize) -> usize {
    text.char_indices().nth(n).map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_read_in_pieces_by_its_owner_only() {
        let texts = Texts::default();
        let whole: String = "äöü€".chars().cycle().take(PIECE * 2 + 5).collect();
        let mut piece = texts.bound("ann", whole.clone());
        let mut read = piece.text.clone();
        assert_eq!(piece.total_chars, PIECE * 2 + 5);
        while let Some(cursor) = piece.cursor {
            assert!(texts.read("bob", &cursor).is_err());
            piece = texts.read("ann", &cursor).unwrap();
            read.push_str(&piece.text);
        }
        assert_eq!(read, whole);
    }

    #[test]
    fn texts_in_a_value_are_bounded_and_named_by_their_place() {
        let texts = Texts::default();
        let mut value = json!({ "a": ["x", "y".repeat(PIECE + 1)], "b": 1 });
        let more = texts.bound_value("ann", &mut value);
        assert_eq!(more.len(), 1);
        assert_eq!(more[0]["field"], "/a/1");
        assert_eq!(value["a"][1].as_str().unwrap().len(), PIECE);
    }

    #[test]
    fn the_texts_of_one_caller_do_not_push_out_those_of_another() {
        let texts = Texts::default();
        let long = "x".repeat(PIECE + 1);
        let of_bob = texts.bound("bob", long.clone()).cursor.unwrap();
        let first = texts.bound("ann", long.clone()).cursor.unwrap();
        for _ in 0..MAX_OF_OWNER.0 {
            texts.bound("ann", long.clone());
        }
        assert!(texts.read("bob", &of_bob).is_ok());
        assert!(texts.read("ann", &first).is_err(), "her own oldest one gave way");
    }

    #[test]
    fn a_long_list_is_cut_and_the_rest_can_be_read() {
        let texts = Texts::default();
        let rows: Vec<_> = (0..5000).map(|n| json!({ "row": n, "name": "a name" })).collect();
        let mut value = json!({ "page": { "rows": rows }, "count": 5000 });
        let more = texts.bound_value("ann", &mut value);
        assert!(value.to_string().len() <= MAX_VALUE);
        assert_eq!((more.len(), &more[0]["field"]), (1, &json!("/page/rows")));
        let shown = value["page"]["rows"].as_array().unwrap().len();
        assert!(shown > 100 && more[0]["shown_items"] == shown && more[0]["total_items"] == 5000);
        let mut rest = String::new();
        let mut cursor = more[0]["cursor"].as_str().map(str::to_owned);
        while let Some(next) = cursor {
            let piece = texts.read("ann", &next).unwrap();
            rest.push_str(&piece.text);
            cursor = piece.cursor;
        }
        let rest: Vec<Value> = serde_json::from_str(&rest).unwrap();
        assert_eq!((rest.len(), &rest[0]["row"]), (5000 - shown, &json!(shown)));
    }

    #[test]
    fn a_cursor_that_was_made_up_is_refused() {
        let texts = Texts::default();
        let cursor = texts.bound("ann", "€".repeat(PIECE + 1)).cursor.unwrap();
        let id = cursor.split_once('.').unwrap().0;
        for cursor in ["", "x", "9.9", &format!("{id}.1"), &format!("{id}.999999999")] {
            assert!(texts.read("ann", cursor).is_err(), "{cursor}");
        }
    }
}
