//! What the audit log has of jobs.

use helmdeck_sessions::Caller;
use helmdeck_store::{Audit, AuditEntry, StoredJob};
use helmdeck_wire::{
    audit::Severity,
    job::{JobId, JobState},
};
use time::OffsetDateTime;

use crate::HttpClient;

/// Records how a job ended.
pub fn ended(audit: &Audit, caller: Option<&Caller>, job: &StoredJob) {
    let failed = job.state == JobState::Failed;
    let entry = AuditEntry::new("pack.ended")
        .target(&job.pack)
        .severity(if failed { Severity::Warning } else { Severity::Info })
        .detail("job_id", job.id.as_str())
        .detail("state", job.state.as_str())
        .detail("error", job.error.as_ref().map(|error| error.error.as_str()))
        .detail("duration_ms", job.view(OffsetDateTime::now_utc()).duration_ms);
    audit.record(match caller {
        Some(caller) => entry.actor(caller),
        None => entry.detail("owner", job.owner.as_str()),
    });
}

/// Records who cancelled a job.
pub fn cancelled(audit: &Audit, caller: &Caller, owner: &str, id: &JobId, pack: &str) {
    let entry = AuditEntry::new("job.cancelled").actor(caller).target(pack);
    audit.record(entry.detail("job_id", id.as_str()).detail("owner", owner));
}

/// The client of a job, with whose caller refused connections are recorded.
pub fn client(http: &HttpClient, audit: &Audit, caller: &Caller, job: &StoredJob) -> HttpClient {
    let (audit, caller) = (audit.clone(), caller.clone());
    let (id, pack) = (job.id.clone(), job.pack.clone());
    http.telling(move |target, why| {
        let target = target.to_string();
        let entry = AuditEntry::new("egress.denied")
            .actor(&caller)
            .severity(Severity::Warning)
            .target(&target)
            .detail("rule", why.to_string())
            .detail("pack", pack.as_str())
            .detail("job_id", id.as_str());
        audit.record_repeated(&caller.subject, &target, entry);
    })
}

/// The client of webhooks, whose refused connections are recorded.
pub fn client_of_webhooks(http: &HttpClient, audit: &Audit) -> HttpClient {
    let audit = audit.clone();
    http.telling(move |target, why| {
        let target = target.to_string();
        let entry = AuditEntry::new("egress.denied").severity(Severity::Warning).target(&target);
        let entry = entry.detail("rule", why.to_string()).detail("by", "webhook");
        audit.record_repeated("webhooks", &target, entry);
    })
}
