//! A job as a task.

use helmdeck_wire::job::{Job, JobArtifact, JobState};
use serde_json::{Map, Value, json};
use time::OffsetDateTime;

use super::version::Version;
use crate::public::Address;

/// A job, and what its task needs besides.
pub struct TaskView<'a> {
    pub version: Version,
    pub job: &'a Job,
    /// The context that it belongs to.
    pub context: &'a str,
    /// Where clients reach this server.
    pub address: &'a Address,
}

impl TaskView<'_> {
    /// The task as JSON.
    pub fn task(&self) -> Value {
        let Self { job, context, .. } = self;
        let mut metadata = json!({
            "pack": job.pack, "version": job.version, "progress": job.progress,
            "duration_ms": job.duration_ms,
        });
        if let (Some(session), Value::Object(fields)) = (&job.session_id, &mut metadata) {
            fields.insert("_session_id".to_owned(), json!(session));
        }
        let mut task = json!({
            "id": job.job_id, "contextId": context, "status": self.status(),
            "artifacts": self.artifacts(), "metadata": metadata,
        });
        self.mark(&mut task, "task");
        task
    }

    fn status(&self) -> Map<String, Value> {
        let Self { job, version, .. } = self;
        let changed = job.ended_at.or(job.started_at).unwrap_or(job.created_at);
        let mut status = Map::new();
        status.insert("state".to_owned(), version.state(job).into());
        status.insert("timestamp".to_owned(), timestamp(changed).into());
        let failure = job.error.as_ref().map(ToString::to_string);
        if let Some(text) = failure.or_else(|| job.message.clone()) {
            status.insert("message".to_owned(), self.agent_message(&text));
        }
        status
    }

    /// The task as the first message of a stream.
    pub fn begun(&self) -> Value {
        self.wrapped("task", self.task())
    }

    /// What a stream reports when the job has changed.
    pub fn changes(&self) -> Vec<Value> {
        let ended = self.job.state != JobState::Working;
        let update = || json!({ "taskId": self.job.job_id, "contextId": self.context });
        let with = |kind: &str, name: &str, value: Value| {
            let mut update = update();
            if let Value::Object(fields) = &mut update {
                fields.insert(name.to_owned(), value);
                if name == "status" && self.version == Version::V03 {
                    fields.insert("final".to_owned(), ended.into());
                }
            }
            self.mark(&mut update, kind);
            update
        };
        let files = if ended { self.artifacts() } else { Vec::new() };
        let files = files.into_iter().map(|artifact| {
            self.wrapped("artifactUpdate", with("artifact-update", "artifact", artifact))
        });
        let status = with("status-update", "status", Value::Object(self.status()));
        files.chain([self.wrapped("statusUpdate", status)]).collect()
    }

    /// Version 1.0 has the kind of a message around it.
    fn wrapped(&self, kind: &str, value: Value) -> Value {
        match self.version {
            Version::V1 => Value::Object(Map::from_iter([(kind.to_owned(), value)])),
            Version::V03 => value,
        }
    }

    /// Version 0.3 has the kind of an object in it.
    fn mark(&self, object: &mut Value, kind: &str) {
        if let (Version::V03, Value::Object(fields)) = (self.version, object) {
            fields.insert("kind".to_owned(), kind.into());
        }
    }

    fn agent_message(&self, text: &str) -> Value {
        let mut part = json!({ "text": text });
        self.mark(&mut part, "text");
        let role = match self.version {
            Version::V1 => "ROLE_AGENT",
            Version::V03 => "agent",
        };
        let mut message = json!({
            "messageId": format!("{}-status", self.job.job_id),
            "contextId": self.context,
            "taskId": self.job.job_id,
            "role": role,
            "parts": [part],
        });
        self.mark(&mut message, "message");
        message
    }

    /// The output and the files of a job.
    fn artifacts(&self) -> Vec<Value> {
        let output = self.job.output.as_ref().map(|output| {
            let mut part = match self.version {
                Version::V1 => json!({ "data": output, "mediaType": "application/json" }),
                Version::V03 => json!({ "data": output }),
            };
            self.mark(&mut part, "data");
            json!({ "artifactId": "output", "name": self.job.pack, "parts": [part] })
        });
        let files = self.job.artifacts.iter().map(|file| self.file(file));
        output.into_iter().chain(files).collect()
    }

    fn file(&self, file: &JobArtifact) -> Value {
        let JobArtifact { key, url, content_type, .. } = file;
        let url = if url.starts_with('/') { self.address.url(url) } else { url.clone() };
        let name = key.rsplit('/').next().unwrap_or(key);
        let mut part = match self.version {
            Version::V1 => json!({ "url": url, "filename": name, "mediaType": content_type }),
            Version::V03 => {
                json!({ "file": { "uri": url, "name": name, "mimeType": content_type } })
            }
        };
        self.mark(&mut part, "file");
        json!({ "artifactId": key, "name": name, "parts": [part] })
    }
}

/// The context of a job: its workspace or session, or else the job itself. It never changes.
pub fn context_of(job: &Job, input: &Value) -> String {
    let named = |field: &str| input.get(field).and_then(Value::as_str);
    let named = named("workspace").or_else(|| named("_session_id"));
    named.unwrap_or(job.job_id.as_str()).to_owned()
}

/// A time with milliseconds, in UTC.
fn timestamp(at: OffsetDateTime) -> String {
    let at = at.to_offset(time::UtcOffset::UTC);
    let (date, milliseconds) = (at.date(), at.millisecond());
    let (hour, minute, second) = at.to_hms();
    format!("{date}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_milliseconds() {
        let at = OffsetDateTime::UNIX_EPOCH + time::Duration::milliseconds(61_005);
        assert_eq!(timestamp(at), "1970-01-01T00:01:01.005Z");
    }
}
