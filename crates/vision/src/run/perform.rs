//! One action of a run.

use std::time::Instant;

use helmdeck_wire::observe::Effect;

use super::{End, Runner, millis};
use crate::{
    action::Action,
    evidence::PerformedAction,
    eyes::{Acted, Failure},
    report::{Step, shown},
    scope::outside,
};

/// Effects after which the run may be elsewhere.
const MOVING: [Effect; 7] = [
    Effect::Navigated,
    Effect::TabOpened,
    Effect::WindowOpened,
    Effect::Dialog,
    Effect::Download,
    Effect::TitleChanged,
    Effect::FocusMoved,
];

impl Runner<'_> {
    /// Does one action and records the step. Its own failure is returned as words.
    pub(super) async fn perform(
        &mut self,
        action: &Action,
        mut step: Step,
        picture: bool,
    ) -> Result<Result<Acted, String>, End> {
        self.ready().await;
        let began = Instant::now();
        step.step = self.number;
        step.action = Some(shown(action, &self.goal.instruction));
        if let Some(url) = self.scope.leaves(action) {
            let reason = outside(&url);
            if let Err(end) = self.permitted(&reason).await {
                self.record(Step { problem: Some(reason), ..step });
                return Err(end);
            }
            self.scope.allow(&url);
            self.fence.limit(self.scope.sites()).await?;
        }
        let (action, name) = self.aimed(action).await;
        step.moved_to =
            action.pixel().filter(|at| step.action.as_ref().and_then(Action::pixel) != Some(*at));
        if self.number > 0 {
            let what = match &name {
                Some(name) => format!("clicking {name}"),
                None => action.label(),
            };
            self.tell(&what).await;
        }
        self.fence.renew().await?;
        let acted = match self.eyes.act(&action, picture).await {
            Ok(acted) => acted,
            Err(Failure::Bad(reason)) => {
                step.problem = Some(reason.clone());
                step.duration_ms += millis(began);
                self.record(step);
                return Ok(Err(reason));
            }
            Err(other) => {
                let end = End::from(other);
                step.problem = Some(end.reason.clone());
                self.record(step);
                return Err(end);
            }
        };
        let seen = &acted.observation;
        let act = PerformedAction::new(&action, seen, self.scene.front().cloned());
        step.hit.clone_from(&seen.hit);
        step.effect = seen.effect;
        step.pictures.clone_from(&seen.trace);
        step.effects.clone_from(&seen.effects);
        step.regions = seen.regions.iter().take(20).copied().collect();
        step.duration_ms += millis(began);
        let effects = act.effects.clone();
        if !action.only_looks() {
            self.performed.push(act);
            self.look_at_boxes().await;
        }
        self.record(step);
        let kept = self.kept_inside().await?;
        if self.fence.has_downloads() || effects.iter().any(|effect| MOVING.contains(effect)) {
            self.stay(&effects).await?;
        }
        Ok(kept.map_or(Ok(acted), Err))
    }

    /// Looks whether windows, pages and downloads are still those of the scope: a page may move while a model thinks.
    pub(super) async fn stay(&mut self, effects: &[Effect]) -> Result<(), End> {
        self.fence.renew().await?;
        let downloads = self.fence.take_downloads().then_some(Effect::Download);
        let effects: Vec<Effect> = effects.iter().copied().chain(downloads).collect();
        let now = self.read(|eyes| eyes.scene()).await?;
        let left = self.scope.left(&self.scene, &now, &effects);
        self.scene = now;
        if let Some(reason) = left {
            self.permitted(&reason).await?;
            self.scope.allow_scene(&self.scene);
            self.fence.limit(self.scope.sites()).await?;
        }
        Ok(())
    }

    /// What the browser was kept from opening, after a person allowed it.
    pub(super) async fn kept_inside(&mut self) -> Result<Option<String>, End> {
        let refused = self.fence.refused().await?;
        let Some(last) = refused.last() else { return Ok(None) };
        for url in &refused {
            if self.scope.has(url) {
                continue;
            }
            self.permitted(&outside(url)).await?;
            self.scope.allow(url);
        }
        self.fence.limit(self.scope.sites()).await?;
        Ok(Some(format!(
            "The browser did not open {last}. A person has allowed it now: try again."
        )))
    }
}
