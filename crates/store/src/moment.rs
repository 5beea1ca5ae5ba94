//! Timestamps in the database: RFC 3339, in UTC.

use time::{OffsetDateTime, UtcOffset, format_description::well_known::Rfc3339};

use crate::StoreError;

pub(crate) fn write(field: &'static str, at: OffsetDateTime) -> Result<String, StoreError> {
    at.to_offset(UtcOffset::UTC)
        .format(&Rfc3339)
        .map_err(|_| StoreError::Nonsense { field, value: at.to_string() })
}

pub(crate) fn read(field: &'static str, text: String) -> Result<OffsetDateTime, StoreError> {
    OffsetDateTime::parse(&text, &Rfc3339).map_err(|_| StoreError::Nonsense { field, value: text })
}
