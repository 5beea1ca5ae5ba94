//! Why a call of a model failed.

use std::time::Duration;

use bytes::Bytes;
use helmdeck_egress::{ConnectError, EgressError};
use helmdeck_store::{StoreError, vault::VaultError};
pub use helmdeck_wire::model::FallbackTrigger as Trigger;
use helmdeck_wire::{ErrorCode, error::with_causes, model::ModelOutcome};
use http::StatusCode;

use crate::{Family, Invalid, Malformed};

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// The request is wrong, or cannot be translated.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// No provider has this name.
    #[error("{0}")]
    UnknownModel(String),
    /// There is no key for the provider.
    #[error("no key for {provider}: {}", add_key(provider))]
    NoKey {
        /// The provider.
        provider: String,
    },
    /// A budget does not allow the call.
    #[error("{0}")]
    Budget(String),
    /// Too many calls at once.
    #[error("too many calls of models are running: try again")]
    Busy,
    /// No connection. Nothing was sent.
    #[error("{provider} cannot be reached: {}", with_causes(.source))]
    Unreachable {
        /// The provider.
        provider: String,
        /// Why.
        #[source]
        source: ConnectError,
    },
    /// The provider answered with an error.
    #[error("{provider} answered {}: {message}", .status.as_u16())]
    Refused {
        /// The provider.
        provider: String,
        /// The status.
        status: StatusCode,
        /// What it says.
        message: String,
        /// How long it asks to wait.
        retry_after: Option<Duration>,
        /// The answer itself, and its family.
        answer: (Family, Bytes),
    },
    /// No answer in time. The call may have succeeded.
    #[error("{provider} did not answer within {} s; the call may have been paid for", .after.as_secs())]
    Timeout {
        /// The provider.
        provider: String,
        /// The deadline.
        after: Duration,
    },
    /// The connection broke before the answer. The call may have succeeded.
    #[error("the connection to {provider} broke: {reason}; the call may have been paid for")]
    Broken {
        /// The provider.
        provider: String,
        /// Why.
        reason: String,
    },
    /// The answer is not what the provider's API promises.
    #[error("{provider}: {reason}: try another model, or a simpler prompt")]
    Malformed {
        /// The provider.
        provider: String,
        /// What is wrong.
        reason: Malformed,
    },
    /// The vault refused.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The command that adds a key.
pub fn add_key(provider: &str) -> String {
    format!("add one with `helmdeck models add-key {provider}`")
}

impl GatewayError {
    /// The public code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Invalid(_) => ErrorCode::InvalidInput,
            Self::UnknownModel(_) => ErrorCode::ModelNotFound,
            Self::NoKey { .. } => ErrorCode::NoModelKey,
            Self::Budget(_) => ErrorCode::BudgetExceeded,
            Self::Busy => ErrorCode::Overloaded,
            Self::Unreachable { source, .. } if is_denied(source) => ErrorCode::EgressDenied,
            Self::Unreachable { .. } | Self::Broken { .. } => ErrorCode::ProviderError,
            Self::Timeout { .. } => ErrorCode::Timeout,
            Self::Malformed { .. } => ErrorCode::InvalidOutput,
            Self::Refused { status, .. } => match status.as_u16() {
                401 | 403 => ErrorCode::CredentialInvalid,
                404 => ErrorCode::ModelNotFound,
                413 => ErrorCode::PayloadTooLarge,
                429 => ErrorCode::RateLimited,
                503 | 529 => ErrorCode::Overloaded,
                400..500 => ErrorCode::InvalidInput,
                _ => ErrorCode::ProviderError,
            },
            Self::Vault(error) => error.public_code(),
            Self::Store(error) => error.public_code(),
        }
    }

    /// How the call is recorded.
    pub fn outcome(&self) -> ModelOutcome {
        match self {
            Self::Unreachable { .. } => ModelOutcome::Unreachable,
            Self::Timeout { .. } => ModelOutcome::Timeout,
            Self::Broken { .. } => ModelOutcome::Cut,
            Self::Malformed { .. } => ModelOutcome::Malformed,
            Self::Refused { status, .. } => match status.as_u16() {
                401 | 403 => ModelOutcome::Key,
                429 => ModelOutcome::RateLimited,
                400..500 => ModelOutcome::Refused,
                _ => ModelOutcome::Failed,
            },
            _ => ModelOutcome::Failed,
        }
    }

    /// What it triggers, if anything: a wrong request fails with every model.
    pub fn trigger(&self) -> Option<Trigger> {
        match self {
            Self::Unreachable { .. } => Some(Trigger::Error),
            Self::Timeout { .. } | Self::Broken { .. } => Some(Trigger::Timeout),
            Self::Refused { status, .. } => match status.as_u16() {
                429 => Some(Trigger::RateLimit),
                401 | 403 | 500.. => Some(Trigger::Error),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether the provider said that it did nothing, and will later.
    pub fn says_later(&self) -> bool {
        matches!(self, Self::Refused { status, .. } if matches!(status.as_u16(), 429 | 503 | 529))
    }

    /// Whether sending the same request again is safe: the call was not made, or was refused.
    pub fn may_be_repeated(&self) -> bool {
        self.says_later() || matches!(self, Self::Unreachable { .. } | Self::Busy)
    }

    /// How long to wait before trying again.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Refused { retry_after, .. } => *retry_after,
            Self::Busy => Some(Duration::from_secs(1)),
            _ => None,
        }
    }

    /// What the caller should do next.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoKey { provider } => Some(add_key(provider)),
            Self::Refused { provider, status, .. } if matches!(status.as_u16(), 401 | 403) => {
                Some(format!("{provider} rejects its key: {}", add_key(provider)))
            }
            Self::Unreachable { provider, .. } if provider == "ollama" => {
                Some("start Ollama, or set HELMDECK_OLLAMA_BASE_URL".to_owned())
            }
            Self::Unreachable { source, .. } if is_denied(source) => {
                Some("an admin can allow an address by configuring it for its provider".to_owned())
            }
            _ => None,
        }
    }
}

fn is_denied(error: &ConnectError) -> bool {
    matches!(error, ConnectError::Egress { source: EgressError::Denied { .. }, .. })
}
