//! Mouse input in a page: clicking and hovering.

use std::time::{Duration, Instant};

use helmdeck_wire::{
    browser::{ClickElement, Clicked, HoverElement, Selector},
    pointer::{Button, Modifier},
};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    BrowserError,
    hit_test::Spot,
    locate::{Ask, Found, Want},
    page_action::PageAction,
};

/// How often to check whether a frame is still covered.
const COVERED: Duration = Duration::from_millis(100);

impl PageAction {
    pub async fn click(&mut self, click: &ClickElement) -> Result<Clicked, BrowserError> {
        let (found, at) = self.aim(&click.selector).await?;
        // The click may navigate.
        let view = self.view().await;
        let mut events = vec![moved(at, &click.modifiers)];
        for count in 1..=click.count.clamp(1, 3) {
            events.push(button("mousePressed", at, click, count));
            events.push(button("mouseReleased", at, click, count));
        }
        self.input("Input.dispatchMouseEvent", &events).await?;
        self.settle(found.answer.downloads).await;
        Ok(Clicked { acted: self.acted().await?, hit: found.hit(at, &view) })
    }

    pub async fn hover(&mut self, hover: &HoverElement) -> Result<Clicked, BrowserError> {
        let (found, at) = self.aim(&hover.selector).await?;
        let view = self.view().await;
        self.input("Input.dispatchMouseEvent", &[moved(at, &[])]).await?;
        self.settle(false).await;
        Ok(Clicked { acted: self.acted().await?, hit: found.hit(at, &view) })
    }

    /// Waits for an element that a click would reach, and returns the point to click.
    pub async fn reach(&self, selector: &Selector) -> Result<Spot, BrowserError> {
        self.aim(selector).await.map(|(_, at)| at)
    }

    /// The same, with the element.
    async fn aim(&self, selector: &Selector) -> Result<(Found, Spot), BrowserError> {
        let ask = Ask { selector, want: Want::Usable, doing: "nothing", arguments: json!({}) };
        let mut covered = None;
        loop {
            let looked = async {
                let found = self.find(&ask).await?;
                let spot = Spot { x: found.answer.x, y: found.answer.y };
                let steps = self.steps(&found, spot).await?;
                let cover = self.cover(&steps).await?;
                Ok((found, steps.last().map_or(spot, |step| step.at), cover))
            };
            let (found, at, cover) = match looked.await {
                Ok(looked) => looked,
                // What covers the element says more than a timeout.
                Err(late @ BrowserError::Timeout(_)) => return Err(covered.unwrap_or(late)),
                Err(error) => return Err(error),
            };
            let Some(cover) = cover else { return Ok((found, at)) };
            let reason = BrowserError::NotActionable {
                selector: selector.to_string(),
                element: format!("<{}>", found.answer.tag),
                why: format!("is in a frame that is covered by {cover}"),
            };
            if Instant::now() + COVERED > self.deadline {
                return Err(reason);
            }
            covered = Some(reason);
            sleep(COVERED).await;
        }
    }
}

fn moved(at: Spot, held: &[Modifier]) -> Value {
    json!({
        "type": "mouseMoved", "x": at.x, "y": at.y, "modifiers": bits(held), "button": "none",
    })
}

fn button(kind: &str, at: Spot, click: &ClickElement, count: u8) -> Value {
    let (name, bit) = match click.button {
        Button::Left => ("left", 1),
        Button::Right => ("right", 2),
        Button::Middle => ("middle", 4),
        Button::Back => ("back", 8),
        Button::Forward => ("forward", 16),
    };
    json!({
        "type": kind, "x": at.x, "y": at.y, "button": name, "clickCount": count,
        "buttons": if kind == "mousePressed" { bit } else { 0 },
        "modifiers": bits(&click.modifiers),
    })
}

/// Modifiers as a bit mask of the protocol.
fn bits(held: &[Modifier]) -> u8 {
    let bit = |modifier: &Modifier| match modifier {
        Modifier::Alt => 1,
        Modifier::Ctrl => 2,
        Modifier::Super => 4,
        Modifier::Shift => 8,
    };
    held.iter().map(bit).fold(0, |all, bit| all | bit)
}
