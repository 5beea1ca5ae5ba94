//! A provider on the loopback that answers with a [`ScriptedModel`], as OpenAI's Chat or Anthropic's Messages do.

use std::{collections::HashSet, io, net::SocketAddr, sync::Arc, time::Duration};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Mutex,
    task::AbortHandle,
    time::timeout,
};

use super::mind::{Reply, ScriptedModel, Seen};

const DEADLINE: Duration = Duration::from_secs(30);

/// What one request cost: the sizes of its pictures, and the characters of its text.
#[derive(Debug, Clone, Default)]
pub struct RequestCost {
    /// Width and height of each picture.
    pub pictures: Vec<(u32, u32)>,
    /// Those that no request had before.
    pub fresh: Vec<(u32, u32)>,
    /// Characters.
    pub text: usize,
}

#[derive(Default)]
struct State {
    mind: Option<ScriptedModel>,
    asked: Vec<RequestCost>,
    /// Pictures that the model has seen in this task.
    known: HashSet<Vec<u8>>,
}

/// A running provider.
pub struct Provider {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    task: AbortHandle,
}

impl Provider {
    /// Starts it.
    pub async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let state = Arc::new(Mutex::new(State::default()));
        let shared = state.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let state = shared.clone();
                tokio::spawn(async move { serve(stream, &state).await });
            }
        });
        Ok(Self { address, state, task: task.abort_handle() })
    }

    /// Settings of a server that uses it.
    pub fn environment(&self) -> Vec<(String, String)> {
        let url = format!("http://{}/v1", self.address);
        let of = |name: &str, value: &str| (format!("HELMDECK_{name}"), value.to_owned());
        ["GROQ", "ANTHROPIC"]
            .iter()
            .flat_map(|name| {
                [
                    of(&format!("{name}_BASE_URL"), &url),
                    of(&format!("{name}_API_KEY"), "sk-of-tasks-0123456789"),
                ]
            })
            .collect()
    }

    /// The model that answers from now on.
    pub async fn think(&self, mind: ScriptedModel) {
        *self.state.lock().await = State { mind: Some(mind), ..State::default() };
    }

    /// What it was asked since.
    pub async fn asked(&self) -> Vec<RequestCost> {
        self.state.lock().await.asked.clone()
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, state: &Mutex<State>) -> Option<()> {
    let (path, body) = timeout(DEADLINE, request(&mut stream)).await.ok()??;
    let (status, text) = match serde_json::from_slice::<Value>(&body) {
        Ok(body) if path.ends_with("/messages") => ("200 OK", answer(&body, state, true).await),
        Ok(body) => ("200 OK", answer(&body, state, false).await),
        Err(_) => ("404 Not Found", json!({ "error": { "message": "nothing here" } }).to_string()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        text.len()
    );
    stream.write_all(head.as_bytes()).await.ok()?;
    stream.write_all(text.as_bytes()).await.ok()?;
    stream.shutdown().await.ok()
}

async fn request(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|part| part == b"\r\n\r\n") {
            break end + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(bytes.get(..end)?).to_lowercase();
    let path = head.split(' ').nth(1)?.to_owned();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    let length: usize = length.and_then(|it| it.trim().parse().ok()).unwrap_or(0);
    while bytes.len() < end + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    Some((path, bytes.get(end..end + length)?.to_vec()))
}

async fn answer(body: &Value, state: &Mutex<State>, messages: bool) -> String {
    let mut state = state.lock().await;
    let mut asked = RequestCost::default();
    let mut pictures = Vec::new();
    measure(body, &mut asked, &mut pictures);
    let told = body.get("messages").and_then(Value::as_array).and_then(|all| {
        let last = all.iter().rposition(|message| message.get("role") == Some(&"assistant".into()));
        let after = all.get(last? + 1..)?;
        Some(after.iter().map(words).collect::<Vec<_>>().join("\n"))
    });
    // The first picture comes with the goal.
    let goal = || body.get("messages").map(words).unwrap_or_default();
    let beside = told.clone().unwrap_or_else(goal);
    let told = told.unwrap_or_default();
    let corner = beside.rsplit_once("the part of the screen at ").and_then(|(_, rest)| {
        let (x, rest) = rest.split_once(',')?;
        let y = rest.split(|letter: char| !letter.is_ascii_digit()).next()?;
        Some((x.parse().ok()?, y.parse().ok()?))
    });
    // A conversation only grows at its end, but equal pictures of one screen are sent again.
    let after = body.get("messages").and_then(Value::as_array).map(|all| {
        let last = all.iter().rposition(|message| message.get("role") == Some(&"assistant".into()));
        let (mut unused, mut newest) = (RequestCost::default(), Vec::new());
        for message in all.iter().skip(last.map_or(0, |at| at + 1)) {
            measure(message, &mut unused, &mut newest);
        }
        newest
    });
    let picture = after.and_then(|mut newest| newest.pop());
    for picture in pictures {
        let side = size(&picture);
        if state.known.insert(picture) {
            asked.fresh.extend(side);
        }
    }
    let seen = Seen { picture, corner: corner.unwrap_or((0, 0)), whole: corner.is_none(), told };
    let number = state.asked.len();
    state.asked.push(asked);
    let reply = match &mut state.mind {
        Some(mind) => mind.next(seen).await,
        None => Reply::Words("Nobody is here.".to_owned()),
    };
    if messages { anthropic(reply, number) } else { chat(reply, number) }
}

/// Collects pictures and counts text.
fn measure(value: &Value, asked: &mut RequestCost, pictures: &mut Vec<Vec<u8>>) {
    match value {
        Value::String(text) => {
            let data = match text.strip_prefix("data:image/") {
                Some(rest) => rest.split_once("base64,").map(|(_, data)| data),
                None if text.len() > 2000 => Some(text.as_str()),
                None => None,
            };
            match data.and_then(|data| BASE64_STANDARD.decode(data).ok()) {
                Some(picture) => {
                    asked.pictures.extend(size(&picture));
                    pictures.push(picture);
                }
                None => asked.text += text.len(),
            }
        }
        Value::Array(all) => all.iter().for_each(|one| measure(one, asked, pictures)),
        Value::Object(fields) => {
            for (name, one) in fields {
                asked.text += name.len();
                measure(one, asked, pictures);
            }
        }
        _ => {}
    }
}

/// Width and height of a PNG.
pub fn size(picture: &[u8]) -> Option<(u32, u32)> {
    let number = |at: usize| {
        let bytes: [u8; 4] = picture.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_be_bytes(bytes))
    };
    Some((number(16)?, number(20)?))
}

/// All text of a message.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) if !text.starts_with("data:") && text.len() < 20_000 => text.clone(),
        Value::Array(all) => all.iter().map(words).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => {
            let told = ["content", "text"].iter().filter_map(|name| fields.get(*name));
            told.map(words).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn chat(reply: Reply, number: usize) -> String {
    let call = |arguments: String| {
        let function = json!({ "name": "computer", "arguments": arguments });
        json!([{ "id": format!("call_{number}"), "type": "function", "function": function }])
    };
    let (content, calls) = match reply {
        Reply::Act(action) => (None, Some(call(action.to_string()))),
        Reply::Words(words) => (Some(words), None),
        Reply::Broken(nth) => match nth % 4 {
            0 => return "<h1>502 Bad Gateway</h1>".to_owned(),
            1 => (None, Some(call("{\"action\": \"left_click\", \"coord".to_owned()))),
            2 => (None, Some(call("{\"action\": \"teleport\"}".to_owned()))),
            _ => (
                None,
                Some(call("{\"action\": \"left_click\", \"coordinate\": \"here\"}".to_owned())),
            ),
        },
    };
    let mut message = json!({ "role": "assistant", "content": content });
    if let (Some(calls), Value::Object(fields)) = (calls, &mut message) {
        fields.insert("tool_calls".to_owned(), calls);
    }
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "llama-4-scout",
        "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120 },
    })
    .to_string()
}

fn anthropic(reply: Reply, number: usize) -> String {
    let (block, stop) = match reply {
        Reply::Act(action) => {
            let mut input = action;
            let name = input.get("action").and_then(Value::as_str).unwrap_or_default().to_owned();
            if let Value::Object(fields) = &mut input {
                fields.remove("action");
            }
            let id = format!("toolu_{number}");
            let block = json!({
                "type": "tool_use", "id": id, "name": name, "toolset_name": "computer", "input": input,
            });
            (block, "tool_use")
        }
        Reply::Words(words) => (json!({ "type": "text", "text": words }), "end_turn"),
        Reply::Broken(_) => (json!({ "type": "text", "text": "" }), "end_turn"),
    };
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-5",
        "content": [block], "stop_reason": stop, "stop_sequence": null,
        "usage": { "input_tokens": 100, "output_tokens": 20 },
    })
    .to_string()
}
