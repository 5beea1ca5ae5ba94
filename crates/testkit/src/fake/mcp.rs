//! The tools, prompts and resources that the official MCP conformance suite expects of a server.

mod contents;
mod input_required;
mod notices;
mod questions;

use async_trait::async_trait;
use helmdeck_server::McpFixtures;
use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, GetPromptRequestParams, GetPromptResponse, Prompt,
        Resource, ResourceContents, ResourceTemplate, Tool,
    },
    service::RequestContext,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A picture of one pixel.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mPQz18PAAIeAU4YXjpHAAAAAElFTkSuQmCC";

/// The fixtures of the conformance suite.
#[derive(Debug)]
pub struct ConformanceFixtures;

/// A value of the protocol, written as JSON.
fn of<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("a value of the protocol")
}

/// A whole answer, as newer protocol versions mark it; rmcp removes the mark for older ones.
fn complete<T: DeserializeOwned>(mut value: Value) -> T {
    value["resultType"] = json!("complete");
    of(value)
}

fn said(text: impl AsRef<str>) -> CallToolResponse {
    let content = json!([{ "type": "text", "text": text.as_ref() }]);
    CallToolResponse::Complete(complete(json!({ "content": content })))
}

#[async_trait]
impl McpFixtures for ConformanceFixtures {
    fn tools(&self) -> Vec<Tool> {
        let names = [
            contents::NAMES.as_slice(),
            notices::NAMES.as_slice(),
            questions::NAMES.as_slice(),
            input_required::NAMES.as_slice(),
        ];
        let tool = |name: &&str| {
            let description = "A fixture of the conformance suite.";
            let schema = contents::input_schema(name);
            of(json!({ "name": name, "description": description, "inputSchema": schema }))
        };
        names.concat().iter().map(tool).collect()
    }

    fn prompts(&self) -> Vec<Prompt> {
        of(contents::prompts())
    }

    fn resources(&self) -> Vec<Resource> {
        of(contents::resources())
    }

    fn templates(&self) -> Vec<ResourceTemplate> {
        of(contents::templates())
    }

    async fn call_tool(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Option<Result<CallToolResponse, ErrorData>> {
        if let Some(content) = contents::of_tool(request) {
            return Some(Ok(CallToolResponse::Complete(complete(content))));
        }
        if let Some(answer) = input_required::answer(request, context) {
            return Some(answer);
        }
        if let Some(answer) = notices::call(&request.name, context).await {
            return Some(answer);
        }
        questions::ask(request, context).await
    }

    fn get_prompt(
        &self,
        request: &GetPromptRequestParams,
    ) -> Option<Result<GetPromptResponse, ErrorData>> {
        if let Some(answer) = input_required::prompt(request) {
            return Some(Ok(answer));
        }
        contents::of_prompt(request).map(|prompt| Ok(GetPromptResponse::Complete(complete(prompt))))
    }

    fn read_resource(&self, uri: &str) -> Option<ResourceContents> {
        contents::of_resource(uri).map(of)
    }
}
