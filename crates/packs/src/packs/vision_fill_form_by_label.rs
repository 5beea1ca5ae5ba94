//! `vision.fill_form_by_label`: fills the fields of a form that people see on the desktop.

#[path = "vision_fill_form_by_label/ending.rs"]
mod ending;
#[path = "vision_fill_form_by_label/filling.rs"]
mod filling;
#[path = "vision_fill_form_by_label/finding.rs"]
mod finding;

use std::collections::BTreeMap;

use helmdeck_vision::{
    Outcome, Step,
    eyes::{Spent, Success},
};
use helmdeck_wire::{
    nature::{Nature, Style, Substrate, Surface},
    session::Mode,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Context, ModelBudget, ModelNeed, Pack, PackResult, Routing, SessionNeed,
    form_field::Field,
    page::PageUrl,
    vision_run::{Watched, asked_model, open_first, outcome_of},
};

/// Fill a form on the desktop.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "VisionFillFormByLabel")]
struct Input {
    /// Values by the labels that people see. `${vault:NAME}` stands for a secret.
    #[schemars(length(min = 1, max = 50))]
    fields: BTreeMap<String, String>,
    /// A page to open first.
    #[serde(default)]
    url: Option<PageUrl>,
    /// The name of the button to click at the end.
    #[serde(default)]
    #[schemars(length(min = 1, max = 1000))]
    submit: Option<String>,
    /// Conditions that must hold at the end, as in `verify`.
    #[serde(default)]
    success: Success,
    /// The model, `provider/model`; defaults to that of the server.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200), regex(pattern = helmdeck_gateway::MODEL_ID_PATTERN))]
    #[schemars(extend("x-expected" = helmdeck_gateway::MODEL_ID_EXPECTED))]
    model: Option<String>,
    /// Most replies of the model for all fields; defaults to 12.
    #[serde(default = "steps")]
    #[schemars(range(min = 1, max = 200))]
    max_steps: u32,
    /// What the model may use.
    #[serde(default)]
    budget: ModelBudget,
}

fn steps() -> u32 {
    12
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "VisionFillFormByLabelOutput")]
struct Output {
    /// Whether every field was filled and checked, and every condition holds.
    completed: bool,
    /// How it ended.
    outcome: Outcome,
    /// Why it ended like this.
    reason: String,
    /// What a person has to decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<String>,
    /// Labels of the fields that were filled.
    fields_filled: Vec<String>,
    /// What happened to each field.
    fields: Vec<Filled>,
    /// What was found for each condition.
    evidence: Vec<String>,
    /// Every step: those of the model, and each field.
    steps: Vec<Step>,
    /// Number of replies of the model.
    steps_used: u32,
    /// The model; absent if none was needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// What all calls of the model used.
    spent: Spent,
    /// The screen at the end, as an artifact. Fields with secrets are painted over.
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact_key: Option<String>,
}

/// What happened to a field.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "VisionFilledField")]
struct Filled {
    /// Its label.
    label: String,
    /// Whether the value was entered.
    filled: bool,
    /// How it was found: `name` or `model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    found_by: Option<&'static str>,
    /// What shows it: `value` was read again, `focus` for fields that tell no value, or `none`.
    check: &'static str,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("vision.fill_form_by_label", run)
        .doc(
            "Fill the fields of a form on the VISIBLE desktop by the labels that people see. Fields are found by \
             name, and by a model if none has the name. `${vault:NAME}` enters a secret, which no model, picture or \
             record gets to see. `_mode: structured` never asks a model.",
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
            "Sign in with a secret",
            serde_json::json!({
                "url": "https://example.com/login",
                "fields": { "E-mail": "ann@example.com", "Password": "${vault:example-login}" },
                "submit": "Sign in",
                "success": { "all": [{ "check": "text_visible", "text": "Welcome" }] },
            }),
        )
        .routing(Routing {
            accepts: &["fields", "url", "session"],
            produces: &["outcome", "picture"],
            intent_keywords: &["form", "fill", "label", "field", "login", "sign in", "vision"],
            typical_use: "Fill a form by what people see, with secrets that stay in the vault.",
            limitations: &["Secrets are only typed into pages of the credential's host."],
        })
}

/// A form under way.
struct Form<'a> {
    context: &'a Context,
    input: &'a Input,
    watched: Watched<'a>,
    done: Vec<Filled>,
    steps: Vec<Step>,
    asked: u32,
    model: Option<String>,
    spent: Spent,
    /// Why the form ended before its end.
    ended: Option<(Outcome, String)>,
    /// What a person has to decide.
    question: Option<String>,
    /// Fields that hold a secret.
    secret: Vec<Field>,
}

/// A field that was found.
struct Located {
    field: Field,
    by: &'static str,
}

async fn run(context: Context, input: Input) -> PackResult<Output> {
    let model = asked_model(&context, input.model.as_deref())?;
    let labels: Vec<_> = input.fields.keys().map(|label| format!("{label:?}")).collect();
    let instruction = format!("Fill in {}", labels.join(", "));
    let watched = Watched::begin(&context, &instruction, model, input.max_steps)?;
    watched.registering(open_first(&context, input.url.as_ref()).await)?;
    let mut form = Form {
        context: &context,
        input: &input,
        watched,
        done: Vec::new(),
        steps: Vec::new(),
        asked: 0,
        model: None,
        spent: Spent::default(),
        ended: None,
        question: None,
        secret: Vec::new(),
    };
    if let Err(error) = form.all_fields().await {
        let outcome = outcome_of(&error).ok_or_else(|| error.clone())?;
        form.ended = Some((outcome, error.to_string()));
    }
    form.finish().await
}
