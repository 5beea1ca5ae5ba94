//! Descriptions of sessions for their owners.

use std::{sync::atomic::Ordering, time::Duration};

use helmdeck_runtime::Sandbox;
use helmdeck_wire::{SessionId, guest::Stage, session};

use crate::{
    Caller, Session,
    control_lease::Lease,
    lifecycle::{Ending, status_of},
    private::SignIn,
    record::Record,
    spec,
};

impl Session {
    /// Describes the session. `sandbox` is the runtime's information, if it still has any.
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
            action_mode: self.action_mode(),
            owner: inner.record.owner.clone(),
            created_at: inner.record.created_at,
            expires_at: lifetime.map(|lifetime| inner.record.created_at + lifetime),
            idle_ends_at: self.idle_ends_at(),
            agent_acted_at: *inner.agent_acted.lock(),
            end_reason: ending.map(|ending| ending.reason),
            ended_at: ending.map(|ending| ending.at),
            last_picture: inner.has_last_picture.load(Ordering::Relaxed),
            error: failure.map(|failure| failure.sentence()),
            timings: inner.timings.lock().iter().map(timing).collect(),
            resources,
            egress: inner.egress.counts(),
            forwards: inner.forwards.list(),
            tasks: life.tasks(),
            agent_status: inner.agent_status.lock().clone(),
            browser_window: inner.browser_window.lock().clone(),
            control: self.control(caller),
            browser_view: self.browser_view(),
            private_sign_in: inner.private.lock().as_ref().map(SignIn::describe),
            attached: inner.record.attached.clone(),
            notes: self.notes(),
            spec: spec::for_reply(&inner.record.spec),
        }
    }

    fn notes(&self) -> Vec<String> {
        let start = self.inner.start_note.lock().clone();
        spec::notes(&self.inner.record).into_iter().chain(start).chain(self.away()).collect()
    }
}

fn timing((stage, done): &(Stage, Duration)) -> session::StageTiming {
    let done_ms = u64::try_from(done.as_millis()).unwrap_or(u64::MAX);
    session::StageTiming { stage: stage.as_str().to_owned(), done_ms }
}

/// Describes a session that only exists as a record.
pub(crate) fn of_record(id: &SessionId, record: &Record, ending: Ending) -> session::Session {
    session::Session {
        id: id.clone(),
        container_id: id.to_string(),
        status: status_of(ending.reason),
        mode: record.spec.mode.unwrap_or_default(),
        action_mode: Default::default(),
        owner: record.owner.clone(),
        created_at: record.created_at,
        expires_at: None,
        idle_ends_at: None,
        agent_acted_at: None,
        end_reason: Some(ending.reason),
        ended_at: Some(ending.at),
        last_picture: false,
        error: None,
        timings: Vec::new(),
        resources: None,
        egress: session::Egress::default(),
        forwards: Vec::new(),
        tasks: 0,
        agent_status: String::new(),
        browser_window: None,
        control: Lease::default().describe(false, ""),
        browser_view: Default::default(),
        private_sign_in: None,
        attached: record.attached.clone(),
        notes: spec::notes(record),
        spec: spec::for_reply(&record.spec),
    }
}
