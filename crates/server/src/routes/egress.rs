//! What sessions may reach.

use helmdeck_egress::{Judged, SystemResolver, explain};
use helmdeck_wire::{
    ErrorCode,
    egress::{EgressTested, JudgedAddress, TestEgress},
};

use crate::{
    error::{ApiError, ApiResult},
    tool::Call,
};

/// What would become of a connection.
pub async fn test_egress(call: Call, asked: TestEgress) -> ApiResult<EgressTested> {
    let Call { app, caller, .. } = &call;
    let via = match &asked.session_id {
        Some(id) => app.sessions.get(caller, id)?.leaves_by()?,
        None => None,
    };
    let resolver = SystemResolver::default();
    let explained = explain(&asked.url, &app.egress_policy, via.as_ref(), &resolver).await;
    let explained = explained.map_err(|error| {
        let message = format!("url: {error}");
        ApiError::new(ErrorCode::InvalidInput, message).of_field("url", Vec::new())
    })?;
    let judged = |judged: &Judged| JudgedAddress {
        address: judged.address.to_string(),
        allowed: judged.verdict.is_ok(),
        reason: judged.reason(),
    };
    let addresses = explained.addresses.iter().flatten().map(judged).collect();
    Ok(EgressTested {
        target: explained.target.to_string(),
        allowed: explained.is_allowed(),
        addresses,
        explanation: explained.to_string(),
    })
}
