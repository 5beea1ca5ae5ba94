//! Fills the fields of a form. Each is a step, which people see before it happens.

use std::time::{Duration, Instant};

use helmdeck_store::vault::{Destination, Encoding};
use helmdeck_vision::{Action, Outcome, Place, Step};
use helmdeck_wire::{ErrorCode, observe::Observation, pointer::Button, tree::Find};
use http::Uri;
use tokio::time::sleep;

use super::{Filled, Form, Located};
use crate::{
    PackError, PackResult,
    form_field::{self, Field, conceal, enter, fill, has_focus, value_of},
    vision_run::outcome_of,
};

/// How a secret of the vault begins.
const SECRET: &str = "${vault:";
/// How long a page may take to react to the last click.
const REACTION: Duration = Duration::from_millis(700);
/// Stands for what was typed.
const HIDDEN: &str = "•••";

impl Form<'_> {
    /// Fills every field, until a person has to decide or the run ends.
    pub(super) async fn all_fields(&mut self) -> PackResult<()> {
        let is_secret = |value: &String| value.contains(SECRET);
        let fields = &self.input.fields;
        for (label, value) in fields.iter().filter(|(_, value)| !is_secret(value)) {
            let Some(located) = self.locate(label).await? else { continue };
            let began = self.fills(0.3, label, &located.field).await?;
            let filled = fill(self.context, &located.field, value, false).await;
            self.note(label, &located, filled, value, began).await?;
        }
        // All are found before the first is typed: no picture is taken after that.
        let mut found = Vec::new();
        for (label, value) in fields.iter().filter(|(_, value)| is_secret(value)) {
            if let Some(located) = self.locate(label).await? {
                found.push((label, value, located));
            }
        }
        for (label, value, located) in found {
            let began = self.fills(0.7, label, &located.field).await?;
            match self.type_secret(label, &located.field, value).await {
                Ok(secret) => {
                    let typed = Ok(Observation::default());
                    self.note(label, &located, typed, &secret, began).await?;
                }
                Err(error) => self.note(label, &located, Err(error), "", began).await?,
            }
            if self.question.is_some() {
                break;
            }
        }
        Ok(())
    }

    /// Shows people what is filled in next, and where.
    async fn fills(&self, part: f64, label: &str, field: &Field) -> PackResult<Instant> {
        self.begins(part, format!("filling {label}"), field).await
    }

    async fn begins(&self, part: f64, what: String, field: &Field) -> PackResult<Instant> {
        self.watched.ready().await?;
        self.watched.eyes().tell(&what).await;
        self.context.progress(part, what);
        self.watched.aim(field.middle()).await;
        Ok(Instant::now())
    }

    /// Types a secret into the page that its credential is for. Nothing of it is observed.
    async fn type_secret(&mut self, label: &str, field: &Field, value: &str) -> PackResult<String> {
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
        let secret = match self.context.secrets.substitute(value, Encoding::Plain, to).await {
            Ok(secret) => secret,
            // The vault has no other reason for this code.
            Err(error) if error.code() == ErrorCode::Forbidden => {
                return Err(self.asks(label, host, &error));
            }
            Err(error) => return Err(error),
        };
        self.secret.push(field.clone());
        enter(self.context, &secret, true).await?;
        Ok(secret)
    }

    /// The vault keeps a secret from this site: a person has to decide. No answer lets the form type it here.
    fn asks(&mut self, label: &str, host: &str, refused: &PackError) -> PackError {
        let question = format!("give {host} the secret of {label:?}, which is for another site");
        let reason = format!("a person has to decide: {question}: {refused}");
        self.ended = Some((Outcome::NeedsConfirmation, reason));
        self.question = Some(question);
        PackError::failed(refused.to_string())
    }

    /// Reads a field again, and notes what happened to it.
    async fn note(
        &mut self,
        label: &str,
        located: &Located,
        filled: PackResult<Observation>,
        value: &str,
        began: Instant,
    ) -> PackResult<()> {
        let at = Place::At(located.field.middle());
        let action = match located.field.is_toggle() {
            true => Action::clicks(Some(at), Button::Left, 1),
            false => Action::Fill { at, text: HIDDEN.to_owned() },
        };
        let problem = self.record(action, label, &filled, began);
        let mut done = Filled {
            label: label.to_owned(),
            filled: problem.is_none(),
            found_by: Some(located.by),
            check: "none",
            problem,
        };
        if let Err(error) = filled
            && outcome_of(&error).is_some()
        {
            self.done.push(done);
            return Err(error);
        }
        if done.filled {
            self.check(&mut done, &located.field, value).await?;
        }
        self.done.push(done);
        Ok(())
    }

    /// What a field holds now.
    async fn check(&self, done: &mut Filled, field: &Field, value: &str) -> PackResult<()> {
        let now = value_of(self.context, field).await?;
        let same = |held: &str| held.trim_end() == value.trim_end();
        let read = now.as_ref().filter(|it| !it.value.is_empty() || value.is_empty());
        match read {
            _ if field.is_toggle() => done.check = "value",
            Some(now) if same(&now.value) => done.check = "value",
            // The value of a list may be another than its label.
            Some(_) if matches!(field.role.as_str(), "combobox" | "listbox") => {
                done.check = "value";
            }
            Some(_) => {
                done.problem = Some("the field holds another value than it was given".to_owned());
            }
            None if has_focus(self.context, field).await? => done.check = "focus",
            None => {}
        }
        Ok(())
    }

    /// Records a step that needed no model, and returns what went wrong.
    fn record(
        &mut self,
        action: Action,
        label: &str,
        done: &PackResult<Observation>,
        began: Instant,
    ) -> Option<String> {
        let mut step = Step {
            step: self.watched.next_step(),
            said: label.to_owned(),
            without_model: true,
            action: Some(action),
            duration_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            ..Step::default()
        };
        match done {
            Ok(seen) => {
                step.hit.clone_from(&seen.hit);
                step.effect = seen.effect;
                step.pictures.clone_from(&seen.trace);
                step.effects.clone_from(&seen.effects);
                step.regions = seen.regions.iter().take(20).copied().collect();
            }
            Err(error) => {
                let redactor = self.context.secrets.redactor();
                step.problem = Some(redactor.apply(&error.to_string()).into_owned());
            }
        }
        self.watched.note(&step);
        let problem = step.problem.clone();
        self.steps.push(step);
        problem
    }

    /// Clicks the button. It is not observed: the fields before it may hold secrets.
    pub(super) async fn submit(&mut self, name: &str) -> PackResult<()> {
        let button = self.button(name).await?;
        let began = self.begins(0.85, format!("clicking {name}"), &button).await?;
        let clicked = form_field::click(self.context, &button, true).await;
        let action = Action::clicks(Some(Place::At(button.middle())), Button::Left, 1);
        self.record(action, name, &clicked, began);
        clicked?;
        sleep(REACTION).await;
        Ok(())
    }

    /// The one button with this name.
    async fn button(&self, name: &str) -> PackResult<Field> {
        let find = Find { name: Some(name.to_owned()), ocr: false, ..Find::default() };
        let found = self.context.act(&find).await?.candidates;
        let is_button =
            |role: &str| role.ends_with("button") || role == "link" || role == "menuitem";
        let exact = |it: &str| it.trim().eq_ignore_ascii_case(name.trim());
        let mut buttons = found.iter().filter(|it| is_button(&it.role) && exact(&it.name));
        let (Some(button), None) = (buttons.next(), buttons.next()) else {
            return Err(PackError::failed(format!("not exactly one button is called {name:?}")));
        };
        Ok(Field {
            reference: button.reference.clone(),
            role: button.role.clone(),
            rect: button.rect,
            states: Vec::new(),
        })
    }
}
