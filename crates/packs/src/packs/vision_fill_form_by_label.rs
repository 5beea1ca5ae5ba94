//! `vision.fill_form_by_label`: fills the fields of a form that people see on the desktop.

use std::{collections::BTreeMap, time::Duration};

use bytes::Bytes;
use helmdeck_store::vault::{Destination, Encoding};
use helmdeck_vision::{
    Action, Goal, Outcome, Place, Run, Step,
    eyes::{Spent, Success},
};
use helmdeck_wire::{
    ActionCall, ErrorCode,
    nature::{Nature, Style, Substrate, Surface},
    point::Rect,
    screen::{Format, Screenshot},
    session::Mode,
    tree::Find,
    verify::Verify,
};
use http::Uri;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use crate::{
    Context, ModelBudget, ModelNeed, Pack, PackError, PackResult, Routing, RunEnd, SessionNeed,
    form_field::{
        self, Field, by_label, conceal, enter, fill, focused, has_focus, is_fillable, value_of,
    },
    page::PageUrl,
    vision_run::{Wanted, Watched, asked_model, open_first},
};

/// How a secret of the vault begins.
const SECRET: &str = "${vault:";
/// How long conditions may take to hold.
const PATIENCE_MS: u32 = 3000;
/// How long a page may take to react to the last click.
const REACTION: Duration = Duration::from_millis(700);
/// Pixels around a field that are painted over with it.
const AROUND: i32 = 6;

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
    /// Labels of the fields that were filled.
    fields_filled: Vec<String>,
    /// What happened to each field.
    fields: Vec<Filled>,
    /// What was found for each condition.
    evidence: Vec<String>,
    /// Steps of the model.
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
    /// Why a run of the model ended, if it ended the form.
    ended: Option<(Outcome, String)>,
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
    open_first(&context, input.url.as_ref()).await?;
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
        secret: Vec::new(),
    };
    form.all_fields().await?;
    form.finish().await
}

impl Form<'_> {
    async fn all_fields(&mut self) -> PackResult<()> {
        let is_secret = |value: &String| value.contains(SECRET);
        let fields = &self.input.fields;
        for (label, value) in fields.iter().filter(|(_, value)| !is_secret(value)) {
            let Some(located) = self.locate(label).await? else { continue };
            self.fills(0.3, label).await?;
            let filled = fill(self.context, &located.field, value, false).await;
            self.note(label, &located, filled, value).await?;
        }
        // All are found before the first is typed: no picture is taken after that.
        let mut found = Vec::new();
        for (label, value) in fields.iter().filter(|(_, value)| is_secret(value)) {
            if let Some(located) = self.locate(label).await? {
                found.push((label, value, located));
            }
        }
        for (label, value, located) in found {
            self.fills(0.7, label).await?;
            let typed = self.type_secret(&located.field, value).await;
            match typed {
                Ok(secret) => self.note(label, &located, Ok(()), &secret).await?,
                Err(error) if is_final(error.code()) => return Err(error),
                Err(error) => self.note(label, &located, Err(error), "").await?,
            }
        }
        Ok(())
    }

    /// Tells people what is filled in next.
    async fn fills(&self, part: f64, label: &str) -> PackResult<()> {
        self.watched.ready().await?;
        let what = format!("filling {label}");
        self.watched.eyes().tell(&what).await;
        self.context.progress(part, what);
        Ok(())
    }

    /// Finds a field by its label, or lets a model click it.
    async fn locate(&mut self, label: &str) -> PackResult<Option<Located>> {
        if let Some(field) = by_label(self.context, label).await? {
            return Ok(Some(Located { field, by: "name" }));
        }
        if self.context.mode == Style::Structured {
            self.fail(label, "not exactly one field has this label");
            return Ok(None);
        }
        let left = self.input.max_steps.saturating_sub(self.asked);
        if self.ended.is_some() || left == 0 {
            self.fail(label, "not exactly one field has this label, and no steps are left");
            return Ok(None);
        }
        let run = self.ask(label, left).await?;
        let clicked = run.steps.iter().rev().find_map(|step| {
            let click = matches!(step.action, Some(Action::Click { .. })) && step.problem.is_none();
            click.then(|| (step.moved_to.or(place(step)), step.hit.clone()))
        });
        let focus = focused(self.context).await?;
        let outcome = run.outcome;
        self.add(run);
        let field = match (focus, clicked) {
            (Some(field), Some(_)) => Some(field),
            // A program that tells nothing of its elements.
            (None, Some((Some(at), hit))) if hit.as_ref().is_none_or(|hit| hit.role.is_empty()) => {
                Some(Field::at(at))
            }
            _ => None,
        };
        match field {
            Some(field) => Ok(Some(Located { field, by: "model" })),
            None => {
                let reason = format!("the model did not find it ({outcome:?})").to_lowercase();
                self.fail(label, &reason);
                if !matches!(outcome, Outcome::Unverified | Outcome::Stuck | Outcome::Completed) {
                    self.ended.get_or_insert((outcome, reason));
                }
                Ok(None)
            }
        }
    }

    /// A model clicks a field. It ends as soon as a field was hit.
    async fn ask(&self, label: &str, max_steps: u32) -> PackResult<Run> {
        let goal = Goal { instruction: format!("Click the {label:?} field"), ..Goal::default() };
        let wanted = Wanted {
            goal,
            model: self.input.model.as_deref(),
            max_steps,
            budget: self.input.budget,
        };
        let is_hit = |step: &Step| {
            let hit = step.hit.as_ref().is_some_and(|hit| is_fillable(&hit.role));
            hit && matches!(step.action, Some(Action::Click { .. })) && step.problem.is_none()
        };
        self.watched.follow(&wanted, &is_hit).await
    }

    fn add(&mut self, run: Run) {
        self.asked += run.model_calls;
        self.model = run.model.or(self.model.take());
        self.spent.add(run.spent);
        self.steps.extend(run.steps);
    }

    /// Types a secret into the page that its credential is for. Nothing of it is observed.
    async fn type_secret(&mut self, field: &Field, value: &str) -> PackResult<String> {
        form_field::click(self.context, field, true).await?;
        if !has_focus(self.context, field).await? {
            return Err(PackError::failed("the field did not get the keyboard focus"));
        }
        // A field may be in a frame of another site.
        let url = conceal(self.context, field).await?;
        let uri: Option<Uri> = url.as_deref().and_then(|url| url.parse().ok());
        let Some((uri, host)) = uri.as_ref().and_then(|uri| Some((uri, uri.host()?))) else {
            return Err(PackError::failed("secrets are only typed into pages of their host"));
        };
        let usual = if uri.scheme_str() == Some("http") { 80 } else { 443 };
        let to = Destination {
            host: host.trim_matches(['[', ']']),
            port: Some(uri.port_u16().unwrap_or(usual)),
            path: uri.path(),
        };
        let secret = self.context.secrets.substitute(value, Encoding::Plain, to).await?;
        self.secret.push(field.clone());
        enter(self.context, &secret, true).await?;
        Ok(secret)
    }

    fn fail(&mut self, label: &str, problem: &str) {
        self.done.push(Filled {
            label: label.to_owned(),
            check: "none",
            problem: Some(problem.to_owned()),
            ..Filled::default()
        });
    }

    /// Reads a field again, and notes what happened to it.
    async fn note(
        &mut self,
        label: &str,
        located: &Located,
        filled: PackResult<()>,
        value: &str,
    ) -> PackResult<()> {
        let problem = match filled {
            Ok(()) => None,
            Err(error) if is_final(error.code()) => return Err(error),
            Err(error) => Some(error.to_string()),
        };
        let mut done = Filled {
            label: label.to_owned(),
            filled: problem.is_none(),
            found_by: Some(located.by),
            check: "none",
            problem,
        };
        if done.filled {
            let now = value_of(self.context, &located.field).await?;
            let same = |held: &str| held.trim_end() == value.trim_end();
            let read = now.as_ref().filter(|it| !it.value.is_empty() || value.is_empty());
            match read {
                _ if located.field.is_toggle() => done.check = "value",
                Some(now) if same(&now.value) => done.check = "value",
                // The value of a list may be another than its label.
                Some(_) if matches!(located.field.role.as_str(), "combobox" | "listbox") => {
                    done.check = "value";
                }
                Some(_) => {
                    done.problem =
                        Some("the field holds another value than it was given".to_owned());
                }
                None if has_focus(self.context, &located.field).await? => {
                    done.check = "focus";
                }
                None => {}
            }
        }
        self.done.push(done);
        Ok(())
    }

    async fn finish(mut self) -> PackResult<Output> {
        let filled = self.done.iter().all(|it| it.filled);
        if let Some(name) = self.input.submit.as_ref().filter(|_| filled) {
            self.watched.ready().await?;
            let what = format!("clicking {name}");
            self.watched.eyes().tell(&what).await;
            self.context.progress(0.85, what);
            if let Err(error) = self.submit(name).await {
                if is_final(error.code()) {
                    return Err(error);
                }
                self.ended = Some((Outcome::Stuck, error.to_string()));
            }
        }
        let verified = match self.input.success.is_empty() {
            true => None,
            false => {
                let Success { all, any } = self.input.success.clone();
                Some(self.context.act(&Verify { all, any, within_ms: PATIENCE_MS }).await?)
            }
        };
        let holds = verified.as_ref().map(|verified| verified.holds);
        let evidence = verified.map_or(Vec::new(), |verified| {
            verified.evidence.iter().map(|it| format!("{}: {}", it.condition, it.found)).collect()
        });
        let (outcome, reason) = self.outcome(holds);
        self.watched.eyes().tell("").await;
        let reason = self.watched.finish(RunEnd {
            outcome,
            reason,
            evidence: evidence.clone(),
            answer: String::new(),
            steps: self.steps.clone(),
            spent: self.spent,
        });
        let artifact_key = Some(self.picture().await?);
        let names = self.done.iter().filter(|it| it.filled).map(|it| it.label.clone()).collect();
        Ok(Output {
            completed: outcome == Outcome::Completed,
            outcome,
            reason,
            fields_filled: names,
            fields: self.done,
            evidence,
            steps: self.steps,
            steps_used: self.asked,
            model: self.model,
            spent: self.spent,
            artifact_key,
        })
    }

    fn outcome(&self, holds: Option<bool>) -> (Outcome, String) {
        if let Some((outcome, reason)) = &self.ended {
            return (*outcome, reason.clone());
        }
        let first = |wanted: fn(&Filled) -> bool| self.done.iter().find(|it| wanted(it));
        if let Some(missing) = first(|it| !it.filled) {
            let problem = missing.problem.as_deref().unwrap_or("it was not filled");
            return (Outcome::Stuck, format!("{:?}: {problem}", missing.label));
        }
        if holds == Some(false) {
            return (Outcome::Unverified, "the conditions do not hold".to_owned());
        }
        match first(|it| it.check == "none") {
            // The conditions say more than the fields.
            Some(_) if holds == Some(true) => {}
            Some(field) => {
                let problem = field.problem.as_deref().unwrap_or("nothing shows what it holds");
                return (Outcome::Unverified, format!("{:?}: {problem}", field.label));
            }
            None => {}
        }
        (Outcome::Completed, "every field was filled and checked".to_owned())
    }

    /// Clicks the button. It is not observed: the fields before it may hold secrets.
    async fn submit(&self, name: &str) -> PackResult<()> {
        let find = Find { name: Some(name.to_owned()), ocr: false, ..Find::default() };
        let found = self.context.act(&find).await?.candidates;
        let is_button =
            |role: &str| role.ends_with("button") || role == "link" || role == "menuitem";
        let exact = |it: &str| it.trim().eq_ignore_ascii_case(name.trim());
        let mut buttons = found.iter().filter(|it| is_button(&it.role) && exact(&it.name));
        let (Some(button), None) = (buttons.next(), buttons.next()) else {
            return Err(PackError::failed(format!("not exactly one button is called {name:?}")));
        };
        let button = Field {
            reference: button.reference.clone(),
            role: button.role.clone(),
            rect: button.rect,
            states: Vec::new(),
        };
        form_field::click(self.context, &button, true).await?;
        sleep(REACTION).await;
        Ok(())
    }

    /// The screen, without the fields that hold secrets.
    async fn picture(&self) -> PackResult<String> {
        let mut hide = Vec::new();
        for field in &self.secret {
            // The page may have moved it.
            let now = value_of(self.context, field).await?;
            hide.extend([Some(field.rect), now.map(|now| now.rect)].into_iter().flatten());
        }
        let hide = hide.into_iter().map(grown).collect();
        let wanted = Screenshot { format: Some(Format::Png), hide, ..Screenshot::default() };
        let session = self.context.session()?;
        let taken = session.act(&self.context.caller, &ActionCall::new(&wanted)).await?;
        let bytes: Bytes = taken.body;
        Ok(self.context.artifacts.put("screen.png", "image/png", bytes).await?.key)
    }
}

fn place(step: &Step) -> Option<helmdeck_wire::point::Pixel> {
    match step.action {
        Some(Action::Click { at: Some(Place::At(at)), .. }) => Some(at),
        _ => None,
    }
}

fn grown(rect: Rect) -> Rect {
    let more = AROUND.unsigned_abs() * 2;
    Rect {
        x: rect.x.saturating_sub(AROUND),
        y: rect.y.saturating_sub(AROUND),
        width: rect.width.saturating_add(more),
        height: rect.height.saturating_add(more),
    }
}

/// Whether an error ends the form: the next field would fail as well.
fn is_final(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::SessionUnavailable
            | ErrorCode::ControlTaken
            | ErrorCode::ControlHeld
            | ErrorCode::Private
            | ErrorCode::Cancelled
    )
}
