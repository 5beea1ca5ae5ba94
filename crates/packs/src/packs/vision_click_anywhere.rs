//! `vision.click_anywhere`: reaches a goal on the desktop by pointing and clicking.

use helmdeck_vision::{Goal, eyes::Success};
use helmdeck_wire::{
    nature::{Nature, Style, Substrate, Surface},
    session::Mode,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Context, ModelBudget, ModelNeed, Pack, PackResult, Routing, SessionNeed,
    page::PageUrl,
    vision_run::{Reached, Wanted, Watched, open_first, reach},
};

/// Reach a goal on the desktop with a model.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "VisionClickAnywhere")]
struct Input {
    /// What to reach, in words: `Click Sign In`.
    #[schemars(length(min = 1, max = 10_000))]
    goal: String,
    /// A page to open first.
    #[serde(default)]
    url: Option<PageUrl>,
    /// The model, `provider/model`; defaults to that of the server.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200), regex(pattern = helmdeck_gateway::MODEL_ID_PATTERN))]
    #[schemars(extend("x-expected" = helmdeck_gateway::MODEL_ID_EXPECTED))]
    model: Option<String>,
    /// Most replies of the model; defaults to 6.
    #[serde(default = "steps")]
    #[schemars(range(min = 1, max = 200))]
    max_steps: u32,
    /// When the goal is reached, by conditions as in `verify`.
    #[serde(default)]
    success: Success,
    /// What the model may use.
    #[serde(default)]
    budget: ModelBudget,
    /// Sites and programs that may be used besides those where it starts and that the goal names.
    #[serde(default)]
    #[schemars(length(max = 50), inner(length(min = 1, max = 300)))]
    allow: Vec<String>,
}

fn steps() -> u32 {
    6
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("vision.click_anywhere", run)
        .doc(
            "Reach a goal on the VISIBLE desktop by pointing, clicking and typing, until observation shows that it \
             is reached. If exactly one element has the name, no model is asked. `_mode: structured` never asks one.",
        )
        .nature(Nature {
            substrate: Substrate::Desktop,
            surface: Surface::Visible,
            style: Style::Vision,
            default_mode: Some(Mode::Desktop),
            open_world: true,
            ..Nature::default()
        })
        .mode(Style::Vision)
        .model(ModelNeed::Vision)
        .session(SessionNeed::Keeps(Mode::Desktop))
        .timeout_s(1200)
        .example(
            "Open a new tab",
            serde_json::json!({ "goal": "Click New Tab", "_session_id": "sess-…" }),
        )
        .example(
            "With a condition that must hold",
            serde_json::json!({
                "goal": "Click Save", "url": "https://example.com/form",
                "success": { "all": [{ "check": "text_visible", "text": "Saved" }] },
            }),
        )
        .routing(Routing {
            accepts: &["goal", "session"],
            produces: &["outcome", "picture"],
            intent_keywords: &["click", "vision", "desktop", "gui", "press", "button", "point"],
            typical_use: "Use something on the desktop that has no selector.",
            limitations: &["What cannot be observed ends `unverified`: give `success`."],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Reached> {
    let goal = Goal { instruction: input.goal, success: input.success, allowed: input.allow };
    let wanted = Wanted {
        goal,
        model: input.model.as_deref(),
        max_steps: input.max_steps,
        budget: input.budget,
    };
    let watched = Watched::toward(&context, &wanted)?;
    watched.registering(open_first(&context, input.url.as_ref()).await)?;
    reach(watched, &wanted).await
}
