//! A model that reads pictures with tesseract. It knows the instruction, and nothing of the page.

use std::{process::Stdio, time::Duration};

use serde_json::json;
use tokio::{process::Command, time::timeout};

use super::mind::{Reply, Seen, scroll};

/// Pictures are enlarged before they are read.
const ENLARGED: i64 = 2;
const DEADLINE: Duration = Duration::from_secs(60);
/// How often it scrolls to find words.
const SCROLLS: u32 = 6;

/// One thing that the instruction asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Want {
    Click { action: &'static str, words: String, row: Option<String> },
    Type(String),
    Key(String),
    Scroll,
    Middle,
}

/// Words of a picture, with their box.
#[derive(Debug, Clone)]
struct Word {
    text: String,
    left: i64,
    top: i64,
    right: i64,
    bottom: i64,
}

/// The model.
pub struct Reader {
    wants: Vec<Want>,
    at: usize,
    /// Words of the newest whole picture, and whether nothing happened since.
    whole: Vec<Word>,
    fresh: bool,
    scrolls: u32,
}

impl Reader {
    /// Reads the instruction.
    pub fn new(instruction: &str) -> Self {
        Self { wants: wants(instruction), at: 0, whole: Vec::new(), fresh: false, scrolls: 0 }
    }

    /// The next reply.
    pub async fn next(&mut self, seen: Seen) -> Reply {
        if seen.told.contains("goal is not reached") || seen.told.contains("Nothing shows") {
            (self.at, self.scrolls) = (0, 0);
        }
        let mut part = Vec::new();
        if let Some(picture) = &seen.picture {
            let words = read(picture).await;
            if seen.whole {
                (self.whole, self.fresh) = (words, true);
            } else {
                part = words.into_iter().map(|word| word.moved(seen.corner)).collect();
                self.fresh = false;
            }
        }
        let Some(want) = self.wants.get(self.at).cloned() else {
            return Reply::Words("The goal is reached.".to_owned());
        };
        let act = match want {
            Want::Type(text) => json!({ "action": "type", "text": text }),
            Want::Key(keys) => json!({ "action": "key", "text": keys }),
            Want::Scroll => scroll(10),
            Want::Middle => json!({ "action": "left_click", "coordinate": [640, 400] }),
            Want::Click { action, words, row } => {
                let found = find(&part, &words, row.as_deref());
                let found = found.or_else(|| find(&self.whole, &words, row.as_deref()));
                match found {
                    Some((x, y)) => json!({ "action": action, "coordinate": [x, y] }),
                    None if !self.fresh => return Reply::Act(json!({ "action": "screenshot" })),
                    None if self.scrolls < SCROLLS => {
                        self.scrolls += 1;
                        self.fresh = false;
                        return Reply::Act(scroll(8));
                    }
                    None => return Reply::Words(format!("I do not find {words}.")),
                }
            }
        };
        self.at += 1;
        self.scrolls = 0;
        Reply::Act(act)
    }
}

impl Word {
    fn moved(self, by: (i64, i64)) -> Self {
        Self {
            left: self.left + by.0,
            right: self.right + by.0,
            top: self.top + by.1,
            bottom: self.bottom + by.1,
            text: self.text,
        }
    }
}

/// What an instruction asks for, part by part.
fn wants(instruction: &str) -> Vec<Want> {
    let mut all = Vec::new();
    for part in instruction.split(", ").flat_map(|part| part.split(" and ")) {
        let part = part.strip_prefix("then ").unwrap_or(part);
        let lower = part.to_lowercase();
        let quoted: Vec<String> = part.split('"').skip(1).step_by(2).map(str::to_owned).collect();
        let rest = part.split_once(' ').map_or("", |(_, rest)| rest);
        let click = |action, words: &str, row| Want::Click { action, words: words.to_owned(), row };
        let first = quoted.first().cloned().unwrap_or_default();
        if lower.starts_with("type") {
            all.extend(quoted.get(1).map(|field| click("left_click", field, None)));
            all.push(Want::Type(first));
        } else if lower.starts_with("scroll") {
            all.push(Want::Scroll);
        } else if lower.contains("centre") {
            all.push(Want::Middle);
        } else if lower.starts_with("double") {
            all.push(click("double_click", &first, None));
        } else if lower.starts_with("right") {
            all.push(click("right_click", &first, None));
        } else if !first.is_empty() {
            let row = lower.contains("in the row").then(|| quoted.get(1).cloned()).flatten();
            all.push(click("left_click", &first, row));
        } else if lower.starts_with("press") && !rest.contains(' ') {
            let key = if rest == "Enter" { "Return" } else { rest };
            all.push(Want::Key(key.to_owned()));
        } else {
            all.push(click("left_click", rest.trim_start_matches("the "), None));
        }
    }
    all
}

/// The middle of these words, in the row of other words if some are given.
fn find(page: &[Word], words: &str, row: Option<&str>) -> Option<(i64, i64)> {
    let all = places(page, words);
    let Some(row) = row else {
        // The last one: titles and headings are above.
        return all.last().copied();
    };
    let (_, y) = *places(page, row).first()?;
    all.into_iter().rfind(|(_, own)| (own - y).abs() < 16)
}

fn places(page: &[Word], words: &str) -> Vec<(i64, i64)> {
    let wanted: Vec<String> = words.split_whitespace().map(plain).collect();
    let matching = page.windows(wanted.len().max(1)).filter(|some| {
        some.iter().map(|word| plain(&word.text)).eq(wanted.iter().cloned())
            && some
                .iter()
                .all(|word| some.first().is_some_and(|one| (one.top - word.top).abs() < 15))
    });
    matching
        .filter_map(|some| {
            let (first, last) = (some.first()?, some.last()?);
            Some(((first.left + last.right) / 2, (first.top + last.bottom) / 2))
        })
        .collect()
}

fn plain(word: &str) -> String {
    word.chars().filter(|letter| letter.is_alphanumeric()).collect::<String>().to_lowercase()
}

/// Reads the words of a picture.
async fn read(picture: &[u8]) -> Vec<Word> {
    let Ok(directory) = tempfile::tempdir() else { return Vec::new() };
    let (from, large) = (directory.path().join("shot"), directory.path().join("large.pgm"));
    if tokio::fs::write(&from, picture).await.is_err() {
        return Vec::new();
    }
    let scale = format!("{}%", ENLARGED * 100);
    let mut convert = Command::new("convert");
    convert
        .arg(&from)
        .args(["-colorspace", "Gray", "-filter", "Triangle", "-resize", &scale])
        .arg(&large);
    output(&mut convert).await;
    let mut tesseract = Command::new("tesseract");
    tesseract.arg(&large).args(["-", "--psm", "11", "tsv"]).env("OMP_THREAD_LIMIT", "1");
    let Some(text) = output(&mut tesseract).await else { return Vec::new() };
    text.lines().skip(1).filter_map(word).collect()
}

fn word(line: &str) -> Option<Word> {
    let fields: Vec<&str> = line.split('\t').collect();
    let text = fields.get(11)?.trim();
    let number = |at: usize| fields.get(at)?.parse::<i64>().ok();
    let (left, top) = (number(6)?, number(7)?);
    let (right, bottom) = (left + number(8)?, top + number(9)?);
    let small = |value: i64| value / ENLARGED;
    (!plain(text).is_empty()).then(|| Word {
        text: text.to_owned(),
        left: small(left),
        top: small(top),
        right: small(right),
        bottom: small(bottom),
    })
}

async fn output(command: &mut Command) -> Option<String> {
    let command = command.stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let output = timeout(DEADLINE, command.output()).await.ok()?.ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether the engine is there.
pub async fn is_installed() -> bool {
    output(Command::new("tesseract").arg("--version")).await.is_some()
}
