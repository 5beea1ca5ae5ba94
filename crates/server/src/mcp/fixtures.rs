//! Tools, prompts and resources beside our own, for tests of the protocol.
//!
//! The official conformance suite calls tools with fixed names. They exist only where a test adds them
//! to an [`Instance`](crate::Instance); no setting does.

use std::fmt::Debug;

use async_trait::async_trait;
use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, GetPromptRequestParams, GetPromptResponse, Prompt,
        Resource, ResourceContents, ResourceTemplate, Tool,
    },
    service::RequestContext,
};

/// What a test adds. `None` leaves a request to the server itself.
#[async_trait]
pub trait Fixtures: Debug + Send + Sync {
    /// Tools to list.
    fn tools(&self) -> Vec<Tool>;

    /// Prompts to list.
    fn prompts(&self) -> Vec<Prompt>;

    /// Resources to list.
    fn resources(&self) -> Vec<Resource>;

    /// Resource templates to list.
    fn templates(&self) -> Vec<ResourceTemplate>;

    /// Calls one of the tools.
    async fn call_tool(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Option<Result<CallToolResponse, ErrorData>>;

    /// Fills in one of the prompts.
    fn get_prompt(
        &self,
        request: &GetPromptRequestParams,
    ) -> Option<Result<GetPromptResponse, ErrorData>>;

    /// Reads one of the resources.
    fn read_resource(&self, uri: &str) -> Option<ResourceContents>;
}
