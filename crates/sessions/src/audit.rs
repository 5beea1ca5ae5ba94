//! What the audit log keeps of sessions: their starts and ends, takeovers, private sign-ins,
//! commands, files of people, and refused connections. The journal has every action.

use helmdeck_egress::{Decision, Verdict};
use helmdeck_store::{Audit, AuditEntry, End};
use helmdeck_wire::{
    SessionId,
    audit::Severity,
    exec::ExecId,
    history::{ActionRecord, Actor},
    session::EndReason,
};

use crate::{Caller, Session, history::Attempt};

impl Session {
    fn entry(&self, event_type: &'static str) -> AuditEntry {
        AuditEntry::new(event_type).session(self.id())
    }

    pub(crate) fn audit_created(&self, caller: &Caller) {
        let (inner, spec) = (&self.inner, &self.inner.record.spec);
        let created = self.entry("session.created").actor(caller).target(&spec.label);
        inner.audit.record(
            created
                .detail("mode", serde_json::to_value(self.mode()).unwrap_or_default())
                .detail("owner", inner.record.owner.as_str())
                .detail("attached", self.attachment().is_some()),
        );
        if let Some(profile) = &spec.profile {
            let used = self.entry("profile.used").actor(caller).target(profile.as_str());
            inner.audit.record(used);
        }
    }

    /// Recorded once, when the session is completely removed.
    pub(crate) fn audit_ended(&self) {
        let Some(ending) = self.ended() else { return };
        let inner = &self.inner;
        let mut entry = self
            .entry("session.ended")
            .target(&inner.record.spec.label)
            .detail("reason", ending.reason.as_str())
            .detail("owner", inner.record.owner.as_str())
            .severity(severity(ending.reason));
        if let Some(by) = inner.ended_by.lock().take() {
            entry = entry.actor(by);
        }
        inner.audit.record(entry);
    }

    /// A command that has started. Its arguments may be secret.
    pub(crate) fn audit_exec(&self, attempt: &Attempt, id: &ExecId) {
        let command = attempt.detail.get("command").and_then(|command| command.as_str());
        let entry = self.entry("exec.started").actor(&attempt.by);
        let entry = entry.target(command.unwrap_or_default()).detail("exec_id", id.as_str());
        self.inner.audit.record(entry);
    }

    /// An action of the journal, if it belongs in the audit log.
    pub(crate) fn audit_action(&self, record: &ActionRecord) {
        let Some(event_type) = event_type(&record.action, &record.by) else { return };
        let detail = |name: &str| record.detail.get(name).cloned().unwrap_or_default();
        let refused = record.outcome != "ok";
        let severity = if refused { Severity::Warning } else { Severity::Info };
        let mut entry = self.entry(event_type).actor(&record.by).severity(severity);
        if refused {
            entry = entry.detail("outcome", record.outcome.as_str());
        }
        if let Some(path) = detail("path").as_str() {
            entry = entry.target(path);
        }
        self.inner
            .audit
            .record(entry.detail("size", detail("size")).detail("discard", detail("discard")));
    }
}

/// The event of an action; `None` if only the journal keeps it.
fn event_type(action: &str, by: &Actor) -> Option<&'static str> {
    Some(match action {
        "take_control" => "control.taken",
        "release_control" => "control.released",
        "start_private_sign_in" => "private_sign_in.started",
        "end_private_sign_in" => "private_sign_in.ended",
        "open_terminal" => "terminal.opened",
        "file_download" if by.is_person() => "file.downloaded",
        "file_upload" if by.is_person() => "file.uploaded",
        _ => return None,
    })
}

/// How important the end of a session is.
fn severity(reason: EndReason) -> Severity {
    match reason {
        EndReason::StartFailed
        | EndReason::DisplayLost
        | EndReason::BrowserLost
        | EndReason::GuestLost
        | EndReason::OutOfMemory => Severity::Warning,
        _ => Severity::Info,
    }
}

/// Records a session that ended while no server was running.
pub(crate) fn found(audit: &Audit, end: &End) {
    let entry = AuditEntry::new("session.ended").session(&end.session_id);
    let entry = entry.detail("reason", end.reason.as_str()).detail("owner", end.owner.as_str());
    audit.record(entry.detail("found_later", true).severity(severity(end.reason)));
}

/// Records a refused connection. Repetitions within a minute become one row.
pub(crate) fn denied(audit: &Audit, id: &SessionId, decision: &Decision) {
    let Verdict::Denied(rule) = decision.verdict else { return };
    let target = format!("{}:{}", decision.host, decision.port);
    let entry = AuditEntry::new("egress.denied")
        .session(id)
        .severity(Severity::Warning)
        .target(&target)
        .detail("rule", rule.to_string())
        .detail("address", decision.address.map(|address| address.to_string()));
    audit.record_repeated(id.as_str(), &target, entry);
}
