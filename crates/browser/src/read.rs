//! Reads the text or HTML of a page.

use helmdeck_wire::browser::{Extract, ExtractFormat, Extracted, Selector};
use serde_json::json;

use crate::{
    BrowserError,
    locate::{Ask, Want},
    page_action::PageAction,
};

/// Limit on what one call returns.
const MAX_BYTES: usize = 32 << 20;

impl PageAction {
    pub async fn extract(&mut self, extract: &Extract) -> Result<Extracted, BrowserError> {
        let (whole, doing) = match extract.format {
            // Documents without a body, such as images or SVG: use the root element.
            ExtractFormat::Text => ("body, :root:not(html)", "text"),
            ExtractFormat::Html => (":root", "html"),
        };
        let whole = Selector::Css(whole.to_owned());
        let selector = extract.selector.as_ref().unwrap_or(&whole);
        let ask = Ask { selector, want: Want::Attached, doing, arguments: json!({}) };
        let found = self.find(&ask).await?;
        let acted = self.acted().await?;
        let mut content = found.answer.content;
        let truncated = content.len() > MAX_BYTES;
        content.truncate(content.floor_char_boundary(MAX_BYTES));
        Ok(Extracted { acted, content, format: extract.format, truncated })
    }
}
