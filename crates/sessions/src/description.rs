//! A session as its owner sees it.

use std::time::Duration;

use helmdeck_runtime::Sandbox;
use helmdeck_wire::session;

use crate::{Caller, Session, spec};

impl Session {
    /// What its owner may know about it. `sandbox` is what the runtime says, if it still knows it.
    pub(crate) async fn describe(
        &self,
        caller: &Caller,
        sandbox: Option<&Sandbox>,
    ) -> session::Session {
        let resources = match sandbox {
            Some(sandbox) => Some(self.resources(sandbox).await),
            None => None,
        };
        let inner = &self.inner;
        let life = inner.life.lock().clone();
        let lifetime = inner.record.spec.timeout_seconds.map(Duration::from_secs);
        let ending = life.ending();
        let failure = inner.failure.lock().clone();
        session::Session {
            id: inner.id.clone(),
            container_id: inner.sandbox.to_string(),
            status: life.status(),
            mode: self.mode(),
            owner: inner.record.owner.clone(),
            created_at: inner.record.created_at,
            expires_at: lifetime.map(|lifetime| inner.record.created_at + lifetime),
            end_reason: ending.map(|ending| ending.reason),
            ended_at: ending.map(|ending| ending.at),
            error: failure.map(|failure| failure.sentence()),
            timings: inner.timings.lock().clone(),
            resources,
            egress: inner.egress.counts(),
            forwards: inner.forwards.list(),
            tasks: life.tasks(),
            agent_status: inner.agent_status.lock().clone(),
            browser_window: inner.browser_window.lock().clone(),
            control: self.control(caller),
            browser_view: self.browser_view(),
            attached: inner.record.attached.clone(),
            notes: spec::notes(&inner.record).into_iter().chain(self.away()).collect(),
            spec: spec::for_reply(&inner.record.spec),
        }
    }
}
