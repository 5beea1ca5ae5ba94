//! API errors: one code, one status, one message.

use std::{error::Error, net::SocketAddr, path::PathBuf, sync::Arc};

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use helmdeck_gateway::GatewayError;
use helmdeck_packs::PackError;
use helmdeck_sessions::{Ending, SessionError};
use helmdeck_store::{StoreError, backup::BackupError, vault::VaultError};
use helmdeck_wire::{
    ErrorBody, ErrorCode,
    error::{CONTROL_HINT, CONTROL_RETRY_S},
    session::SessionSpec,
};
use http::{HeaderValue, StatusCode, header};

use crate::{input, password::PasswordError, tls::TlsError, token::TokenError};

/// Result of a handler.
pub type ApiResult<T> = Result<T, ApiError>;

/// Why the server did not start, or stopped.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// A directory or file of the server cannot be created or read.
    #[error("{path} cannot be used")]
    File {
        /// The path.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// Another server uses the data directory.
    #[error(
        "another helmdeck server (pid {pid}) uses {data_dir}: stop it, or choose another \
         directory with HELMDECK_DATA_DIR"
    )]
    AlreadyRunning {
        /// Process id of the other server.
        pid: String,
        /// The data directory.
        data_dir: PathBuf,
    },
    /// The address is in use or not available.
    #[error("cannot listen on {addr}: stop what uses it, or choose another with HELMDECK_ADDR")]
    Listen {
        /// The address.
        addr: SocketAddr,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// The password is set in the configuration, so a reset would not last.
    #[error("HELMDECK_ADMIN_PASSWORD is set: change it there, or unset it first")]
    PasswordConfigured,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A backup cannot be made or restored.
    #[error(transparent)]
    Backup(#[from] BackupError),
    /// The vault cannot be opened.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// Tokens cannot be signed.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// Connections cannot be encrypted.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// Passwords cannot be hashed.
    #[error(transparent)]
    Password(#[from] PasswordError),
    /// Sandboxes of an earlier server could not be stopped.
    #[error("sandboxes of an earlier server cannot be stopped")]
    CleanUp(#[from] SessionError),
    /// Jobs of an earlier server could not be read.
    #[error("jobs of an earlier server cannot be read")]
    Jobs(#[source] PackError),
    /// TLS to other servers cannot be set up.
    #[error("TLS to other servers cannot be set up")]
    HttpClient(#[source] rustls::Error),
    /// The log could not be set up.
    #[error("the log cannot be set up")]
    Log(#[source] Box<dyn Error + Send + Sync>),
}

/// A failed request. The client gets code and message; the source is only logged.
#[derive(Debug)]
pub struct ApiError {
    pub code: ErrorCode,
    pub message: String,
    pub source: Option<Box<dyn Error + Send + Sync>>,
    /// Seconds to wait before trying again.
    pub retry_after: Option<u64>,
    /// Who has control of the session, if that is the reason.
    pub holder: Option<String>,
    /// How the session ended, if that is the reason.
    pub ended: Option<Ending>,
    /// The invalid field.
    pub field: Option<String>,
    /// Allowed values of that field.
    pub allowed: Vec<String>,
    /// What an agent should do next.
    pub hint: Option<String>,
    /// Whether the same call may succeed later.
    pub retryable: Option<bool>,
    /// Size of the file, if a range lies outside it.
    pub file_size: Option<u64>,
}

impl ApiError {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            code,
            message,
            source: None,
            retry_after: None,
            holder: None,
            ended: None,
            field: None,
            allowed: Vec::new(),
            hint: None,
            retryable: None,
            file_size: None,
        }
    }

    /// The error body for the client.
    pub fn body(&self) -> ErrorBody {
        let held = self.holder.is_some();
        ErrorBody {
            field: self.field.clone(),
            allowed: self.allowed.clone(),
            holder: self.holder.clone(),
            hint: self.hint.clone().or(held.then(|| CONTROL_HINT.to_owned())),
            retry_after_s: self.retry_after,
            retry_after: self.retry_after,
            retryable: self.retryable.or_else(|| Some(self.code.is_transient())),
            end_reason: self.ended.map(|ending| ending.reason),
            ended_at: self.ended.map(|ending| ending.at),
            ..ErrorBody::new(self.code, self.message.as_str())
        }
    }

    /// An internal error. The client gets only the request id.
    pub fn internal(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let message = "internal server error";
        Self::new(ErrorCode::Internal, message).because(source)
    }

    /// Attaches the cause, for the log.
    pub fn because(self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { source: Some(source.into()), ..self }
    }

    /// Adds who has control, and what an agent should do.
    pub fn held_by(self, holder: &str) -> Self {
        Self { holder: Some(holder.to_owned()), ..self }.retry_after(CONTROL_RETRY_S)
    }

    /// An error that another part described.
    fn of_body(body: ErrorBody) -> Self {
        Self {
            hint: body.hint,
            retryable: body.retryable,
            retry_after: body.retry_after,
            holder: body.holder,
            field: body.field,
            allowed: body.allowed,
            ..Self::new(body.error, body.message)
        }
    }

    /// Adds the invalid field and its allowed values.
    pub fn of_field(self, field: &str, allowed: Vec<String>) -> Self {
        let field = (!field.is_empty()).then(|| field.to_owned());
        Self { field, allowed, ..self }
    }

    pub fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }
}

impl From<SessionError> for ApiError {
    fn from(error: SessionError) -> Self {
        let code = match &error {
            SessionError::InvalidSpec { field, .. } => {
                let code = input::code_of::<SessionSpec>(field);
                return Self::new(code, error.to_string()).of_field(field, Vec::new());
            }
            SessionError::RangeNotSatisfiable { size } => {
                let file_size = Some(*size);
                return Self { file_size, ..Self::new(error.public_code(), error.to_string()) };
            }
            SessionError::Refused(ErrorBody { error: ErrorCode::Internal, message, .. }) => {
                return Self::internal(message.clone());
            }
            SessionError::Refused(body) => return Self::of_body(body.clone()),
            SessionError::ControlHeld { holder, .. }
            | SessionError::ControlTaken { holder, .. } => {
                return Self::new(error.public_code(), error.to_string()).held_by(holder);
            }
            other => other.public_code(),
        };
        let ended = error.ending();
        Self { ended, ..Self::new(code, error.to_string()).because(error) }
    }
}

impl From<PackError> for ApiError {
    fn from(error: PackError) -> Self {
        Self::of_body(error.body().clone())
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        let file_size = match &error {
            StoreError::NoSuchRange { size } => Some(*size),
            _ => None,
        };
        match error.public_code() {
            ErrorCode::Internal => Self::internal(error),
            code => Self { file_size, ..Self::new(code, error.to_string()).because(error) },
        }
    }
}

impl From<VaultError> for ApiError {
    fn from(error: VaultError) -> Self {
        if let VaultError::Invalid { field, .. } = error {
            return Self::new(ErrorCode::InvalidInput, error.to_string())
                .of_field(field, Vec::new());
        }
        match error.public_code() {
            ErrorCode::Internal => Self::internal(error),
            code => Self::new(code, error.to_string()),
        }
    }
}

impl From<GatewayError> for ApiError {
    fn from(error: GatewayError) -> Self {
        match error {
            GatewayError::Vault(error) => error.into(),
            GatewayError::Store(error) => error.into(),
            GatewayError::Invalid(invalid) => {
                Self::new(ErrorCode::InvalidInput, invalid.to_string())
                    .of_field(&invalid.field, Vec::new())
            }
            error => Self {
                hint: error.hint(),
                retryable: Some(error.may_be_repeated()),
                retry_after: error.retry_after().map(|wait| wait.as_secs_f64().ceil() as u64),
                // A provider may quote the prompt, so that it is not a source, which is logged.
                ..Self::new(error.code(), error.to_string())
            },
        }
    }
}

impl From<TokenError> for ApiError {
    fn from(error: TokenError) -> Self {
        Self::internal(error)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (status(self.code), Json(self.body())).into_response();
        if matches!(self.code, ErrorCode::MissingBearer | ErrorCode::InvalidToken) {
            let challenge = HeaderValue::from_static("Bearer realm=\"helmdeck\"");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        let size = self.file_size.map(|size| HeaderValue::try_from(format!("bytes */{size}")));
        if let Some(Ok(size)) = size {
            response.headers_mut().insert(header::CONTENT_RANGE, size);
        }
        // The request log writes it once, with the request id.
        response.extensions_mut().insert(Arc::new(self));
        response
    }
}

/// The HTTP status of each public code.
#[expect(clippy::too_many_lines, reason = "a table with one line for each code")]
pub fn status(code: ErrorCode) -> StatusCode {
    use ErrorCode as E;
    match code {
        E::InvalidJson
        | E::InvalidExtension
        | E::InvalidInput
        | E::MissingCredentials
        | E::MissingSessionId
        | E::NotDesktopMode
        | E::SessionAttached
        | E::InvalidButton
        | E::InvalidCoordinates
        | E::InvalidKeys
        | E::MissingKeys
        | E::InvalidDirection
        | E::InvalidAmount
        | E::InvalidRegion
        | E::InvalidModifier
        | E::MissingModifiers
        | E::MissingText
        | E::InvalidText
        | E::InvalidSeconds
        | E::InvalidGeometry
        | E::InvalidFormat
        | E::MissingCommand
        | E::MissingWindowId
        | E::InvalidRole
        | E::InvalidPath
        | E::MissingUrl
        | E::MissingScript
        | E::MissingSelector
        | E::InvalidSelector
        | E::ScriptFailed
        | E::CredentialInvalid
        | E::InvalidPlaintextB64
        | E::MissingSubject
        | E::InvalidWindowId => StatusCode::BAD_REQUEST,
        E::InvalidCredentials
        | E::MissingBearer
        | E::InvalidToken
        | E::InvalidTicket
        | E::InvalidLink => StatusCode::UNAUTHORIZED,
        E::Forbidden
        | E::PersonRequired
        | E::Csrf
        | E::ForeignOrigin
        | E::FileDenied
        | E::EgressDenied
        | E::ForwardDenied => StatusCode::FORBIDDEN,
        E::NotFound
        | E::UnknownPack
        | E::UnknownJob
        | E::ModelNotFound
        | E::CommandNotFound
        | E::WindowNotFound
        | E::FileNotFound
        | E::ArtifactNotFound
        | E::ElementNotFound
        | E::TargetNotFound
        | E::TabNotFound => StatusCode::NOT_FOUND,
        E::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        E::SessionStarting
        | E::VisionRunning
        | E::Duplicate
        | E::SessionOutdated
        | E::TaskLimitReached
        | E::FocusRefused
        | E::TicketInUse
        | E::AlreadyAttached
        | E::ProfileInUse
        | E::PortInUse
        | E::FileExists
        | E::NotReady
        | E::Cancelled
        | E::SchemaMismatch
        | E::NotAFile
        | E::ElementNotActionable
        | E::TargetAmbiguous
        | E::ExpectationFailed
        | E::ControlHeld
        | E::NotDriving
        | E::Private
        | E::ControlTaken => StatusCode::CONFLICT,
        E::SessionEnded => StatusCode::GONE,
        E::RangeNotSatisfiable => StatusCode::RANGE_NOT_SATISFIABLE,
        E::PayloadTooLarge | E::PictureTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        E::TooManyAttempts
        | E::TooManyConnections
        | E::QuotaReached
        | E::QuotaExceeded
        | E::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        E::BudgetExceeded => StatusCode::PAYMENT_REQUIRED,
        E::CreateFailed | E::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        E::GuestLost
        | E::DisplayLost
        | E::BrowserLost
        | E::OutOfMemory
        | E::CommandFailed
        | E::NavigationFailed
        | E::HostNotFound
        | E::ConnectionRefused
        | E::PageCrashed
        | E::HandlerFailed
        | E::ProviderError
        | E::InvalidOutput
        | E::ArtifactFailed
        | E::BrowserRestarted => StatusCode::BAD_GATEWAY,
        E::SessionUnavailable
        | E::NoModelKey
        | E::CdpUnavailable
        | E::CapacityReached
        | E::Overloaded
        | E::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        E::Timeout => StatusCode::GATEWAY_TIMEOUT,
        E::SessionDiskFull | E::DiskFull | E::ResourceExhausted => StatusCode::INSUFFICIENT_STORAGE,
    }
}
