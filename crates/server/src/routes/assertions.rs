//! Single conditions under the names that agents know them by. Each is a call of `desktop.verify`.

use helmdeck_wire::{
    aim::Target,
    observe::ShotId,
    point::Rect,
    verify::{Check, Condition, Verified, Verify},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{error::ApiResult, tool::Call};

/// Check that a text is visible on the desktop.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AssertTextVisible {
    /// The text.
    #[schemars(length(min = 1, max = 1000))]
    pub text: String,
    /// Milliseconds to wait for it.
    #[serde(default)]
    #[schemars(range(max = 60_000))]
    pub within_ms: u32,
}

/// Check that an element has the keyboard focus.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AssertElementFocused {
    /// The element.
    pub target: Target,
    /// Milliseconds to wait for it.
    #[serde(default)]
    #[schemars(range(max = 60_000))]
    pub within_ms: u32,
}

/// Wait until the screen differs from an earlier picture.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AwaitVisualChange {
    /// The earlier picture of the whole screen.
    pub shot: ShotId,
    /// Milliseconds to wait; defaults to 5000.
    #[serde(default = "five_seconds")]
    #[schemars(range(max = 60_000))]
    pub within_ms: u32,
}

fn five_seconds() -> u32 {
    5000
}

/// Compare the screen, or a region of it, with an earlier picture.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompareScreenshots {
    /// The earlier picture of the whole screen.
    pub shot: ShotId,
    /// The region; defaults to the whole screen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<Rect>,
    /// How much may differ, from 0 to 1; defaults to 0.02.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub tolerance: Option<f64>,
}

/// Checks that a text is visible.
pub async fn assert_text_visible(call: Call, input: AssertTextVisible) -> ApiResult<Verified> {
    let condition = Condition { text: Some(input.text), ..Condition::new(Check::TextVisible) };
    check(call, condition, input.within_ms).await
}

/// Checks that an element has the keyboard focus.
pub async fn assert_element_focused(
    call: Call,
    input: AssertElementFocused,
) -> ApiResult<Verified> {
    let target = Some(input.target);
    let condition = Condition { target, ..Condition::new(Check::ElementFocused) };
    check(call, condition, input.within_ms).await
}

/// Waits until the screen changes.
pub async fn await_visual_change(call: Call, input: AwaitVisualChange) -> ApiResult<Verified> {
    let condition = Condition { shot: Some(input.shot), ..Condition::new(Check::ScreenChanged) };
    check(call, condition, input.within_ms).await
}

/// Compares the screen with an earlier picture.
pub async fn compare_screenshots(call: Call, input: CompareScreenshots) -> ApiResult<Verified> {
    let CompareScreenshots { shot, region, tolerance } = input;
    // Larger than any screen: the whole of it.
    let whole = Rect { x: 0, y: 0, width: 65_535, height: 65_535 };
    let condition = Condition {
        shot: Some(shot),
        region: Some(region.unwrap_or(whole)),
        tolerance,
        ..Condition::new(Check::RegionSimilar)
    };
    check(call, condition, 0).await
}

async fn check(call: Call, condition: Condition, within_ms: u32) -> ApiResult<Verified> {
    let verify = Verify { all: vec![condition], any: Vec::new(), within_ms };
    Ok(call.session()?.call(&call.caller, &verify).await?)
}
