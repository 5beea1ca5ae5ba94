//! What was said between us and a model: real turns, with pictures that are left out in blocks.
//!
//! Vendors cache the beginning of a conversation. Leaving out one old picture at each turn would change the
//! beginning every time. So pictures pile up to a number, and then all but the newest are left out at
//! once.

use std::sync::Arc;

use helmdeck_wire::point::Rect;
use serde_json::Value;

use crate::{dialect::Dialect, turn::CallId, view::View};

/// Pictures that are kept when others are left out.
const KEPT: usize = 3;
/// How many more may pile up before that.
const BLOCK: usize = 6;

/// A picture for a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// Its id.
    pub shot: String,
    /// Its media type.
    pub media_type: String,
    /// The picture in base64; nothing if it was left out.
    pub data: Option<Arc<str>>,
    /// Width and height.
    pub size: (u32, u32),
    /// The part of the screen that it shows, if not all of it.
    pub part: Option<Rect>,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallResult {
    /// The call.
    pub id: CallId,
    /// What happened, in words.
    pub text: String,
    /// What the screen shows.
    pub picture: Option<Picture>,
    /// Whether it failed.
    pub failed: bool,
    /// Safety checks that a person agreed to.
    pub acknowledged: Vec<Value>,
}

/// A reply of the model, and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange {
    /// The reply, as the provider sent it.
    pub reply: Value,
    /// One result for each call.
    pub results: Vec<CallResult>,
    /// What else to tell the model.
    pub note: Option<String>,
    /// A picture beside the note, if no result has one.
    pub picture: Option<Picture>,
}

/// A conversation.
#[derive(Debug, Clone)]
pub struct Conversation {
    /// How it is written.
    pub dialect: Dialect,
    /// What coordinates refer to.
    pub view: View,
    /// What the model is told first.
    pub system: String,
    /// What it shall do.
    pub goal: String,
    /// The screen at the beginning.
    pub first: Picture,
    /// What followed.
    pub exchanges: Vec<Exchange>,
}

impl Conversation {
    /// Adds an exchange, and leaves out old pictures if there are too many.
    pub fn push(&mut self, exchange: Exchange) {
        self.exchanges.push(exchange);
        let shown = self.pictures().filter(|picture| picture.data.is_some()).count();
        if shown > KEPT + BLOCK {
            for picture in self.pictures().filter(|it| it.data.is_some()).take(shown - KEPT) {
                picture.data = None;
            }
        }
    }

    /// Pictures from the oldest to the newest.
    fn pictures(&mut self) -> impl Iterator<Item = &mut Picture> {
        let later = self.exchanges.iter_mut().flat_map(|exchange| {
            let results = exchange.results.iter_mut().filter_map(|result| result.picture.as_mut());
            results.chain(exchange.picture.as_mut())
        });
        std::iter::once(&mut self.first).chain(later)
    }

    /// Tokens of all pictures that are sent with the next request.
    pub fn picture_tokens(&mut self) -> u64 {
        let dialect = self.dialect;
        let shown = self.pictures().filter(|picture| picture.data.is_some());
        shown.map(|it| u64::from(dialect.picture_tokens(it.size.0, it.size.1))).sum()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
pub(crate) mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Action, choose};

    pub fn picture(number: usize) -> Picture {
        Picture {
            shot: format!("shot-{number}"),
            media_type: "image/png".to_owned(),
            data: Some("iVBORw0KGgo=".into()),
            size: (1000, 500),
            part: None,
        }
    }

    pub fn conversation(provider: &str, model: &str) -> Conversation {
        Conversation {
            dialect: choose(provider, model, true),
            view: View { screen: (2000, 1000), picture: (1000, 500) },
            system: "Be careful.".to_owned(),
            goal: "Click Save".to_owned(),
            first: picture(0),
            exchanges: Vec::new(),
        }
    }

    /// An exchange with one click.
    pub fn exchange(conversation: &Conversation, number: usize) -> Exchange {
        let dialect = conversation.dialect;
        let call = dialect.write(&format!("c{number}"), &Action::click(5, 5), &conversation.view);
        let reply = dialect.reply("Clicking.", &[call.unwrap_or(json!({}))]);
        let turn = dialect.read(&reply, &conversation.view).unwrap();
        let results = turn.calls.into_iter().map(|call| CallResult {
            id: call.id,
            text: "Clicked.".to_owned(),
            picture: Some(picture(number)),
            failed: false,
            acknowledged: Vec::new(),
        });
        Exchange { reply, results: results.collect(), note: None, picture: None }
    }

    #[test]
    fn pictures_are_left_out_in_blocks_so_that_the_beginning_seldom_changes() {
        let mut conversation = conversation("anthropic", "claude-opus-5");
        let (mut changes, mut before) = (0, Vec::new());
        for number in 1..=60 {
            let next = exchange(&conversation, number);
            conversation.push(next);
            let shown: Vec<_> = conversation.pictures().map(|it| it.data.is_some()).collect();
            let count = shown.iter().filter(|shown| **shown).count();
            assert!((1..=KEPT + BLOCK).contains(&count), "{count}");
            assert_eq!(shown.last(), Some(&true));
            changes += usize::from(!shown.starts_with(&before));
            before = shown;
        }
        assert!(changes <= 60 / BLOCK, "{changes}");
    }
}
