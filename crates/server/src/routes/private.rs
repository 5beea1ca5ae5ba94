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
    /// Hand nothing over: the agent's page stays as it was.
    #[serde(default)]
    discard: bool,
}

/// The caller, who drives, signs in privately.
pub async fn start(call: Call, _: NoInput) -> ApiResult<PrivateSignIn> {
    Ok(call.session()?.start_private(&call.caller).await?)
}

/// The agent gets the signed-in page.
pub async fn end(call: Call, query: EndQuery) -> ApiResult<PrivateEnded> {
    Ok(call.session()?.end_private(&call.caller, query.discard).await?)
}
