//! The two versions of the protocol, which one endpoint answers.

use helmdeck_wire::job::{Job, JobState};

/// A version of the protocol. A request's method tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// 1.0.
    V1,
    /// 0.3.
    V03,
}

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Run a skill.
    Send,
    /// Run a skill and follow its task.
    Stream,
    /// Follow a task.
    Subscribe,
    /// Show a task.
    Get,
    /// Cancel a task.
    Cancel,
    /// A list of tasks, which this server does not have here.
    List,
    /// Push notifications, for which packs have webhooks instead.
    Push,
    /// A card for authenticated clients, which is the same as the public one.
    ExtendedCard,
}

impl Version {
    /// Its number.
    pub fn name(self) -> &'static str {
        match self {
            Self::V1 => "1.0",
            Self::V03 => "0.3",
        }
    }

    /// Whether a client may ask for this version. Patches do not matter.
    pub fn is_known(text: &str) -> bool {
        let mut parts = text.trim().split('.');
        matches!((parts.next(), parts.next()), (Some("1"), Some("0")) | (Some("0"), Some("3")))
    }

    /// The state of a task.
    pub fn state(self, job: &Job) -> &'static str {
        let (new, old) = match job.state {
            JobState::Working if job.started_at.is_none() => ("TASK_STATE_SUBMITTED", "submitted"),
            JobState::Working => ("TASK_STATE_WORKING", "working"),
            JobState::Completed => ("TASK_STATE_COMPLETED", "completed"),
            JobState::Failed => ("TASK_STATE_FAILED", "failed"),
            JobState::Cancelled => ("TASK_STATE_CANCELED", "canceled"),
        };
        match self {
            Self::V1 => new,
            Self::V03 => old,
        }
    }
}

impl Method {
    /// The method with this name, and the version that has it.
    pub fn named(name: &str) -> Option<(Self, Version)> {
        use Version::{V1, V03};
        Some(match name {
            "SendMessage" => (Self::Send, V1),
            "GetTask" => (Self::Get, V1),
            "CancelTask" => (Self::Cancel, V1),
            "ListTasks" => (Self::List, V1),
            "SendStreamingMessage" => (Self::Stream, V1),
            "SubscribeToTask" => (Self::Subscribe, V1),
            "GetExtendedAgentCard" => (Self::ExtendedCard, V1),
            "message/send" => (Self::Send, V03),
            "tasks/get" => (Self::Get, V03),
            "tasks/cancel" => (Self::Cancel, V03),
            "message/stream" => (Self::Stream, V03),
            "tasks/resubscribe" => (Self::Subscribe, V03),
            "agent/getAuthenticatedExtendedCard" => (Self::ExtendedCard, V03),
            name if name.starts_with("tasks/pushNotificationConfig/") => (Self::Push, V03),
            name if name.contains("TaskPushNotificationConfig") => (Self::Push, V1),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_names_its_version() {
        assert_eq!(Method::named("SendMessage"), Some((Method::Send, Version::V1)));
        assert_eq!(Method::named("message/send"), Some((Method::Send, Version::V03)));
        assert_eq!(
            Method::named("tasks/pushNotificationConfig/set"),
            Some((Method::Push, Version::V03))
        );
        assert_eq!(
            Method::named("CreateTaskPushNotificationConfig"),
            Some((Method::Push, Version::V1))
        );
        assert_eq!(Method::named("tasks/send"), None);
    }

    #[test]
    fn patches_of_a_version_do_not_matter() {
        for known in ["1.0", "1.0.0", "0.3", "0.3.0", " 1.0 "] {
            assert!(Version::is_known(known), "{known}");
        }
        for unknown in ["", "1", "1.1", "0.2.5", "2.0", "x"] {
            assert!(!Version::is_known(unknown), "{unknown}");
        }
    }
}
