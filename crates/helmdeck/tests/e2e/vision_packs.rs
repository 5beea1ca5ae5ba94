//! Packs that use models, on a real desktop with a real page and a scripted model.

use std::{fs, path::Path};

use helmdeck_testkit::{Client, Desk, FakeVendors, Installation, Page, Server, Site};
use serde_json::{Value, json};

const SECRET: &str = "correct-horse-battery-staple";

/// One field has no name that a program tells: only a picture beside it.
const FORM: &str = r#"<!doctype html><title>Sign in</title>
    <style>input, button { font-size: 24px; margin: 8px; width: 420px; display: block }</style>
    <h1>Sign in</h1>
    <label>Name <input id=n></label>
    <label>Access code <input id=code autocomplete=off></label>
    <canvas id=c width=200 height=40></canvas><input id=age type=number>
    <button onclick="out.textContent = 'Welcome ' + n.value + ' ' + age.value + ' '
        + [...code.value].reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) % 1000003, 0)">Enter</button>
    <p id=out></p>
    <script>const pen = c.getContext('2d'); pen.font = '28px sans-serif'; pen.fillText('Your age', 4, 30)</script>"#;

fn checksum(text: &str) -> u32 {
    text.bytes().fold(0, |sum, byte| (sum * 31 + u32::from(byte)) % 1_000_003)
}

/// What a model of Gemini says that clicks in the middle of a rectangle.
fn clicks(rect: &Value, (width, height): (i64, i64)) -> Value {
    let middle = |start: &str, side: &str, whole: i64| {
        (rect[start].as_i64().unwrap() + rect[side].as_i64().unwrap() / 2) * 1000 / whole
    };
    let at = json!({ "x": middle("x", "width", width), "y": middle("y", "height", height) });
    let part =
        json!({ "functionCall": { "name": "click", "args": at }, "thoughtSignature": "c2ln" });
    json!({ "candidates": [{ "content": { "role": "model", "parts": [part] }, "finishReason": "STOP" }] })
}

/// Files below a folder that contain the secret.
fn holding(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                Ok(kind) if kind.is_file() => {
                    let bytes = fs::read(entry.path()).unwrap_or_default();
                    if bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes()) {
                        found.push(entry.path().display().to_string());
                    }
                }
                _ => {}
            }
        }
    }
    found
}

/// The colour in the middle of a part of a picture.
async fn colour(client: &Client, key: &str, rect: &Value) -> [u8; 3] {
    let path = format!("/api/v1/artifacts/download/{key}");
    let picture = client.get(&path).await.expect(200);
    let mut reader = png::Decoder::new(std::io::Cursor::new(picture.body)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let of = |name: &str| usize::try_from(rect[name].as_i64().unwrap()).unwrap();
    let (x, y) = (of("x") + of("width") / 4, of("y") + of("height") / 2);
    let at = y * info.line_size + x * info.color_type.samples();
    [pixels[at], pixels[at + 1], pixels[at + 2]]
}

#[tokio::test]
async fn a_form_is_filled_by_what_people_see_and_the_secret_is_nowhere() {
    let site = Site::start(|_| Page::html(FORM)).await;
    let vendors = FakeVendors::start().await;
    let env = vendors.environment(&["gemini"]);
    let env = env.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let env: Vec<_> = env.chain([Site::REACHABLE]).collect();
    let installation = Installation::new();
    let log = installation.path().join("server.log");
    let server = Server::start_logging(installation, &env, log.clone());
    let client = server.client("ann", "sessions:*,models:use,vault:*");
    let credential = json!({
        "name": "shop-login", "type": "api_key", "host_pattern": "host.helmdeck.internal", "value": SECRET,
    });
    client.post("/api/v1/vault/credentials", &credential).await.expect(201);

    let desk = Desk::desktop(&client).await;
    desk.browser("navigate", json!({ "url": site.url("/") })).await.expect(200);
    let age = desk.act("find", json!({ "role": "spinbutton" })).await["candidates"][0].clone();
    let code = desk.act("find", json!({ "name": "Access code" })).await["candidates"][0].clone();
    vendors.say("gemini", clicks(&age["rect"], (1280, 800)));

    let welcome = format!("Welcome Ann 41 {}", checksum(SECRET));
    let input = json!({
        "_session_id": desk.id, "model": "gemini/gemini-3.5-flash", "submit": "Enter",
        "fields": { "Name": "Ann", "Access code": "${vault:shop-login}", "Your age": "41" },
        "success": { "all": [{ "check": "text_visible", "text": welcome }] },
    });
    let reply = client.post("/api/v1/packs/vision.fill_form_by_label", &input).await.expect(200);
    let done = reply.json()["output"].clone();
    assert_eq!(
        (&done["completed"], &done["outcome"]),
        (&json!(true), &json!("completed")),
        "{done:#}"
    );
    assert_eq!(done["fields_filled"].as_array().unwrap().len(), 3);
    let of = |label: &str| {
        let fields = done["fields"].as_array().unwrap();
        fields.iter().find(|field| field["label"] == label).unwrap().clone()
    };
    assert_eq!(
        (&of("Your age")["found_by"], &of("Name")["found_by"]),
        (&json!("model"), &json!("name"))
    );
    assert_eq!(of("Access code")["check"], "focus", "what it holds is not told: {done:#}");
    assert_eq!(vendors.count("gemini"), 1);

    // The last picture shows the name, and not the code.
    let key = done["artifact_key"].as_str().unwrap();
    assert_eq!(colour(&client, key, &code["rect"]).await, [0x80; 3]);
    let name = desk.act("find", json!({ "name": "Name", "role": "textbox" })).await;
    assert_ne!(colour(&client, key, &name["candidates"][0]["rect"]).await, [0x80; 3]);

    let job = reply.json()["job_id"].as_str().unwrap().to_owned();
    let mut texts = vec![reply.text()];
    for path in [
        format!("/api/v1/sessions/{}/actions", desk.id),
        format!("/api/v1/sessions/{}/trace", desk.id),
        format!("/api/v1/sessions/{}/vision", desk.id),
        format!("/api/v1/jobs/{job}"),
        format!("/api/v1/jobs/{job}/input"),
        format!("/api/v1/sessions/{}", desk.id),
    ] {
        texts.push(client.get(&path).await.expect(200).text());
    }
    let sent = vendors.requests();
    texts.extend(sent.iter().map(|sent| String::from_utf8_lossy(&sent.body).into_owned()));
    for text in &texts {
        assert!(!text.contains(SECRET), "{text}");
    }
    // As long as the field holds the secret, no later picture or list shows it.
    let drawn = "getComputedStyle(document.querySelector('#code')).webkitTextSecurity";
    let drawn = desk.browser("execute", json!({ "script": drawn })).await.expect(200).json();
    assert_eq!(drawn["result"], "disc", "{drawn}");
    let tree = client.get(&format!("/api/v1/desktop/tree?session_id={}", desk.id)).await;
    let listed = [tree.expect(200).json(), desk.act("find", json!({ "text": "code" })).await];
    let snapshot = desk.browser("snapshot", json!({})).await.expect(200).text();
    assert!(!format!("{listed:?} {snapshot}").contains(SECRET));

    // No picture of the trace belongs to the typing of the secret, or to anything after it.
    let trace: Value = serde_json::from_str(&texts[2]).unwrap();
    let entries = trace["entries"].as_array().unwrap();
    let typed = entries.iter().rposition(|it| it["action"] == "type").unwrap();
    assert!(entries[typed..].iter().all(|it| it["after"].is_null()), "{:#}", trace);
    desk.end().await;
    assert_eq!(holding(&server.data_dir()), Vec::<String>::new());
    assert!(!fs::read_to_string(&log).unwrap_or_default().contains(SECRET));
}
