//! The message that runs a skill.
//!
//! A data part holds the input. The skill is named by `metadata.skill`, or the data part is
//! `{"skill": …, "input": …}`. A text part may hold the same as JSON.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::error::RpcError;

/// Parameters of `SendMessage` and `message/send`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SendParams {
    message: Message,
    #[serde(default)]
    configuration: Configuration,
    #[serde(default)]
    metadata: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message {
    #[serde(default)]
    context_id: Option<String>,
    #[serde(default)]
    task_id: Option<String>,
    parts: Vec<Map<String, Value>>,
    #[serde(default)]
    metadata: Map<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Configuration {
    /// Version 1.0.
    #[serde(default)]
    return_immediately: Option<bool>,
    /// Version 0.3.
    #[serde(default)]
    blocking: Option<bool>,
    #[serde(default)]
    push_notification_config: Option<Value>,
    #[serde(default)]
    task_push_notification_config: Option<Value>,
}

/// A skill to run.
#[derive(Debug, PartialEq)]
pub struct SkillCall {
    /// The skill.
    pub skill: String,
    /// Its input.
    pub input: Map<String, Value>,
    /// The context that it belongs to.
    pub context: Option<String>,
    /// Whether to return without waiting.
    pub at_once: bool,
}

impl SendParams {
    /// The skill that the message runs.
    pub fn skill_call(self) -> Result<SkillCall, RpcError> {
        let Self { message, configuration, metadata } = self;
        if configuration.push_notification_config.is_some()
            || configuration.task_push_notification_config.is_some()
        {
            return Err(RpcError::no_push());
        }
        if message.task_id.is_some_and(|id| !id.is_empty()) {
            let message = "a task takes no further messages: send one without taskId";
            return Err(RpcError::unsupported(message));
        }
        let mut data = data(&message.parts)?.unwrap_or_default();
        let named = [&message.metadata, &metadata].into_iter().find_map(skill_of);
        let (skill, input) = match named {
            Some(skill) => (skill, data),
            None => {
                let skill = skill_of(&data).ok_or_else(|| {
                    let message = "name the skill in metadata.skill, with its input as a data part; or \
                                   send the data part {\"skill\": …, \"input\": …}";
                    RpcError::invalid("message.parts", message)
                })?;
                let input = match data.remove("input") {
                    Some(Value::Object(input)) => input,
                    None | Some(Value::Null) => Map::new(),
                    Some(_) => {
                        return Err(RpcError::invalid("input", "input: expected an object"));
                    }
                };
                (skill, input)
            }
        };
        let context = message.context_id.filter(|context| !context.is_empty());
        let at_once =
            configuration.return_immediately == Some(true) || configuration.blocking == Some(false);
        Ok(SkillCall { skill, input, context, at_once })
    }
}

fn skill_of(fields: &Map<String, Value>) -> Option<String> {
    fields.get("skill").and_then(Value::as_str).map(str::to_owned)
}

/// The object in the parts of a message.
fn data(parts: &[Map<String, Value>]) -> Result<Option<Map<String, Value>>, RpcError> {
    let mut found = None;
    for part in parts {
        let object = match (part.get("data"), part.get("text")) {
            (Some(Value::Object(data)), _) => Some(data.clone()),
            // Text beside data is for people.
            (None, Some(Value::String(text))) => serde_json::from_str(text).ok(),
            _ => {
                let message = "parts: expected an object as data, or as JSON in a text";
                return Err(RpcError::content_type(message));
            }
        };
        if let Some(object) = object
            && found.replace(object).is_some()
        {
            let message = "parts: there is more than one object; send one";
            return Err(RpcError::invalid("message.parts", message));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(params: Value) -> Result<SkillCall, RpcError> {
        serde_json::from_value::<SendParams>(params).unwrap().skill_call()
    }

    #[test]
    fn a_skill_is_named_in_the_metadata_or_in_the_data() {
        let input = json!({ "code": "1" });
        let both = json!({ "skill": "python.run", "input": input });
        for params in [
            json!({ "message": { "parts": [{ "data": both }] } }),
            json!({ "message": { "parts": [{ "kind": "data", "data": both }] } }),
            json!({ "message": { "parts": [{ "text": both.to_string() }] } }),
            json!({ "message": {
                "parts": [{ "text": "Please run this." }, { "data": input }],
                "metadata": { "skill": "python.run" },
            }}),
            json!({ "message": { "parts": [{ "data": input }] }, "metadata": { "skill": "python.run" } }),
        ] {
            let call = call(params.clone()).unwrap_or_else(|error| panic!("{params} {error:?}"));
            assert_eq!(
                (call.skill.as_str(), Value::Object(call.input)),
                ("python.run", input.clone())
            );
            assert!(!call.at_once);
        }
    }

    #[test]
    fn a_message_that_names_no_skill_says_how_to_name_one() {
        let code = |params| call(params).unwrap_err().body()["code"].clone();
        assert_eq!(code(json!({ "message": { "parts": [{ "text": "Hello" }] } })), -32602);
        assert_eq!(code(json!({ "message": { "parts": [{ "raw": "aGk=" }] } })), -32005);
        let two = json!([{ "data": {} }, { "data": {} }]);
        assert_eq!(code(json!({ "message": { "parts": two } })), -32602);
        let follow_up = json!({ "message": { "taskId": "job-1", "parts": [] } });
        assert_eq!(code(follow_up), -32004);
        let push = json!({ "pushNotificationConfig": { "url": "http://a" } });
        assert_eq!(code(json!({ "message": { "parts": [] }, "configuration": push })), -32003);
    }

    #[test]
    fn both_versions_can_ask_for_an_immediate_reply() {
        let data = json!({ "skill": "python.run" });
        for configuration in [json!({ "returnImmediately": true }), json!({ "blocking": false })] {
            let params = json!({
                "message": { "parts": [{ "data": data }], "contextId": "ctx" },
                "configuration": configuration,
            });
            let call = call(params).unwrap();
            assert!(call.at_once && call.context.as_deref() == Some("ctx"));
        }
    }
}
