//! The closed set of public failures. Adding one is an API change and a changelog line.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::session::EndReason;

/// What an agent should do while a person has control.
pub const CONTROL_HINT: &str = "take screenshots to see what the person does; GET \
    /api/v1/sessions/{id}/control shows when control is released, and the message left for you";
/// How long to wait for a person, in seconds. People take their time.
pub const CONTROL_RETRY_S: u64 = 5;

/// The body of every failed request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBody {
    /// Error code, for programs.
    pub error: ErrorCode,
    /// What went wrong and what to do next, for people and models.
    pub message: String,
    /// The invalid field of the request, such as `path[1].y`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Allowed values of that field, or a description of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<String>,
    /// Who controls the session, if that is the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// What an agent should do next, if that is not obvious.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Seconds to wait before trying again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_s: Option<u64>,
    /// The same as `retry_after_s`, under an older name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
    /// Whether the same call may succeed later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
    /// Why the session ended, if that is the reason and still known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_reason: Option<EndReason>,
    /// When the session ended.
    #[serde(
        default,
        with = "time::serde::rfc3339::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub ended_at: Option<OffsetDateTime>,
}

impl ErrorBody {
    /// An error with a message.
    pub fn new(error: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            error,
            message: message.into(),
            field: None,
            allowed: Vec::new(),
            holder: None,
            hint: None,
            retry_after_s: None,
            retry_after: None,
            retryable: None,
            end_reason: None,
            ended_at: None,
        }
    }

    /// Adds the invalid field.
    pub fn of_field(self, field: impl Into<String>) -> Self {
        Self { field: Some(field.into()), ..self }
    }

    /// Adds how long to wait before trying again.
    pub fn retry_after(self, seconds: u64) -> Self {
        let wait = Some(seconds);
        Self { retry_after_s: wait, retry_after: wait, retryable: Some(true), ..self }
    }

    /// Adds who has control, and what an agent should do meanwhile.
    pub fn held_by(self, holder: &str) -> Self {
        let (holder, hint) = (Some(holder.to_owned()), Some(CONTROL_HINT.to_owned()));
        Self { holder, hint, ..self.retry_after(CONTROL_RETRY_S) }
    }
}

impl fmt::Display for ErrorBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.error, self.message)
    }
}

impl std::error::Error for ErrorBody {}

/// An error and its causes in one line, without repetitions.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.ends_with(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        cause = inner.source();
    }
    text
}

/// Declares each code: variant, name on the wire, and meaning.
macro_rules! error_codes {
    ($($variant:ident $name:literal $doc:literal)*) => {
        /// Why a request failed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum ErrorCode { $(#[doc = $doc] $variant,)* }

        impl ErrorCode {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The code as it is written in an error body.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The code with this name.
            pub fn named(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

error_codes! {
    InvalidJson "invalid_json" "The body is not JSON."
    InvalidInput "invalid_input" "A field is unknown, missing or has a value that is not allowed."
    PayloadTooLarge "payload_too_large" "The body is larger than the server accepts."
    MissingCredentials "missing_credentials" "The login has no user name or no password."
    InvalidCredentials "invalid_credentials" "User name or password is wrong."
    MissingBearer "missing_bearer" "The request has no bearer token."
    InvalidToken "invalid_token" "The bearer token is malformed, forged or expired."
    Forbidden "forbidden" "The token lacks the scope of this operation."
    Csrf "csrf" "A request with a cookie lacks the CSRF header."
    ForeignOrigin "foreign_origin" "The request comes from a page of another site."
    InvalidTicket "invalid_ticket" "The ticket is malformed, forged, expired, revoked or for another session."
    TicketInUse "ticket_in_use" "The ticket allows one connection at a time, and it is in use."
    InvalidRole "invalid_role" "The role is neither view nor control."
    ControlHeld "control_held" "A person drives the session; wait and try again. Reading still works."
    NotDriving "not_driving" "This needs control of the session: take it first."
    Private "private" "A person signs in privately; the browser is not available until that ends."
    ControlTaken "control_taken" "A person took control while the action was under way."
    PersonRequired "person_required" "Only a person may do this; the token belongs to an agent."
    TooManyConnections "too_many_connections" "The token, ticket or address has reached its limit of open connections."
    TooManyAttempts "too_many_attempts" "Too many failed logins; wait and try again."
    NotFound "not_found" "The resource does not exist or belongs to another owner."
    MethodNotAllowed "method_not_allowed" "The path does not support this method."
    MissingSessionId "missing_session_id" "The request names no session."
    NotDesktopMode "not_desktop_mode" "The session has no desktop."
    SessionAttached "session_attached" "Not available in an attached session: its programs, files and screen belong to the machine it runs on."
    AlreadyAttached "already_attached" "Another `helmdeck attach` is connected as this session."
    SessionStarting "session_starting" "The session is not ready yet."
    SessionEnded "session_ended" "The session has ended."
    SessionOutdated "session_outdated" "The session was created by another version of the server."
    TaskLimitReached "task_limit_reached" "The session has reached its `max_tasks` limit."
    CapacityReached "capacity_reached" "The server has reached its limit of sessions."
    ProfileInUse "profile_in_use" "Another session uses the profile."
    InvalidExtension "invalid_extension" "The upload is not a valid browser extension."
    QuotaReached "quota_reached" "The caller has reached its limit of sessions."
    CreateFailed "create_failed" "The session could not be started."
    GuestLost "guest_lost" "The session's guest no longer answers."
    DisplayLost "display_lost" "The session's display is gone."
    BrowserLost "browser_lost" "The session's browser is gone and could not be brought back."
    OutOfMemory "out_of_memory" "The session exceeded its memory limit and was ended."
    Timeout "timeout" "The operation exceeded its time limit."
    InvalidButton "invalid_button" "No such mouse button."
    InvalidCoordinates "invalid_coordinates" "A point is missing or off the screen."
    InvalidKeys "invalid_keys" "No such key."
    MissingKeys "missing_keys" "The request names no key."
    InvalidDirection "invalid_direction" "No such scroll direction."
    InvalidAmount "invalid_amount" "An amount is zero or negative."
    InvalidRegion "invalid_region" "The region has no area or lies off the screen."
    InvalidModifier "invalid_modifier" "No such modifier key."
    MissingModifiers "missing_modifiers" "The request names no modifier."
    MissingText "missing_text" "The request has no text to type."
    InvalidText "invalid_text" "The text holds a character that no key can type."
    InvalidSeconds "invalid_seconds" "A duration is zero or negative."
    InvalidGeometry "invalid_geometry" "The screen size is outside the supported range."
    PictureTooLarge "picture_too_large" "The picture is larger than 32 MiB: ask for a smaller one, or for JPEG."
    InvalidFormat "invalid_format" "No such picture format."
    MissingCommand "missing_command" "The request names no command."
    CommandNotFound "command_not_found" "The command does not exist in the session."
    CommandFailed "command_failed" "The command could not be started."
    MissingWindowId "missing_window_id" "The request names no window."
    InvalidWindowId "invalid_window_id" "The window id is not a number."
    WindowNotFound "window_not_found" "No window has this id."
    FocusRefused "focus_refused" "The window manager did not focus the window."
    MissingUrl "missing_url" "The request has no URL."
    MissingScript "missing_script" "The request has no script."
    MissingSelector "missing_selector" "The request names no element."
    InvalidSelector "invalid_selector" "The selector cannot be parsed."
    ElementNotFound "element_not_found" "The element did not appear in time; the message describes what the page shows."
    ElementNotActionable "element_not_actionable" "The element exists but cannot be used: hidden, covered, disabled or moving."
    TargetNotFound "target_not_found" "Nothing matches the target; the message lists the nearest names."
    TargetAmbiguous "target_ambiguous" "Several elements match the target equally well; the message lists them."
    ExpectationFailed "expectation_failed" "Something else than expected is under the point; nothing was done."
    NavigationFailed "navigation_failed" "The page could not be loaded."
    ScriptFailed "script_failed" "The script threw an error."
    EgressDenied "egress_denied" "The session may not reach this host; the message names the rule and what to do."
    HostNotFound "host_not_found" "The host name does not resolve."
    ConnectionRefused "connection_refused" "Nothing listens at this address; the message explains how to reach a server outside the session."
    ForwardDenied "forward_denied" "The caller may not forward this port; the message explains how to get permission."
    PortInUse "port_in_use" "A program in the session or another forward uses the port."
    TabNotFound "tab_not_found" "The tab does not exist."
    PageCrashed "page_crashed" "The page crashed or was closed during the call."
    BrowserRestarted "browser_restarted" "The browser crashed during the call and is restarting; try again."
    CdpUnavailable "cdp_unavailable" "The session's browser cannot be reached now."
    InvalidPath "invalid_path" "The path is malformed or leads outside the session's home."
    FileNotFound "file_not_found" "The file does not exist in the session."
    RangeNotSatisfiable "range_not_satisfiable" "The range lies outside the file."
    FileExists "file_exists" "A file with this name already exists."
    NotAFile "not_a_file" "The path is a folder where a file is expected, or a file where a folder is expected."
    FileDenied "file_denied" "The file's permissions do not allow access."
    SessionDiskFull "session_disk_full" "The session's disk is full."
    UnknownPack "unknown_pack" "No pack has this name; the message names the nearest."
    UnknownJob "unknown_job" "The job does not exist, has been removed, or belongs to another owner."
    NotReady "not_ready" "The job has no result yet, or the pack needs something that the server lacks."
    Cancelled "cancelled" "The job was cancelled."
    SessionUnavailable "session_unavailable" "A pack could not get a session to work in."
    HandlerFailed "handler_failed" "The pack, or a program or service that it uses, failed; the message quotes it."
    InvalidOutput "invalid_output" "A pack or program returned something other than it declares."
    SchemaMismatch "schema_mismatch" "What the pack works on is not in the expected state, such as a branch that moved."
    ArtifactFailed "artifact_failed" "An artifact could not be read or written."
    CredentialInvalid "credential_invalid" "A service rejected the credential."
    ResourceExhausted "resource_exhausted" "A program ran out of memory or disk."
    QuotaExceeded "quota_exceeded" "The caller has reached a limit; the message names it."
    ModelNotFound "model_not_found" "No provider has this model, or the id names no provider."
    NoModelKey "no_model_key" "The model's provider has no key; the message says how to add one."
    ProviderError "provider_error" "A provider of models failed or cannot be reached; the message quotes it."
    RateLimited "rate_limited" "A provider of models limits the rate of calls; wait and try again."
    BudgetExceeded "budget_exceeded" "The call could exceed the budget of the caller or of its run; it was not made."
    VisionRunning "vision_running" "A vision run is under way in the session; wait for its end, or stop it."
    Duplicate "duplicate" "The owner has a credential with this name."
    InvalidPlaintextB64 "invalid_plaintext_b64" "The secret is not base64."
    MissingSubject "missing_subject" "The grant names no subject."
    ArtifactNotFound "artifact_not_found" "The artifact does not exist, has expired or belongs to another owner."
    InvalidLink "invalid_link" "The link is altered, expired or revoked; ask for a new one."
    DiskFull "disk_full" "The server's disk is full; nothing was stored and nothing was lost."
    Overloaded "overloaded" "The server is overloaded; try again."
    Unavailable "unavailable" "A part of the server is not ready."
    Internal "internal" "An internal error; the log has the details under the request id."
}

impl ErrorCode {
    /// Whether the same call may succeed later, without a change by the caller.
    pub fn is_transient(self) -> bool {
        matches!(
            self,
            Self::ControlHeld
                | Self::ControlTaken
                | Self::Private
                | Self::TooManyConnections
                | Self::TooManyAttempts
                | Self::SessionStarting
                | Self::CapacityReached
                | Self::Timeout
                | Self::BrowserRestarted
                | Self::CdpUnavailable
                | Self::NotReady
                | Self::SessionUnavailable
                | Self::ArtifactFailed
                | Self::ResourceExhausted
                | Self::RateLimited
                | Self::VisionRunning
                | Self::DiskFull
                | Self::Overloaded
                | Self::Unavailable
        )
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_spelled_the_same_in_json_and_in_prose() {
        for code in [ErrorCode::InvalidJson, ErrorCode::NotDesktopMode, ErrorCode::MissingSessionId]
        {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }
}
