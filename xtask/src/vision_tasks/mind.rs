//! Models of different kinds. They get what a vendor's model gets, and say what to do next.

use serde_json::{Value, json};

use super::{
    ocr::{self, Reader},
    stage::Map,
    task::{Do, Task},
};

/// How a model behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Reads the picture, and clicks the words that it was asked for. Knows nothing of the page.
    Ocr,
    /// Knows where everything is.
    Precise,
    /// Misses by up to 40 pixels.
    Sloppy,
    /// Does not stop.
    NeverDone,
    /// Every third reply is no valid call.
    Malformed,
    /// Says that it is done at once.
    Liar,
    /// Precise, and speaks as Claude does.
    Anthropic,
}

impl Kind {
    /// All kinds, with the part of tasks that have to converge, in percent.
    pub const ALL: [(Self, &'static str, usize); 7] = [
        (Self::Ocr, "ocr", 80),
        (Self::Precise, "precise", 95),
        (Self::Sloppy, "sloppy", 85),
        (Self::NeverDone, "never-done", 90),
        (Self::Malformed, "malformed", 85),
        (Self::Liar, "liar", 0),
        (Self::Anthropic, "anthropic", 95),
    ];

    /// The kind of this name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, own, _)| *own == name).map(|(kind, ..)| *kind)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(kind, ..)| *kind == self).map_or("", |(_, name, _)| name)
    }

    /// The part of tasks that have to converge, in percent.
    pub fn bar(self) -> usize {
        Self::ALL.iter().find(|(kind, ..)| *kind == self).map_or(0, |(.., bar)| *bar)
    }

    /// The id of its model.
    pub fn model(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic/claude-opus-5",
            _ => "groq/llama-4-scout",
        }
    }
}

/// What a model gets with a request.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// The newest picture, if there is a new one.
    pub picture: Option<Vec<u8>>,
    /// The corner of the part of the screen that it shows.
    pub corner: (i64, i64),
    /// Whether it is the whole screen.
    pub whole: bool,
    /// What it was told about its last action.
    pub told: String,
}

/// A reply.
pub enum Reply {
    /// An action, in the words of the generic function.
    Act(Value),
    /// Only words: it is done.
    Words(String),
    /// Something that is no valid reply, by its number.
    Broken(usize),
}

/// A model in the middle of a task.
pub struct ScriptedModel {
    kind: Kind,
    plan: Vec<Do>,
    map: Map,
    at: usize,
    tries: u32,
    replies: usize,
    seed: u64,
    reader: Reader,
    elsewhere: String,
}

impl ScriptedModel {
    /// A model that is about to be asked. `elsewhere` is the address of another site.
    pub fn new(kind: Kind, task: &Task, map: Map, elsewhere: &str) -> Self {
        let seed =
            task.name.bytes().fold(7, |all: u64, byte| all * 31 % 1_000_003 + u64::from(byte));
        Self {
            kind,
            plan: task.plan.to_vec(),
            map,
            at: 0,
            tries: 0,
            replies: 0,
            seed,
            reader: Reader::new(task.instruction),
            elsewhere: elsewhere.to_owned(),
        }
    }

    /// The next reply.
    pub async fn next(&mut self, seen: Seen) -> Reply {
        self.replies += 1;
        if self.kind == Kind::Malformed && self.replies.is_multiple_of(3) {
            return Reply::Broken(self.replies / 3);
        }
        match self.kind {
            Kind::Ocr => self.reader.next(seen).await,
            Kind::Liar => Reply::Words("The goal is reached.".to_owned()),
            _ => self.follow(&seen).await,
        }
    }

    /// Follows the plan.
    async fn follow(&mut self, seen: &Seen) -> Reply {
        let again =
            seen.told.contains("goal is not reached") || seen.told.contains("Nothing shows");
        if again {
            (self.at, self.tries) = (0, 0);
        }
        // A model that misses looks whether something happened.
        let missed = self.kind == Kind::Sloppy
            && seen.told.contains("did not change")
            && self.at > 0
            && self.tries < 6
            && !matches!(self.plan.get(self.at - 1), Some(Do::Type(_)));
        if seen.told.contains(" failed: ") || missed {
            self.at = self.at.saturating_sub(1);
            self.tries += 1;
        } else {
            self.tries = 0;
        }
        let Some(step) = self.plan.get(self.at).copied() else {
            return match self.kind {
                Kind::NeverDone => Reply::Act(json!({ "action": "screenshot" })),
                _ => Reply::Words("The goal is reached.".to_owned()),
            };
        };
        if let Do::Click(name) | Do::Double(name) | Do::Right(name) = step
            && let Some((_, true)) = self.map.spot(name).await
        {
            return Reply::Act(scroll(10));
        }
        self.at += 1;
        Reply::Act(self.written(step).await)
    }

    async fn written(&mut self, step: Do) -> Value {
        let (action, at) = match step {
            Do::Click(name) => ("left_click", self.map.spot(name).await.map(|(at, _)| at)),
            Do::Double(name) => ("double_click", self.map.spot(name).await.map(|(at, _)| at)),
            Do::Right(name) => ("right_click", self.map.spot(name).await.map(|(at, _)| at)),
            Do::Named(name) => ("left_click", self.map.named(name).await),
            Do::Middle => ("left_click", self.map.middle().await),
            Do::Type(text) => {
                let text = text.replace("ELSEWHERE", &self.elsewhere);
                return json!({ "action": "type", "text": text });
            }
            Do::Keys(text) => {
                let text = text.replace("ELSEWHERE", &self.elsewhere);
                let keys: Vec<_> = text.chars().map(key).collect();
                return json!({ "action": "key", "text": keys.join(" ") });
            }
            Do::Key(keys) => return json!({ "action": "key", "text": keys }),
            Do::Scroll(notches) => return scroll(notches),
        };
        let (x, y) = at.unwrap_or((640, 400));
        let (x, y) = (x + self.slip(), y + self.slip());
        json!({ "action": action, "coordinate": [x.clamp(0, 1279), y.clamp(0, 799)] })
    }

    /// By how many pixels it misses.
    fn slip(&mut self) -> i64 {
        if self.kind != Kind::Sloppy {
            return 0;
        }
        self.seed = (self.seed * 1_103_515_245 + 12345) % 2_147_483_648;
        i64::try_from((self.seed / 65536) % 81).unwrap_or(0) - 40
    }
}

/// The key of a letter of an address.
fn key(letter: char) -> String {
    match letter {
        ':' => "colon".to_owned(),
        '/' => "slash".to_owned(),
        '.' => "period".to_owned(),
        other => other.to_string(),
    }
}

/// Turns the wheel down over the page.
pub fn scroll(notches: u32) -> Value {
    json!({
        "action": "scroll", "coordinate": [640, 450], "scroll_direction": "down",
        "scroll_amount": notches,
    })
}

/// Whether the OCR engine is installed.
pub async fn can_read() -> bool {
    ocr::is_installed().await
}
