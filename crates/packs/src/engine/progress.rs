//! How far a job is.

use helmdeck_wire::{
    SessionId,
    job::{Job, JobArtifact, JobState},
};
use tokio::sync::watch;

use crate::Secrets;

/// Longest message of progress.
const MAX_MESSAGE: usize = 500;

/// How far a job is.
#[derive(Default)]
pub struct Progress {
    pub(super) percent: u8,
    pub(super) message: Option<String>,
    pub(super) artifacts: Vec<JobArtifact>,
    latest: Option<watch::Sender<Job>>,
    secrets: Option<Secrets>,
}

impl Progress {
    /// Progress of a job that has not begun. Changes are published.
    pub(super) fn new(latest: watch::Sender<Job>) -> Self {
        Self { latest: Some(latest), ..Self::default() }
    }

    /// Sets the done part, from 0 to 1, and what comes next. Progress never goes back.
    pub fn set(&mut self, fraction: f64, message: String) {
        let percent = (fraction.clamp(0.0, 1.0) * 100.0) as u8;
        self.percent = self.percent.max(percent.min(99));
        let message = match &self.secrets {
            Some(secrets) => secrets.redactor().apply(&message).into_owned(),
            None => message,
        };
        self.message = Some(message.chars().take(MAX_MESSAGE).collect());
        if let Some(latest) = &self.latest {
            latest.send_modify(|job| {
                job.progress = self.percent;
                job.message.clone_from(&self.message);
            });
        }
    }

    /// Adds a file that the job created.
    pub fn add_artifact(&mut self, artifact: JobArtifact) {
        self.artifacts.push(artifact);
        if let Some(latest) = &self.latest {
            latest.send_modify(|job| job.artifacts.clone_from(&self.artifacts));
        }
    }

    /// Records the session that the job works in.
    pub fn set_session(&mut self, id: &SessionId) {
        if let Some(latest) = &self.latest {
            latest.send_modify(|job| {
                job.session_id = Some(id.clone());
                job.next_session_id = Some(id.clone());
            });
        }
    }

    /// Changes from now on.
    pub(super) fn changes(&self) -> Option<watch::Receiver<Job>> {
        self.latest.as_ref().map(watch::Sender::subscribe)
    }

    /// Replaces secrets in its messages from now on.
    pub fn redact(&mut self, secrets: Secrets) {
        self.secrets = Some(secrets);
    }

    /// Writes it into a job that works.
    pub fn write(&self, job: &mut Job) {
        if job.state == JobState::Working && self.message.is_some() {
            job.progress = self.percent;
            job.message.clone_from(&self.message);
            job.artifacts.clone_from(&self.artifacts);
        }
    }
}
