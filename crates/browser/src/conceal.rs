//! Fields with a secret show dots.

use helmdeck_wire::browser::{ConcealField, Concealed};
use serde_json::json;

use crate::{
    BrowserError,
    locate::{Ask, Want},
    page_action::PageAction,
};

impl PageAction {
    /// Draws the text of a field as dots until it is empty.
    pub async fn conceal(&mut self, conceal: &ConcealField) -> Result<Concealed, BrowserError> {
        let selector = &conceal.selector;
        let arguments = json!({});
        let ask = Ask { selector, want: Want::Attached, doing: "conceal", arguments };
        Ok(Concealed { url: self.find(&ask).await?.answer.content })
    }
}
