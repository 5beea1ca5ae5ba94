//! Control of a session.

use helmdeck_sessions::{Caller, Holder};
use helmdeck_wire::control::{Control, ReleaseControl, TakeControl};

use crate::{
    error::ApiResult,
    tool::{Call, NoInput},
};

/// Shows who has control.
pub async fn show_control(call: Call, _: NoInput) -> ApiResult<Control> {
    Ok(call.session()?.control(&call.caller))
}

/// Gives control to the caller.
pub async fn take_control(call: Call, take: TakeControl) -> ApiResult<Control> {
    let session = call.session()?;
    session.take_control(holder(&call.caller), take.force).await?;
    Ok(session.control(&call.caller))
}

/// Releases control to the agents.
pub async fn release_control(call: Call, release: ReleaseControl) -> ApiResult<Control> {
    let session = call.session()?;
    session.release_control(&holder(&call.caller), release.message).await;
    Ok(session.control(&call.caller))
}

fn holder(caller: &Caller) -> Holder {
    Holder { by: caller.actor(), key: caller.token.clone() }
}
