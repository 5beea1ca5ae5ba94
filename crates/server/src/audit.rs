//! Entries of the audit log that several places record, and the log as a file.

mod export;

use helmdeck_store::AuditEntry;
use helmdeck_wire::token::TokenInfo;
use time::format_description::well_known::Rfc3339;

pub use export::ExportFormat;

/// A token was created. The entry never holds the token itself.
pub fn token_created(token: &TokenInfo) -> AuditEntry {
    AuditEntry::new("token.created")
        .target(&token.id)
        .detail("subject", token.subject.as_str())
        .detail("label", token.client.clone())
        .detail("scopes", token.scopes.clone())
        .detail("human", token.human)
        .detail("made_for", token.made_for.clone())
        .detail("expires_at", token.expires_at.format(&Rfc3339).ok())
}
