//! Pictures and files in replies: their size, and whether they are content that models see or links to resources.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::{Bytes, BytesMut};
use helmdeck_store::{NewArtifact, Pieces};
use helmdeck_wire::{
    Scope,
    artifact::ArtifactKey,
    job::{Job, JobArtifact, JobState},
    observe::ObservedPicture,
    vendor_size::Vendor,
};
use rmcp::model::{ContentBlock, Resource};
use serde_json::{Map, Value, json};

use super::{client::Client, reply::MAX_PICTURE, uri};
use crate::{
    error::{ApiError, ApiResult},
    media_type,
    tool::{Effect, Outcome, Payload, Tool},
};

/// The most pictures of a job in a reply; the others are linked.
const MOST_PICTURES: usize = 3;
/// The most links to files of a job in a reply. `artifact-list` names all.
const MOST_LINKS: usize = 20;
/// Pictures that vendors accept.
const FORMATS: [&str; 4] = ["image/gif", "image/jpeg", "image/png", "image/webp"];

/// Clients whose models are of one vendor, by a part of their names.
const VENDORS: [(&str, Vendor); 4] = [
    ("chatgpt", Vendor::Openai),
    ("codex", Vendor::Openai),
    ("gemini-cli", Vendor::Gemini),
    ("openai", Vendor::Openai),
];

/// The vendor whose models see the pictures. For a client that may have any model, it is the one with the
/// strictest limits: no model scales down what fits its models.
fn vendor(client: Option<&str>) -> Vendor {
    let name = client.unwrap_or_default().to_ascii_lowercase();
    let known = VENDORS.iter().find(|(part, _)| name.contains(part));
    known.map_or(Vendor::Anthropic, |(_, vendor)| *vendor)
}

/// Calls a tool; pictures come in a size that model vendors accept, unless the caller chose one.
pub async fn call(
    client: &Client,
    tool: &Tool,
    mut args: Map<String, Value>,
) -> ApiResult<Outcome> {
    let schema = tool.schema()?;
    let vendor = vendor(client.info.as_ref().map(|info| info.name.as_str()));
    let may_choose = |args: &Map<String, Value>, field: &str| {
        schema.field(field).is_some() && args.get(field).is_none_or(Value::is_null)
    };
    if may_choose(&args, "max_width") && may_choose(&args, "for") {
        args.insert("for".to_owned(), json!(vendor));
    }
    if args.contains_key("observe") && may_choose(&args, "observe_for") {
        args.insert("observe_for".to_owned(), json!(vendor));
    }
    let lossy = may_choose(&args, "format") && tool.nature.effect == Effect::ReadOnly;
    let outcome = tool.call(client.call(), args.clone()).await?;
    let too_large = matches!(&outcome.payload, Payload::Bytes { media_type, bytes }
        if bytes.len() > MAX_PICTURE && media_type.as_bytes().starts_with(b"image/"));
    if lossy && too_large {
        args.insert("format".to_owned(), json!("jpeg"));
        return tool.call(client.call(), args).await;
    }
    Ok(outcome)
}

/// Takes a picture out of a JSON reply, where a model would read its base64 as text.
pub fn take(object: &mut Map<String, Value>) -> Option<ContentBlock> {
    observed(object).or_else(|| artifact(object))
}

/// The picture of an observed action. Its id, place and scale stay in the reply.
fn observed(object: &mut Map<String, Value>) -> Option<ContentBlock> {
    let found = object.get("picture").cloned()?;
    let picture: ObservedPicture = serde_json::from_value(found).ok()?;
    let fields = object.get_mut("picture")?.as_object_mut()?;
    fields.remove("data");
    if !fits(picture.data.len()) {
        fields.insert("too_large".to_owned(), json!(true));
        return None;
    }
    Some(ContentBlock::image(picture.data, picture.media_type))
}

/// The picture that `artifact.get` read as a whole.
fn artifact(object: &mut Map<String, Value>) -> Option<ContentBlock> {
    if object.get("pack")? != "artifact.get" {
        return None;
    }
    let output = object.get_mut("output")?.as_object_mut()?;
    let text = |name: &str| output.get(name).and_then(Value::as_str).map(str::to_owned);
    let (encoding, media_type) = (text("encoding")?, text("content_type")?);
    let size = output.get("size").and_then(Value::as_u64)?;
    let data = text("content")?;
    let whole = BASE64_STANDARD.decode(&data).is_ok_and(|bytes| bytes.len() as u64 == size);
    if encoding != "base64" || !is_picture(&media_type) || !whole || !fits(data.len()) {
        return None;
    }
    output.insert("content".to_owned(), json!("The picture is in this reply."));
    Some(ContentBlock::image(data, media_type))
}

/// Whether a picture is small enough for a reply, by the length of its base64.
fn fits(base64: usize) -> bool {
    base64 / 4 * 3 <= MAX_PICTURE
}

fn is_picture(media_type: &str) -> bool {
    FORMATS.contains(&media_type)
}

/// The files that a job made: its first pictures to see, and the others to read.
pub async fn of_job(client: &Client, job: &Job) -> Vec<ContentBlock> {
    let mut content = Vec::new();
    if job.state != JobState::Completed {
        return content;
    }
    // Who may act in sessions may read the files that packs make there.
    let may_see =
        client.caller.may(Scope::ARTIFACTS_READ) || client.caller.may(Scope::SESSIONS_ACT);
    let mut shown = 0;
    for made in job.artifacts.iter().take(MOST_PICTURES + MOST_LINKS) {
        let small = usize::try_from(made.size).is_ok_and(|size| size <= MAX_PICTURE);
        let wanted = may_see && shown < MOST_PICTURES && small && is_picture(&made.content_type);
        // A picture that has been deleted since is no reason to lose the reply.
        let picture = if wanted { read(client, &made.key).await.ok() } else { None };
        match picture {
            Some(bytes) => {
                shown += 1;
                content.push(ContentBlock::image(
                    BASE64_STANDARD.encode(bytes),
                    made.content_type.clone(),
                ));
            }
            None => content.push(link(made)),
        }
    }
    content
}

/// All bytes of an artifact that is known to be small.
pub async fn read(client: &Client, key: &str) -> ApiResult<Bytes> {
    let artifacts = &client.app.artifacts;
    let key = ArtifactKey::parse(key).ok_or_else(|| ApiError::internal("not an artifact key"))?;
    let mut reader = artifacts.get(&client.caller, &key, None).await?;
    let mut bytes = BytesMut::new();
    while let Some(piece) = reader.next().await.map_err(ApiError::internal)? {
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes.freeze())
}

/// A link to an artifact.
pub fn link(made: &JobArtifact) -> ContentBlock {
    let name = ArtifactKey::parse(&made.key).map(|key| key.name().to_owned());
    let resource = Resource::new(uri::artifact(&made.key), name.unwrap_or_default())
        .with_mime_type(made.content_type.clone())
        .with_size(made.size);
    ContentBlock::ResourceLink(resource)
}

/// Stores content that a reply cannot hold, and that could not be read again otherwise.
pub async fn keep(
    client: &Client,
    tool: &str,
    media_type: &str,
    bytes: Bytes,
) -> ApiResult<JobArtifact> {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    let extension = media_type::extension(essence).unwrap_or("bin");
    let new = NewArtifact {
        namespace: tool.to_owned(),
        content_type: essence.to_owned(),
        name: format!("{}.{extension}", tool.replace('.', "-")),
        ..NewArtifact::default()
    };
    let stored = client.app.artifacts.put(&client.caller.subject, new, bytes).await?;
    Ok(JobArtifact {
        key: stored.key.to_string(),
        url: stored.url,
        size: stored.size,
        content_type: stored.content_type,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn pictures_fit_the_models_of_the_client_or_of_every_vendor() {
        for (name, wanted) in [
            ("gemini-cli-mcp-client", Vendor::Gemini),
            ("codex-mcp-client", Vendor::Openai),
            ("ChatGPT", Vendor::Openai),
            ("claude-code", Vendor::Anthropic),
            ("openclaw-bundle-mcp", Vendor::Anthropic),
        ] {
            assert_eq!(vendor(Some(name)), wanted, "{name}");
        }
        assert_eq!(vendor(None), Vendor::Anthropic);
    }

    #[test]
    fn an_observed_picture_leaves_the_reply_and_its_place_stays() {
        let mut reply = object(json!({
            "effect": "confirmed",
            "picture": {
                "id": "shot-3", "media_type": "image/png", "data": "iVBORw==",
                "x": 1, "y": 2, "width": 3, "height": 4, "scale": 0.5,
            },
        }));
        assert_eq!(take(&mut reply), Some(ContentBlock::image("iVBORw==", "image/png")));
        let place = json!({
            "id": "shot-3", "media_type": "image/png",
            "x": 1, "y": 2, "width": 3, "height": 4, "scale": 0.5,
        });
        assert_eq!(reply.get("picture"), Some(&place));
        assert_eq!(take(&mut reply), None);
    }

    #[test]
    fn only_a_whole_picture_of_artifact_get_is_shown() {
        let reply = |content: &str, size: u64, media_type: &str| {
            let output = json!({
                "content": content, "encoding": "base64", "content_type": media_type, "size": size,
            });
            take(&mut object(json!({ "pack": "artifact.get", "output": output })))
        };
        let picture = ContentBlock::image("iVBORw==", "image/png");
        assert_eq!(reply("iVBORw==", 4, "image/png"), Some(picture));
        assert_eq!(reply("iVBORw==", 5, "image/png"), None, "a part");
        assert_eq!(reply("iVBORw==", 4, "application/pdf"), None);
    }
}
