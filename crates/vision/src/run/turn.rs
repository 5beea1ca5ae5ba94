//! One turn of a run: a reply of the model, and what comes of it.

use std::{sync::Arc, time::Instant};

use helmdeck_wire::{observe::ObservedPicture, point::Rect};
use serde_json::Value;

use super::{
    End, PATIENCE_MS, Runner, found, millis, picture_of, shortened,
    stuck::Advice,
    targets::{Targets, around, around_all},
    view_of,
};
use crate::{
    action::Action,
    conversation::{CallResult, Conversation, Exchange, Picture},
    eyes::{Acted, Failure, ModelFailure, Shot},
    model_reply::{Call, ModelReply},
    prompt,
    report::{Outcome, Step},
};

/// Words of a model that a step keeps.
const SAID: usize = 300;
/// A change that covers more of the screen than this is shown as a whole picture, in parts of ten.
const MOST_OF_THE_SCREEN: u64 = 6;

/// What is collected in a turn.
struct Collected {
    results: Vec<CallResult>,
    notes: Vec<String>,
    /// What the first step of the turn gets.
    first: Option<Step>,
    failed: bool,
    looked: bool,
}

impl Runner<'_> {
    /// Asks the model and does what it says.
    pub(super) async fn turn(
        &mut self,
        conversation: &mut Conversation,
    ) -> Result<Option<End>, End> {
        self.ready().await;
        self.stay(&[]).await?;
        let began = Instant::now();
        let shot = last_shot(conversation);
        self.tell("thinking").await;
        self.calls += 1;
        let body = conversation.request(self.model.id(), self.limits.max_tokens);
        let reply = match self.model.ask(body).await {
            Ok(reply) => reply,
            Err(ModelFailure::Malformed(reason)) => {
                let step =
                    Step { problem: Some(reason), duration_ms: millis(began), ..Step::default() };
                self.bad(
                    conversation,
                    Value::Null,
                    Step { shot, ..step },
                    "Your reply could not be read: answer again. The screen has not changed.",
                );
                return Ok(None);
            }
            Err(ModelFailure::Budget(reason)) => return Err(End::new(Outcome::Budget, reason)),
            Err(ModelFailure::Denied(reason)) => return Err(End::new(Outcome::Denied, reason)),
            Err(ModelFailure::Provider(reason)) => {
                return Err(End::new(Outcome::ProviderError, reason));
            }
        };
        self.spent.add(reply.spent);
        let duration_ms = millis(began);
        let step = Step {
            step: self.number,
            shot,
            duration_ms,
            spent: Some(reply.spent),
            ..Step::default()
        };
        let turn = match conversation.dialect.read(&reply.body, &conversation.view) {
            Ok(turn) => turn,
            Err(bad) => {
                let step = Step { problem: Some(bad.hint.clone()), ..step };
                let hint = format!("{} The screen has not changed.", bad.hint);
                self.bad(conversation, reply.body, step, &hint);
                return Ok(None);
            }
        };
        let step = Step { said: shortened(&turn.thought, SAID), ..step };
        self.follow(conversation, reply.body, &turn, step).await
    }

    /// A reply that cannot be followed is one bad step.
    pub(super) fn bad(
        &mut self,
        conversation: &mut Conversation,
        reply: Value,
        step: Step,
        hint: &str,
    ) {
        self.record(Step { step: self.number, ..step });
        let note = Some(hint.to_owned());
        conversation.push(Exchange { reply, results: Vec::new(), note, picture: None });
    }

    async fn follow(
        &mut self,
        conversation: &mut Conversation,
        reply: Value,
        turn: &ModelReply,
        step: Step,
    ) -> Result<Option<End>, End> {
        for safety in turn.calls.iter().flat_map(|call| &call.safety) {
            if let Err(end) = self.permitted(&safety.message).await {
                self.record(Step { problem: Some(safety.message.clone()), ..step });
                return Err(end);
            }
        }
        let mut collected = Collected {
            results: Vec::new(),
            notes: Vec::new(),
            first: Some(step),
            failed: false,
            looked: false,
        };
        for call in &turn.calls {
            let ended = self.call(conversation, call, &mut collected).await?;
            if ended.is_some() {
                return Ok(ended);
            }
        }
        if let Some(said) = &turn.done {
            if let Some(step) = collected.first.take() {
                self.record(Step {
                    action: Some(Action::Done { text: shortened(said, SAID) }),
                    ..step
                });
            }
            match self.judge(said).await? {
                Ok(end) => return Ok(Some(end)),
                Err(hint) => collected.notes.push(hint),
            }
        }
        let Collected { mut results, mut notes, looked, .. } = collected;
        let mut picture = None;
        if !conversation.dialect.takes_parts() {
            // These vendors expect the whole screen after each turn.
            if !looked {
                let shown = self.whole(conversation).await?;
                match results.last_mut() {
                    Some(last) => last.picture = Some(shown),
                    None => picture = Some(shown),
                }
            }
            let found = self.targets().await.found;
            let named = prompt::candidates(conversation.dialect, &conversation.view, &found);
            notes.extend((!named.is_empty()).then(|| named.trim_start().to_owned()));
        }
        let note = (!notes.is_empty()).then(|| notes.join("\n"));
        conversation.push(Exchange { reply, results, note, picture });
        Ok(None)
    }

    /// Does what one call wants.
    async fn call(
        &mut self,
        conversation: &mut Conversation,
        call: &Call,
        collected: &mut Collected,
    ) -> Result<Option<End>, End> {
        let result = |text: String, failed: bool, picture: Option<Picture>| CallResult {
            id: call.id.clone(),
            text,
            picture,
            failed,
            acknowledged: call.safety.iter().map(|safety| safety.acknowledgement.clone()).collect(),
        };
        if collected.failed {
            collected.results.push(result(
                "Not done, because an earlier action failed.".to_owned(),
                true,
                None,
            ));
            return Ok(None);
        }
        let actions = match &call.actions {
            Ok(actions) => actions,
            Err(bad) => {
                let step = self.next_step(collected);
                self.record(Step { problem: Some(bad.hint.clone()), ..step });
                collected.failed = true;
                collected.results.push(result(bad.hint.clone(), true, None));
                return Ok(None);
            }
        };
        let (mut words, mut picture) = (Vec::new(), None);
        for (at, action) in actions.iter().enumerate() {
            // Judged when everything else is done.
            if matches!(action, Action::Done { .. }) {
                words.push("Noted.".to_owned());
                continue;
            }
            if let Action::AskUser { text } = action {
                return Err(self.asks(action, text, collected));
            }
            let step = self.next_step(collected);
            let parts = conversation.dialect.takes_parts();
            let acted = match self.perform(action, step, parts).await? {
                Ok(acted) => acted,
                Err(reason) => {
                    words.push(prompt::failed(at + 1, actions.len(), &reason));
                    collected.failed = true;
                    break;
                }
            };
            let changed = acted.observation.changed == Some(true)
                || self.performed.last().is_some_and(|act| !action.only_looks() && act.changed());
            words.push(prompt::happened(action, &acted));
            match self.repetition.count(action, changed) {
                Advice::None => {}
                Advice::Hint(hint) => words.push(hint),
                Advice::End(reason) => {
                    // What an earlier step began may have become true only now.
                    let verified = self.holds(PATIENCE_MS).await?;
                    let end = verified.map(|it| End::completed("the conditions hold", found(&it)));
                    return Ok(Some(end.unwrap_or_else(|| End::new(Outcome::Stuck, reason))));
                }
            }
            if !action.only_looks() || !self.goal.success.is_empty() {
                let ended = self.reached().await?;
                if ended.is_some() {
                    return Ok(ended);
                }
            }
            if let Some((shown, told)) = self.shown(conversation, action, &acted).await? {
                collected.looked |= shown.part.is_none();
                words.extend((!told.is_empty()).then_some(told));
                picture = Some(shown);
            }
        }
        let failed = collected.failed;
        collected.results.push(result(words.join("\n"), failed, picture));
        Ok(None)
    }

    /// The model asks for a person.
    fn asks(&mut self, action: &Action, text: &str, collected: &mut Collected) -> End {
        let step = self.next_step(collected);
        self.record(Step { action: Some(action.clone()), ..step });
        let text = if text.is_empty() { "the model asks for a person" } else { text };
        self.answer = shortened(text, 2000);
        End::question(text)
    }

    /// The picture that shows what an action did, and what to say of it.
    async fn shown(
        &self,
        conversation: &mut Conversation,
        action: &Action,
        acted: &Acted,
    ) -> Result<Option<(Picture, String)>, End> {
        if let Action::Zoom { region } = action {
            return match self.eyes.zoom(*region).await {
                Ok(shot) => Ok(Some((picture_of(&shot, true), String::new()))),
                Err(Failure::Bad(_)) => Ok(None),
                Err(other) => Err(other.into()),
            };
        }
        if *action == Action::Screenshot {
            return Ok(Some((self.whole(conversation).await?, String::new())));
        }
        if !conversation.dialect.takes_parts() {
            return Ok(None);
        }
        let seen = &acted.observation;
        if seen.picture.is_none() && seen.changed != Some(true) {
            return self.after_nothing(conversation, action).await;
        }
        let targets = self.targets().await;
        // An action that entered its text as typed sends no picture.
        let field =
            seen.text_entered.and_then(|_| around_all(&seen.regions, conversation.view.screen));
        let changed = seen.picture.as_ref().map(|picture| picture.rect).or(field);
        if let Some(found) = self.part_with(conversation, &targets, changed).await? {
            let (part, told) = found;
            let dialect = conversation.dialect;
            let named = prompt::candidates(dialect, &conversation.view, &targets.found);
            return Ok(Some((part, told + &named)));
        }
        let part = seen.picture.as_ref().filter(|_| !conversation.needs_whole());
        if let Some(part) = part.and_then(|seen| part_of(seen, conversation)) {
            let told = part.part.map(|rect| prompt::part(&conversation.view, rect));
            return Ok(Some((part, told.unwrap_or_default())));
        }
        if let Some(field) = field.filter(|_| !conversation.needs_whole())
            && let Some((part, told)) = self.crop(conversation, field).await?
        {
            return Ok(Some((Picture { suffices: false, ..part }, told)));
        }
        Ok(Some((self.whole(conversation).await?, String::new())))
    }

    /// What to show after an action that changed nothing. Where every picture is read anew, that is the place where it
    /// acted, and now and then the whole screen.
    async fn after_nothing(
        &self,
        conversation: &mut Conversation,
        action: &Action,
    ) -> Result<Option<(Picture, String)>, End> {
        let sends_again = conversation.dialect.kept_pictures() == (1, 0);
        let Some(at) = action.pixel().filter(|_| sends_again) else { return Ok(None) };
        if self.repetition.is_lost() {
            return Ok(Some((self.whole(conversation).await?, String::new())));
        }
        // A part with the targets still shows what is needed.
        if conversation.base().is_some() {
            return Ok(None);
        }
        self.crop(conversation, around(at, conversation.view.screen)).await
    }

    /// The part of the screen with what the next step needs, if programs tell where it is.
    pub(super) async fn part_with(
        &self,
        conversation: &Conversation,
        targets: &Targets,
        changed: Option<Rect>,
    ) -> Result<Option<(Picture, String)>, End> {
        let region = targets.region(conversation.view.screen, changed);
        match region.filter(|_| conversation.dialect.takes_parts()) {
            Some(region) => self.crop(conversation, region).await,
            None => Ok(None),
        }
    }

    /// A part of the screen in the scale of the whole picture, and what to say of it.
    async fn crop(
        &self,
        conversation: &Conversation,
        region: Rect,
    ) -> Result<Option<(Picture, String)>, End> {
        let view = &conversation.view;
        match self.eyes.crop(region, view.size_in_picture(region)).await {
            Ok(shot) => {
                let part = Picture { suffices: true, ..picture_of(&shot, true) };
                Ok(Some((part, prompt::part(view, region))))
            }
            Err(Failure::Bad(_)) => Ok(None),
            Err(other) => Err(other.into()),
        }
    }

    /// The whole screen in the vendor's size. Later positions refer to it.
    async fn whole(&self, conversation: &mut Conversation) -> Result<Picture, End> {
        let rule = conversation.dialect.size_rule();
        let shot: Shot = self.read(|eyes| eyes.look(rule)).await?;
        conversation.view = view_of(conversation.dialect, &shot);
        Ok(picture_of(&shot, false))
    }

    fn next_step(&self, collected: &mut Collected) -> Step {
        collected.first.take().unwrap_or_else(|| Step { step: self.number, ..Step::default() })
    }
}

/// A part of the screen, if it is small and the vendor sees it as it is.
fn part_of(seen: &ObservedPicture, conversation: &Conversation) -> Option<Picture> {
    let (wide, high) = conversation.view.screen;
    let area = u64::from(seen.rect.width) * u64::from(seen.rect.height);
    let side = |length: u32| ((f64::from(length) * seen.scale).round() as u32).max(1);
    let size = (side(seen.rect.width), side(seen.rect.height));
    let fits = conversation.dialect.size_rule().size(size.0, size.1) == size;
    (fits && area * 10 <= u64::from(wide) * u64::from(high) * MOST_OF_THE_SCREEN).then(|| Picture {
        shot: seen.id.0.clone(),
        media_type: seen.media_type.clone(),
        data: Some(Arc::from(seen.data.as_str())),
        size,
        part: Some(seen.rect),
        suffices: false,
    })
}

/// The newest picture that the model has.
fn last_shot(conversation: &Conversation) -> Option<String> {
    let shown = conversation.exchanges.iter().rev().flat_map(|exchange| {
        let results = exchange.results.iter().rev().filter_map(|result| result.picture.as_ref());
        exchange.picture.iter().chain(results)
    });
    let newest = shown.map(|picture| picture.shot.clone()).next();
    Some(newest.unwrap_or_else(|| conversation.first.shot.clone()))
}
