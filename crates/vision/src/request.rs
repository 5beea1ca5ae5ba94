//! Writes a conversation as a request of its vendor.

use helmdeck_gateway::{Family, json::field};
use serde_json::{Value, json};

use crate::{
    conversation::{CallResult, Conversation, Exchange, Picture},
    dialect::{Dialect, function},
};

/// A grey pixel, for results that need a picture whose picture was left out.
const NO_PICTURE: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==";

impl Conversation {
    /// The body of the next request for `provider/model`.
    pub fn request(&self, model: &str, max_tokens: u32) -> Value {
        let tools: Vec<Value> = self.dialect.declare(&self.view).into_iter().collect();
        match self.dialect.family() {
            Family::Messages => self.messages(model, max_tokens, tools),
            Family::Responses => self.responses(model, max_tokens, tools),
            Family::Gemini => self.gemini(model, max_tokens, tools),
            Family::Chat => self.chat(model, max_tokens, tools),
        }
    }

    fn messages(&self, model: &str, max_tokens: u32, tools: Vec<Value>) -> Value {
        let image = |picture: &Picture| match &picture.data {
            None => json!({ "type": "text", "text": left_out(picture) }),
            Some(data) => json!({ "type": "image", "source": {
                "type": "base64", "media_type": picture.media_type, "data": &**data,
            } }),
        };
        let text = |text: &str| json!({ "type": "text", "text": text });
        let first = json!([text(&self.goal), image(&self.first)]);
        let mut messages = vec![json!({ "role": "user", "content": first })];
        for exchange in &self.exchanges {
            if let Some(content) = field(&exchange.reply, "content").filter(|it| is_filled(it)) {
                messages.push(json!({ "role": "assistant", "content": content }));
            }
            let result = |result: &CallResult| {
                let mut content = vec![text(&result.text)];
                content.extend(result.picture.as_ref().map(image));
                let mut block = json!({
                    "type": "tool_result", "tool_use_id": result.id.id, "content": content,
                });
                if let Value::Object(fields) = &mut block {
                    if let Some(set) = &result.id.toolset {
                        fields.insert("toolset_name".to_owned(), set.as_str().into());
                    }
                    if result.failed {
                        fields.insert("is_error".to_owned(), true.into());
                    }
                }
                block
            };
            let mut content: Vec<_> = exchange.results.iter().map(result).collect();
            content.extend(exchange.note.as_deref().map(text));
            content.extend(exchange.picture.as_ref().map(image));
            messages.push(json!({ "role": "user", "content": content }));
        }
        // What is sent again next time ends here; what was sent last time ended one turn earlier.
        let users = messages.iter_mut().rev().filter(|message| message["role"] == "user");
        for message in users.take(2) {
            let last = message
                .get_mut("content")
                .and_then(Value::as_array_mut)
                .and_then(|it| it.last_mut());
            if let Some(Value::Object(block)) = last {
                block.insert("cache_control".to_owned(), json!({ "type": "ephemeral" }));
            }
        }
        let system = json!([{
            "type": "text", "text": self.system, "cache_control": { "type": "ephemeral" },
        }]);
        json!({
            "model": model, "max_tokens": max_tokens, "system": system, "tools": tools,
            "messages": messages,
        })
    }

    fn responses(&self, model: &str, max_tokens: u32, tools: Vec<Value>) -> Value {
        let url = |picture: &Picture| data_url(picture).unwrap_or_else(|| NO_PICTURE.to_owned());
        let image = |picture: &Picture| match &picture.data {
            None => json!({ "type": "input_text", "text": left_out(picture) }),
            Some(_) => {
                json!({ "type": "input_image", "image_url": url(picture), "detail": "high" })
            }
        };
        let text = |text: &str| json!({ "type": "input_text", "text": text });
        let user = |content: Vec<Value>| json!({ "role": "user", "content": content });
        let mut input = vec![user(vec![text(&self.goal), image(&self.first)])];
        for exchange in &self.exchanges {
            let output = field(&exchange.reply, "output").and_then(Value::as_array);
            input.extend(output.into_iter().flatten().cloned());
            let mut words = Vec::new();
            for result in &exchange.results {
                let picture = result.picture.as_ref().map_or(NO_PICTURE.to_owned(), url);
                input.push(json!({
                    "type": "computer_call_output", "call_id": result.id.id,
                    "acknowledged_safety_checks": result.acknowledged,
                    "output": { "type": "computer_screenshot", "image_url": picture },
                }));
                // An output of this vendor is only a picture.
                if !result.text.is_empty() {
                    words.push(text(&result.text));
                }
            }
            words.extend(exchange.note.as_deref().map(text));
            words.extend(exchange.picture.as_ref().map(image));
            if !words.is_empty() {
                input.push(user(words));
            }
        }
        json!({
            "model": model, "instructions": self.system, "input": input, "tools": tools,
            "truncation": "auto", "store": false, "include": ["reasoning.encrypted_content"],
            "max_output_tokens": max_tokens,
        })
    }

    fn gemini(&self, model: &str, max_tokens: u32, tools: Vec<Value>) -> Value {
        let image = |picture: &Picture| match &picture.data {
            None => json!({ "text": left_out(picture) }),
            Some(data) => {
                json!({ "inlineData": { "mimeType": picture.media_type, "data": &**data } })
            }
        };
        let text = |text: &str| json!({ "text": text });
        let user = |parts: Vec<Value>| json!({ "role": "user", "parts": parts });
        let mut contents = vec![user(vec![text(&self.goal), image(&self.first)])];
        for exchange in &self.exchanges {
            let said = exchange.reply.pointer("/candidates/0/content");
            contents.extend(said.filter(|said| said.get("parts").is_some_and(is_filled)).cloned());
            let result = |result: &CallResult| {
                let mut response = json!({ "output": result.text });
                let mut answer = json!({ "name": result.id.name });
                if let Value::Object(fields) = &mut response {
                    for acknowledged in &result.acknowledged {
                        fields.extend(acknowledged.as_object().cloned().unwrap_or_default());
                    }
                    if result.failed {
                        fields.insert("error".to_owned(), result.text.as_str().into());
                    }
                }
                if let Value::Object(fields) = &mut answer {
                    fields.insert("response".to_owned(), response);
                    if !result.id.id.is_empty() {
                        fields.insert("id".to_owned(), result.id.id.as_str().into());
                    }
                    let shown = result.picture.as_ref().filter(|picture| picture.data.is_some());
                    if let Some(picture) = shown {
                        fields.insert("parts".to_owned(), json!([image(picture)]));
                    }
                }
                json!({ "functionResponse": answer })
            };
            let mut parts: Vec<_> = exchange.results.iter().map(result).collect();
            parts.extend(exchange.note.as_deref().map(text));
            parts.extend(exchange.picture.as_ref().map(image));
            contents.push(user(parts));
        }
        json!({
            "model": model, "systemInstruction": { "parts": [text(&self.system)] },
            "contents": contents, "tools": tools,
            "generationConfig": { "maxOutputTokens": max_tokens },
        })
    }

    fn chat(&self, model: &str, max_tokens: u32, tools: Vec<Value>) -> Value {
        let image = |picture: &Picture| match data_url(picture) {
            None => json!({ "type": "text", "text": left_out(picture) }),
            Some(url) => json!({ "type": "image_url", "image_url": { "url": url } }),
        };
        let text = |text: &str| json!({ "type": "text", "text": text });
        let user = |content: Vec<Value>| json!({ "role": "user", "content": content });
        let mut messages = vec![
            json!({ "role": "system", "content": self.system }),
            user(vec![text(&self.goal), image(&self.first)]),
        ];
        for exchange in &self.exchanges {
            messages.extend(said(exchange));
            let mut content = Vec::new();
            for result in &exchange.results {
                match result.id.id.is_empty() {
                    true => content.push(text(&result.text)),
                    false => messages.push(json!({
                        "role": "tool", "tool_call_id": result.id.id, "content": result.text,
                    })),
                }
                // Results of tools are only text here.
                content.extend(result.picture.as_ref().map(image));
            }
            content.extend(exchange.note.as_deref().map(text));
            content.extend(exchange.picture.as_ref().map(image));
            if !content.is_empty() {
                messages.push(user(content));
            }
        }
        let openai = model.starts_with("openai/");
        let most = if openai { "max_completion_tokens" } else { "max_tokens" };
        let mut body = json!({ "model": model, "messages": messages, most: max_tokens });
        if let (false, Value::Object(fields)) = (tools.is_empty(), &mut body) {
            fields.insert("tools".to_owned(), tools.into());
        }
        body
    }
}

/// The message of a reply of Chat, with what is sent back.
fn said(exchange: &Exchange) -> Option<Value> {
    let message = function::message(&exchange.reply).ok()?;
    let mut kept = json!({ "role": "assistant" });
    if let Value::Object(fields) = &mut kept {
        for name in ["content", "tool_calls", "reasoning_details"] {
            if let Some(value) = field(message, name) {
                fields.insert(name.to_owned(), value.clone());
            }
        }
        if fields.len() == 1 {
            return None;
        }
    }
    Some(kept)
}

fn is_filled(value: &Value) -> bool {
    value.as_array().is_some_and(|list| !list.is_empty())
}

fn data_url(picture: &Picture) -> Option<String> {
    let data = picture.data.as_ref()?;
    Some(format!("data:{};base64,{data}", picture.media_type))
}

fn left_out(picture: &Picture) -> String {
    format!("[{} was here; it is left out now]", picture.shot)
}

/// Headers that a dialect needs.
pub fn headers(dialect: Dialect) -> Vec<(&'static str, &'static str)> {
    match dialect {
        Dialect::Anthropic { tool, .. } => {
            tool.beta().into_iter().map(|beta| ("anthropic-beta", beta)).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may")]
mod tests {
    use super::*;
    use crate::conversation::tests::{conversation, exchange};

    fn request(model: &str) -> Value {
        let (provider, name) = model.split_once('/').unwrap();
        let mut conversation = conversation(provider, name);
        for number in 1..=2 {
            let next = exchange(&conversation, number);
            conversation.push(next);
        }
        conversation.exchanges[1].note = Some("Nothing changed.".to_owned());
        conversation.request(model, 1000)
    }

    #[test]
    fn a_result_for_anthropic_names_its_call_and_its_set() {
        let body = request("anthropic/claude-opus-5");
        assert_eq!(body["tools"][0]["type"], "computer_toolset_20260801");
        let roles: Vec<_> = body["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["role"].as_str().unwrap())
            .collect();
        assert_eq!(roles, ["user", "assistant", "user", "assistant", "user"]);
        let result = &body["messages"][2]["content"][0];
        assert_eq!(
            (&result["tool_use_id"], &result["toolset_name"]),
            (&json!("c1"), &json!("computer"))
        );
        assert_eq!(result["content"][1]["source"]["media_type"], "image/png");
        let last = body["messages"][4]["content"].as_array().unwrap().last().unwrap();
        assert_eq!(last["text"], "Nothing changed.");
        assert_eq!(last["cache_control"]["type"], "ephemeral");
        let marks = body.to_string().matches("cache_control").count();
        assert!(marks <= 4, "the vendor allows four marks");
    }

    #[test]
    fn a_result_for_openai_is_a_picture() {
        let body = request("openai/gpt-5.4");
        let kinds: Vec<_> =
            body["input"].as_array().unwrap().iter().map(|item| item["type"].as_str()).collect();
        let turn = [Some("message"), Some("computer_call"), Some("computer_call_output")];
        assert_eq!(kinds[1..4], turn);
        assert_eq!(body["input"][3]["call_id"], "c1");
        let url = body["input"][3]["output"]["image_url"].as_str().unwrap();
        assert!(url.starts_with("data:image/png;base64,"));
        assert_eq!(body["input"][4]["content"][0]["text"], "Clicked.");
        assert_eq!((&body["store"], &body["truncation"]), (&json!(false), &json!("auto")));
    }

    #[test]
    fn a_result_for_gemini_is_a_response_of_its_function() {
        let body = request("gemini/gemini-3.5-flash");
        let answer = &body["contents"][2]["parts"][0]["functionResponse"];
        assert_eq!(
            (&answer["name"], &answer["response"]["output"]),
            (&json!("click"), &json!("Clicked."))
        );
        let newest = &body["contents"][4]["parts"][0]["functionResponse"];
        assert_eq!(newest["parts"][0]["inlineData"]["mimeType"], "image/png");
        assert_eq!(body["contents"][1]["role"], "model");
    }

    #[test]
    fn a_result_in_chat_is_text_and_its_picture_follows() {
        let body = request("openai/gpt-4o-mini");
        let messages = body["messages"].as_array().unwrap();
        assert_eq!(messages[2]["tool_calls"][0]["id"], "c1");
        assert_eq!(
            (&messages[3]["role"], &messages[3]["tool_call_id"]),
            (&json!("tool"), &json!("c1"))
        );
        assert_eq!(messages[4]["content"][0]["text"], "[shot-1 was here; it is left out now]");
        assert_eq!(messages[7]["content"][0]["type"], "image_url");
        assert_eq!(body["max_completion_tokens"], 1000);
        let text = request("ollama/llava");
        assert_eq!(text["messages"][3]["content"][0]["text"], "Clicked.");
        assert!(text.get("tools").is_none() && text["max_tokens"] == 1000);
    }

    #[test]
    fn a_reply_without_content_is_not_repeated_to_the_vendor() {
        for model in
            ["anthropic/claude-opus-5", "openai/gpt-5.4", "gemini/gemini-3.5-flash", "ollama/llava"]
        {
            let (provider, name) = model.split_once('/').unwrap();
            let mut conversation = conversation(provider, name);
            let note = Some("The reply was empty.".to_owned());
            conversation.push(Exchange {
                reply: json!({}),
                results: Vec::new(),
                note,
                picture: None,
            });
            let body = conversation.request(model, 10).to_string();
            assert!(
                body.contains("The reply was empty.") && !body.contains("assistant"),
                "{model}"
            );
        }
    }

    #[test]
    fn dated_tools_need_a_beta() {
        let beta = |model| headers(crate::choose("anthropic", model, true));
        assert_eq!(beta("claude-sonnet-4-5"), [("anthropic-beta", "computer-use-2025-01-24")]);
        assert!(beta("claude-opus-5").is_empty());
    }
}
