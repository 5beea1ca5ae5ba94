//! Errors of packs.

use helmdeck_sessions::SessionError;
use helmdeck_store::{
    StoreError,
    vault::{Redactor, VaultError},
};
use helmdeck_wire::{ErrorBody, ErrorCode, error::with_causes};

/// Result of a pack.
pub type PackResult<T> = Result<T, PackError>;

/// How much of a failed program's output an error quotes.
const MAX_QUOTE: usize = 4096;
/// How long to wait for other work to end, in seconds.
pub(crate) const RETRY_S: u64 = 5;

/// Why a pack failed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{}", .body.message)]
pub struct PackError {
    body: Box<ErrorBody>,
    /// Whether a server was not reached, or broke off the connection.
    unreached: bool,
}

impl PackError {
    /// An error with a code and a message.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let retryable = Some(code.is_transient());
        ErrorBody { retryable, ..ErrorBody::new(code, message) }.into()
    }

    /// An invalid value of a field.
    pub fn invalid(field: &str, message: impl Into<String>) -> Self {
        let mut error = Self::new(ErrorCode::InvalidInput, message);
        error.body.field = Some(field.to_owned());
        error
    }

    /// A failure of the pack, or of something that it uses.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::HandlerFailed, message)
    }

    /// A failed program, with the end of what it wrote. Secrets are replaced before it is cut: the rest
    /// of one would not be recognised.
    pub fn program(name: &str, status: &str, output: &str, redactor: &Redactor) -> Self {
        let output = redactor.apply(output.trim());
        let start = output.len().saturating_sub(MAX_QUOTE);
        let start = (start..=output.len()).find(|at| output.is_char_boundary(*at)).unwrap_or(0);
        let quote = output.get(start..).unwrap_or_default();
        let cut = if start > 0 { "… " } else { "" };
        Self::failed(format!("{name} failed ({status}): {cut}{quote}"))
    }

    /// Adds what the caller should do next.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.body.hint = Some(hint.into());
        self
    }

    /// Says that the same call fails again.
    pub fn permanent(mut self) -> Self {
        self.body.retryable = Some(false);
        self
    }

    /// Adds how long to wait before trying again.
    pub fn retry_after_s(self, seconds: u64) -> Self {
        Self { body: Box::new(self.body.retry_after(seconds)), ..self }
    }

    /// Says that a server was not reached, or broke off the connection.
    pub(crate) fn unreached(self) -> Self {
        Self { unreached: true, ..self }
    }

    /// Whether a server was not reached, or broke off the connection.
    pub(crate) fn is_unreached(&self) -> bool {
        self.unreached
    }

    /// Changes its message.
    pub fn map_message(mut self, change: impl Fn(&str) -> String) -> Self {
        self.body.message = change(&self.body.message);
        self
    }

    /// Changes its texts.
    pub fn map_text(mut self, change: impl Fn(&str) -> String) -> Self {
        self.body.message = change(&self.body.message);
        self.body.hint = self.body.hint.as_deref().map(change);
        self
    }

    /// The error with a code that jobs end with.
    pub fn of_job(mut self) -> Self {
        let code = job_code(self.body.error);
        if code != self.body.error {
            let retryable = self.body.retry_after_s.is_some() || code.is_transient();
            (self.body.error, self.body.retryable) = (code, Some(retryable));
        }
        self
    }

    /// The code.
    pub fn code(&self) -> ErrorCode {
        self.body.error
    }

    /// The error as clients see it.
    pub fn body(&self) -> &ErrorBody {
        &self.body
    }
}

/// The code that a job ends with when a part of helmdeck fails with `code`. Jobs have few codes, which the
/// guide lists; the message says what exactly happened.
pub fn job_code(code: ErrorCode) -> ErrorCode {
    use ErrorCode::*;
    match code {
        InvalidInput | SessionUnavailable | CommandNotFound | NotDesktopMode | ControlHeld
        | ControlTaken | Forbidden | CredentialInvalid | SchemaMismatch | EgressDenied
        | NoModelKey | NotReady | HandlerFailed | InvalidOutput | ArtifactNotFound
        | ArtifactFailed | QuotaExceeded | Timeout | ResourceExhausted | DiskFull | Cancelled
        | Internal => code,

        InvalidJson | PayloadTooLarge | InvalidRole | MethodNotAllowed | MissingSessionId
        | InvalidExtension | InvalidButton | InvalidCoordinates | InvalidKeys | MissingKeys
        | InvalidDirection | InvalidAmount | InvalidRegion | InvalidModifier | MissingModifiers
        | MissingText | InvalidText | InvalidSeconds | InvalidGeometry | InvalidFormat
        | MissingCommand | MissingWindowId | InvalidWindowId | MissingUrl | MissingScript
        | MissingSelector | InvalidSelector | InvalidPath | FileNotFound | RangeNotSatisfiable
        | FileExists | NotAFile | FileDenied | UnknownPack | UnknownJob | ModelNotFound
        | Duplicate | InvalidPlaintextB64 | MissingSubject | InvalidLink => InvalidInput,

        NotFound | SessionStarting | SessionEnded | SessionOutdated | CapacityReached
        | CreateFailed | GuestLost | DisplayLost | BrowserLost | BrowserRestarted
        | CdpUnavailable | AlreadyAttached | ProfileInUse | Overloaded | Unavailable => {
            SessionUnavailable
        }

        WindowNotFound | FocusRefused | ElementNotFound | ElementNotActionable | TargetNotFound
        | TargetAmbiguous | ExpectationFailed | TabNotFound => SchemaMismatch,

        PictureTooLarge | CommandFailed | NavigationFailed | ScriptFailed | HostNotFound
        | ConnectionRefused | PageCrashed | ProviderError | SessionAttached | PortInUse => {
            HandlerFailed
        }

        MissingCredentials | InvalidCredentials | MissingBearer | InvalidToken | Csrf
        | ForeignOrigin | InvalidTicket | NotDriving | PersonRequired | ForwardDenied => Forbidden,

        TicketInUse | TooManyConnections | TooManyAttempts | TaskLimitReached | QuotaReached
        | RateLimited | BudgetExceeded => QuotaExceeded,

        Private => ControlHeld,
        VisionRunning => NotReady,
        OutOfMemory | SessionDiskFull => ResourceExhausted,
    }
}

impl From<ErrorBody> for PackError {
    fn from(body: ErrorBody) -> Self {
        let retryable = body.retryable.or(Some(body.error.is_transient()));
        Self { body: Box::new(ErrorBody { retryable, ..body }), unreached: false }
    }
}

impl From<SessionError> for PackError {
    fn from(error: SessionError) -> Self {
        let message = error.to_string();
        match error.public_code() {
            ErrorCode::NotFound
            | ErrorCode::SessionStarting
            | ErrorCode::SessionEnded
            | ErrorCode::SessionOutdated
            | ErrorCode::CreateFailed
            | ErrorCode::GuestLost => Self::new(ErrorCode::SessionUnavailable, message),
            ErrorCode::OutOfMemory => Self::new(ErrorCode::ResourceExhausted, message),
            ErrorCode::CapacityReached => {
                Self::new(ErrorCode::SessionUnavailable, message).retry_after_s(RETRY_S)
            }
            ErrorCode::QuotaReached => Self::new(ErrorCode::QuotaExceeded, message),
            ErrorCode::Internal => Self::internal(&error),
            code => match error {
                SessionError::Refused(body) => body.into(),
                SessionError::ControlHeld { holder, .. }
                | SessionError::ControlTaken { holder, .. } => {
                    ErrorBody::new(code, message).held_by(&holder).into()
                }
                _ => Self::new(code, message),
            },
        }
    }
}

impl From<StoreError> for PackError {
    fn from(error: StoreError) -> Self {
        match error.public_code() {
            ErrorCode::Internal => Self::internal(&error),
            code => Self::new(code, error.to_string()),
        }
    }
}

impl From<VaultError> for PackError {
    fn from(error: VaultError) -> Self {
        match error.public_code() {
            ErrorCode::Internal => Self::internal(&error),
            // To the caller of a pack, a missing credential is a missing precondition.
            ErrorCode::NotFound => Self::new(ErrorCode::CredentialInvalid, error.to_string()),
            code => Self::new(code, error.to_string()),
        }
    }
}

impl PackError {
    /// An internal error. The log has the cause.
    pub fn internal(error: &dyn std::error::Error) -> Self {
        tracing::error!(error = with_causes(error), "A pack failed unexpectedly");
        Self::new(ErrorCode::Internal, "internal server error")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_program_is_quoted_by_the_end_of_its_output() {
        let none = Redactor::default();
        let error = PackError::program("git", "exit 128", "fatal: not a repository\n", &none);
        assert_eq!(error.to_string(), "git failed (exit 128): fatal: not a repository");
        assert_eq!(error.code(), ErrorCode::HandlerFailed);
        let long = "é".repeat(4000) + "end";
        let message = PackError::program("x", "exit 1", &long, &none).to_string();
        assert!(message.len() < 4200 && message.ends_with("end"), "{}", message.len());
    }

    #[test]
    fn a_quoted_output_has_no_part_of_a_secret_where_it_is_cut() {
        let mut redactor = Redactor::default();
        redactor.add_bytes(b"sk-0123456789");
        for rest in MAX_QUOTE - 20..=MAX_QUOTE + 20 {
            let output = format!("sk-0123456789{}", "x".repeat(rest));
            let message = PackError::program("x", "exit 1", &output, &redactor).to_string();
            assert!(!message.contains(|c: char| c.is_ascii_digit() && c != '1'), "{message}");
        }
    }

    #[test]
    fn an_error_says_whether_to_try_again() {
        let retryable = |code| PackError::new(code, "x").body().retryable;
        assert_eq!(retryable(ErrorCode::SessionUnavailable), Some(true));
        assert_eq!(retryable(ErrorCode::InvalidInput), Some(false));
        let full = PackError::from(SessionError::CapacityReached { limit: 3 });
        assert_eq!(
            (full.code(), full.body().retryable),
            (ErrorCode::SessionUnavailable, Some(true))
        );
        assert_eq!((full.body().retry_after_s, full.body().retry_after), (Some(5), Some(5)));
    }

    /// The lines of the guide's table of errors: code, and whether to try again.
    fn documented() -> Vec<(String, bool)> {
        let guide = include_str!("../../../docs/packs-guide.md");
        let table = guide.split("\n## Errors\n").nth(1).unwrap();
        let rows = table.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
        let mut listed = Vec::new();
        for row in rows.take_while(|line| line.starts_with('|')) {
            let cells: Vec<_> = row.trim_matches('|').split(" | ").map(str::trim).collect();
            let [codes, again, meaning] = cells[..] else { panic!("three cells: {row}") };
            assert!(["yes", "no"].contains(&again) && !meaning.is_empty(), "{row}");
            for code in codes.split(", ") {
                listed.push((code.trim_matches('`').to_owned(), again == "yes"));
            }
        }
        listed
    }

    #[test]
    fn every_code_that_a_job_ends_with_is_in_the_guide_with_whether_to_try_again() {
        let documented = documented();
        let mut codes = Vec::new();
        for code in ErrorCode::ALL {
            let error = PackError::new(*code, "x").of_job();
            let row = documented.iter().find(|(name, _)| name == error.code().as_str());
            let (_, again) = row.unwrap_or_else(|| panic!("{code} ends as {}", error.code()));
            assert_eq!(error.body().retryable, Some(*again), "{code} ends as {}", error.code());
            assert_eq!(job_code(error.code()), error.code(), "{code}");
            codes.push(error.code().as_str());
        }
        for (name, _) in &documented {
            assert!(codes.contains(&name.as_str()), "no job ends with {name}");
        }
    }

    #[test]
    fn an_error_of_a_guest_keeps_its_message_and_hint_as_an_error_of_a_job() {
        let body = ErrorBody::new(ErrorCode::BrowserRestarted, "the browser crashed");
        let error = PackError::from(ErrorBody { hint: Some("again".to_owned()), ..body }).of_job();
        assert_eq!(error.code(), ErrorCode::SessionUnavailable);
        assert_eq!(
            (error.to_string().as_str(), error.body().retryable),
            ("the browser crashed", Some(true))
        );
        assert_eq!(error.body().hint.as_deref(), Some("again"));
    }

    #[test]
    fn an_error_about_control_says_who_has_it() {
        let (id, holder) = (helmdeck_wire::SessionId::new("sess-1"), "ann".to_owned());
        let held = PackError::from(SessionError::ControlHeld { id, holder });
        let body = held.body();
        assert_eq!((body.holder.as_deref(), body.retry_after_s), (Some("ann"), Some(5)));
        assert!(body.hint.is_some() && body.retryable == Some(true), "{body:?}");
    }
}
