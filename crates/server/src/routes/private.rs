//! Private sign-in.

use helmdeck_wire::private::{PrivateEnded, PrivateSignIn};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    error::ApiResult,
    tool::{Call, NoInput},
};

/// How a private sign-in ends.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndQuery {
    /// Discard the page: the agent's page stays unchanged.
    #[serde(default)]
    discard: bool,
}

/// Starts a private sign-in of the caller, who has control.
pub async fn start(call: Call, _: NoInput) -> ApiResult<PrivateSignIn> {
    Ok(call.session()?.start_private(&call.caller).await?)
}

/// Ends it and gives the signed-in page to the agent.
pub async fn end(call: Call, query: EndQuery) -> ApiResult<PrivateEnded> {
    Ok(call.session()?.end_private(&call.caller, query.discard).await?)
}
