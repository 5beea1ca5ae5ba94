//! The page as Markdown: produced by a script in the page, shortened here.

use std::time::Instant;

use helmdeck_cdp::CdpError;
use helmdeck_wire::browser::{Markdown, MarkdownText};
use serde::Deserialize;
use serde_json::json;

use crate::{
    BrowserError,
    page::{Frame, Page},
    page_action::PageAction,
    world::{Evaluated, Outcome},
};

/// A function of the element (null for the page) and the maximum number of characters.
const SCRIPT: &str = include_str!("markdown.js");
/// The default limit in bytes.
const MAX_BYTES: usize = 200_000;

/// What the script answers.
#[derive(Deserialize)]
struct Blocks {
    title: String,
    blocks: Vec<String>,
    /// Whether the script stopped early at the limit.
    full: bool,
}

impl PageAction {
    /// The page or one element as Markdown.
    pub async fn markdown(&mut self, wanted: &Markdown) -> Result<MarkdownText, BrowserError> {
        let bytes = wanted.max_bytes.and_then(|bytes| usize::try_from(bytes).ok());
        let room = bytes.unwrap_or(MAX_BYTES);
        let (frame, object) = match &wanted.selector {
            Some(selector) => {
                let (frame, object) = self.object(selector).await?;
                (frame, Some(object))
            }
            None => (self.page.main()?, None),
        };
        let Blocks { title, blocks, full } =
            run(&self.page, &frame, object.as_deref(), room, self.deadline).await?;
        let (content, cut) = join(blocks, room);
        let acted = self.acted().await?;
        Ok(MarkdownText { acted, title, content, truncated: full || cut })
    }
}

async fn run(
    page: &Page,
    frame: &Frame,
    object: Option<&str>,
    room: usize,
    deadline: Instant,
) -> Result<Blocks, BrowserError> {
    let Outcome::Value(world) = page.world(frame, deadline).await? else {
        return Err(BrowserError::PageGone);
    };
    let element = object.map_or(json!({ "value": null }), |id| json!({ "objectId": id }));
    let params = json!({
        "functionDeclaration": SCRIPT,
        "executionContextId": world,
        "arguments": [element, { "value": room }],
        "returnByValue": true,
    });
    let evaluated: Evaluated =
        page.call(&frame.session, "Runtime.callFunctionOn", params, deadline).await?;
    match evaluated.exception_details {
        Some(exception) => Err(BrowserError::Script(exception.message())),
        None => serde_json::from_value(evaluated.result.value)
            .map_err(|error| CdpError::Nonsense(error).into()),
    }
}

/// Joins as many blocks as fit. A block that does not fit is cut at a line if it is the first, or
/// if it has many lines like a list, a table or code.
fn join(blocks: Vec<String>, room: usize) -> (String, bool) {
    let mut content = String::new();
    for block in blocks {
        let gap = if content.is_empty() { "" } else { "\n\n" };
        if content.len() + gap.len() + block.len() < room {
            content.push_str(gap);
            content.push_str(&block);
            continue;
        }
        let left = room.saturating_sub(content.len() + gap.len() + 1);
        let part = part(&block, left, content.is_empty());
        if !part.is_empty() {
            content.push_str(gap);
            content.push_str(&part);
        }
        end(&mut content);
        return (content, true);
    }
    end(&mut content);
    (content, false)
}

fn end(content: &mut String) {
    if !content.is_empty() {
        content.push('\n');
    }
}

/// The first lines of a block. Code fences are closed.
fn part(block: &str, room: usize, first: bool) -> String {
    let fence: String = block.chars().take_while(|c| *c == '`').collect();
    let closing = if fence.len() < 3 { String::new() } else { format!("\n{fence}") };
    let room = room.saturating_sub(closing.len());
    let mut part = String::new();
    for line in block.split_inclusive('\n') {
        if part.len() + line.trim_end().len() > room {
            break;
        }
        part.push_str(line);
    }
    let lines = part.trim_end().lines().count();
    if lines > 1 {
        return format!("{}{closing}", part.trim_end());
    }
    if !first {
        return String::new();
    }
    let end = block.floor_char_boundary(room.saturating_sub('…'.len_utf8()));
    format!("{}…{closing}", block.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(blocks: &[&str], room: usize) -> (String, bool) {
        let (content, cut) = join(blocks.iter().map(|block| (*block).to_owned()).collect(), room);
        assert!(content.len() <= room, "{content:?}");
        (content, cut)
    }

    #[test]
    fn a_page_ends_at_a_block() {
        let blocks = ["# Title", "One paragraph.", "Another paragraph."];
        assert_eq!(
            joined(&blocks, 100),
            ("# Title\n\nOne paragraph.\n\nAnother paragraph.\n".to_owned(), false)
        );
        assert_eq!(joined(&blocks, 35), ("# Title\n\nOne paragraph.\n".to_owned(), true));
        assert_eq!(joined(&[], 35), (String::new(), false));
    }

    #[test]
    fn long_blocks_end_at_a_line() {
        let (content, cut) = joined(&["- one\n- two\n- three\n- four"], 16);
        assert_eq!((content.as_str(), cut), ("- one\n- two\n", true));
        let (content, cut) = joined(&["Text", "```rust\nlet a = 1;\nlet b = 2;\n```"], 30);
        assert_eq!((content.as_str(), cut), ("Text\n\n```rust\nlet a = 1;\n```\n", true));
    }

    #[test]
    fn a_single_long_paragraph_is_cut() {
        let (content, cut) = joined(&["äöüäöüäöü"], 12);
        assert_eq!((content.as_str(), cut), ("äöüä…\n", true));
    }
}
