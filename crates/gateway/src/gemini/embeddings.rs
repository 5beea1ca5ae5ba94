//! Embeddings, which clients ask for as OpenAI's do.

use serde_json::{Map, Value, json};

use crate::{
    Invalid, Malformed,
    json::{Fields, list},
};

/// Writes a request for a model.
pub fn write(body: &Value, model: &str) -> Result<Value, Invalid> {
    let mut fields = Fields::of(body)?;
    let texts = match fields.take("input") {
        Some(Value::String(text)) => vec![text],
        Some(value) => serde_json::from_value::<Vec<String>>(value)
            .map_err(|_| Invalid::new("input", "expected a string or a list of strings"))?,
        None => return Err(Invalid::new("input", "it is missing")),
    };
    let size = fields.count("dimensions")?;
    if fields.text("encoding_format")?.is_some_and(|format| format != "float") {
        return Err(Invalid::new("encoding_format", "Gemini answers in float only"));
    }
    let name = format!("models/{model}");
    let request = |text: String| {
        let mut request = Map::from_iter([
            ("model".to_owned(), json!(name)),
            ("content".to_owned(), json!({ "parts": [{ "text": text }] })),
        ]);
        request.extend(size.map(|size| ("outputDimensionality".to_owned(), json!(size))));
        Value::Object(request)
    };
    Ok(json!({ "requests": texts.into_iter().map(request).collect::<Vec<_>>() }))
}

/// Reads a reply, for clients of OpenAI. Google does not count tokens here: `tokens` is our estimate.
pub fn read(reply: &Value, model: &str, tokens: u64) -> Result<Value, Malformed> {
    let embeddings = list(reply, "embeddings");
    if embeddings.is_empty() {
        return Err(Malformed::new("the reply has no embeddings"));
    }
    let data: Vec<_> = embeddings
        .iter()
        .enumerate()
        .map(|(index, it)| {
            json!({ "object": "embedding", "index": index, "embedding": list(it, "values") })
        })
        .collect();
    let usage = json!({ "prompt_tokens": tokens, "total_tokens": tokens });
    Ok(json!({ "object": "list", "data": data, "model": model, "usage": usage }))
}
