//! Keyboard input in a page: pressing keys, and typing into fields.

use helmdeck_wire::browser::{Acted, Clicked, PressKeys, Selector, TypeInto};
use serde_json::{Value, json};

use crate::{
    BrowserError,
    hit_test::Spot,
    keys,
    locate::{Ask, Want},
    page_action::PageAction,
};

impl PageAction {
    pub async fn press(&mut self, press: &PressKeys) -> Result<Acted, BrowserError> {
        let chords = keys::chords(&press.keys)?;
        if let Some(selector) = &press.selector {
            let ask = Ask { selector, want: Want::Enabled, doing: "focus", arguments: json!({}) };
            self.find(&ask).await?;
        }
        for chord in &chords {
            self.strike(chord).await?;
        }
        self.settle(false).await;
        self.acted().await
    }

    /// Gives an element the focus.
    pub async fn focus(&mut self, selector: &Selector) -> Result<Acted, BrowserError> {
        let ask = Ask { selector, want: Want::Enabled, doing: "focus", arguments: json!({}) };
        self.find(&ask).await?;
        self.settle(false).await;
        self.acted().await
    }

    pub async fn type_into(&mut self, typing: &TypeInto) -> Result<Clicked, BrowserError> {
        let TypeInto { selector, text, append, slowly, submit, .. } = typing;
        let key_by_key = *slowly && !text.is_empty();
        let arguments = json!({ "text": text, "append": append });
        let ask = Ask { selector, want: Want::Enabled, doing: "fill", arguments };
        let found = self.find(&ask).await?;
        if found.answer.end {
            self.strike(&chord("End")?).await?;
        }
        if found.answer.insert && key_by_key {
            self.write(text).await?;
        } else if found.answer.insert && !text.is_empty() {
            self.insert(text).await?;
        }
        let view = self.view().await;
        if *submit {
            self.strike(&chord("Enter")?).await?;
        }
        self.settle(false).await;
        let spot = Spot { x: found.answer.x, y: found.answer.y };
        let at = self.place(&found, spot).await.unwrap_or(spot);
        Ok(Clicked { acted: self.acted().await?, hit: found.hit(at, &view) })
    }

    /// Types character by character, with the keys of the layout where they exist.
    async fn write(&self, text: &str) -> Result<(), BrowserError> {
        for character in text.chars() {
            match keys::character(character) {
                Some(events) => self.strike(&events).await?,
                None => self.insert(&character.to_string()).await?,
            }
        }
        Ok(())
    }

    async fn insert(&self, text: &str) -> Result<(), BrowserError> {
        self.ask("Input.insertText", json!({ "text": text })).await
    }

    async fn strike(&self, events: &[Value]) -> Result<(), BrowserError> {
        self.input("Input.dispatchKeyEvent", events).await
    }
}

fn chord(name: &str) -> Result<Vec<Value>, BrowserError> {
    Ok(keys::chords(name)?.into_iter().flatten().collect())
}
