//! What was said between us and a model: real turns, in which old pictures are left out.
//!
//! Some vendors cache the beginning of a conversation. Leaving out one old picture at each turn would change the
//! beginning every time. So pictures pile up to a number, and then all but the newest are left out at once. For others,
//! only the newest picture that shows enough stays, with the changes since.

use std::sync::Arc;

use helmdeck_wire::point::Rect;
use serde_json::Value;

use crate::{dialect::Dialect, model_reply::CallId, view::View};

/// Pictures of changes that may follow a picture before the whole screen is shown again.
const MOST_CHANGES: usize = 4;

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
    /// Whether it shows enough to go on without earlier pictures.
    pub suffices: bool,
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
        let (kept, more) = self.dialect.kept_pictures();
        let shown: Vec<_> = self.shown().map(|picture| picture.suffices).collect();
        if shown.len() <= kept + more {
            return;
        }
        // What stays begins with a picture that shows enough.
        let oldest_kept = shown.len().saturating_sub(kept);
        let up_to = shown.get(..=oldest_kept).unwrap_or(&shown);
        let start = up_to.iter().rposition(|suffices| *suffices).unwrap_or(0);
        self.shown().take(start).for_each(|picture| picture.data = None);
    }

    /// The part of the screen in the newest picture that shows enough; nothing if that is the whole screen.
    pub fn base(&mut self) -> Option<Rect> {
        self.shown().filter(|picture| picture.suffices).last().and_then(|picture| picture.part)
    }

    /// Whether the model has seen as many changes of a picture as it can put together.
    pub fn needs_whole(&mut self) -> bool {
        let (kept, more) = self.dialect.kept_pictures();
        let all: Vec<_> = self.shown().map(|picture| picture.suffices).collect();
        all.iter().rev().take_while(|suffices| !**suffices).count() >= MOST_CHANGES.max(kept + more)
    }

    /// Pictures that were not left out.
    fn shown(&mut self) -> impl Iterator<Item = &mut Picture> {
        self.pictures().filter(|picture| picture.data.is_some())
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
        self.shown().map(|it| u64::from(dialect.picture_tokens(it.size.0, it.size.1))).sum()
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
            suffices: true,
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
            let (kept, more) = conversation.dialect.kept_pictures();
            assert!((1..=kept + more).contains(&count), "{count}");
            assert_eq!(shown.last(), Some(&true));
            changes += usize::from(!shown.starts_with(&before));
            before = shown;
        }
        assert!(changes <= 10, "{changes}");
    }

    #[test]
    fn without_a_cache_the_newest_picture_that_shows_enough_stays_with_the_changes_since() {
        let mut conversation = conversation("groq", "llama-4-scout");
        let shown = |conversation: &mut Conversation| {
            let all = conversation.shown().map(|picture| picture.shot.clone());
            all.collect::<Vec<_>>()
        };
        for (number, suffices) in [(1, true), (2, false), (3, false)] {
            let mut next = exchange(&conversation, number);
            if let Some(picture) = next.results.first_mut().and_then(|it| it.picture.as_mut()) {
                picture.suffices = suffices;
            }
            conversation.push(next);
        }
        assert_eq!(shown(&mut conversation), ["shot-1", "shot-2", "shot-3"]);
        assert!(!conversation.needs_whole());
        let next = exchange(&conversation, 4);
        conversation.push(next);
        assert_eq!(shown(&mut conversation), ["shot-4"]);
    }
}
