//! Packs for documents and recordings with the real programs, in real sessions.

use std::{
    fs,
    io::{Cursor, Write},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::Command,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use helmdeck_testkit::{Client, Server};
use http::Method;
use serde_json::{Value, json};
use zip::{ZipWriter, write::SimpleFileOptions};

async fn output(client: &Client, pack: &str, input: &Value) -> Value {
    let job = client.post(&format!("/api/v1/packs/{pack}"), input).await.expect(200).json();
    job["output"].clone()
}

/// A Word document with a heading and a table.
fn word() -> Vec<u8> {
    let text = |text: &str| format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>");
    let cell = |content: &str| format!("<w:tc>{}</w:tc>", text(content));
    let body = format!(
        "<w:p><w:pPr><w:outlineLvl w:val=\"0\"/></w:pPr><w:r><w:t>Prices</w:t></w:r></w:p>\
         <w:tbl><w:tr>{}{}</w:tr><w:tr>{}{}</w:tr></w:tbl>",
        cell("Tea"),
        cell("Milk"),
        cell("3"),
        cell("1|2")
    );
    let document = format!("<w:document><w:body>{body}</w:body></w:document>");
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    archive.start_file("word/document.xml", SimpleFileOptions::default()).unwrap();
    archive.write_all(document.as_bytes()).unwrap();
    archive.finish().unwrap().into_inner()
}

/// A PDF of one page with texts at places, given as size, left, distance from the bottom, text.
fn pdf(texts: &[(u32, u32, u32, &str)]) -> Vec<u8> {
    let lines = texts
        .iter()
        .map(|(size, x, y, text)| format!("BT /F1 {size} Tf {x} {y} Td ({text}) Tj ET\n"));
    let font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_vec();
    page("/Font << /F1 5 0 R >>", &lines.collect::<String>(), font)
}

/// A PDF whose page is a picture of 900x200, in JPEG.
fn scanned(picture: &[u8]) -> Vec<u8> {
    let head = format!(
        "<< /Type /XObject /Subtype /Image /Width 900 /Height 200 /ColorSpace /DeviceGray \
         /BitsPerComponent 8 /Filter /DCTDecode /Length {} >>\nstream\n",
        picture.len()
    );
    let object = [head.as_bytes(), picture, b"\nendstream"].concat();
    page("/XObject << /I 5 0 R >>", "q 540 0 0 120 36 600 cm /I Do Q\n", object)
}

/// A PDF of one page, with what it uses as the last object.
fn page(resources: &str, content: &str, used: Vec<u8>) -> Vec<u8> {
    let objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R \
             /Resources << {resources} >> >>"
        )
        .into_bytes(),
        format!("<< /Length {} >>\nstream\n{content}endstream", content.len()).into_bytes(),
        used,
    ];
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut places = String::new();
    for (at, object) in objects.iter().enumerate() {
        places += &format!("{:010} 00000 n \n", file.len());
        file.extend(format!("{} 0 obj\n", at + 1).bytes());
        file.extend(object);
        file.extend(b"\nendobj\n");
    }
    let (table, size) = (file.len(), objects.len() + 1);
    let end = format!(
        "xref\n0 {size}\n0000000000 65535 f \n{places}trailer << /Size {size} /Root 1 0 R >>\n\
         startxref\n{table}\n%%EOF\n"
    );
    file.extend(end.bytes());
    file
}

/// A file that a program on this machine makes.
fn made(folder: &Path, name: &str, words: &[&str]) -> Vec<u8> {
    let status = Command::new(words[0]).args(&words[1..]).current_dir(folder).status();
    assert!(status.unwrap().success(), "{words:?}");
    fs::read(folder.join(name)).unwrap()
}

fn parsed(content: &[u8], name: &str) -> Value {
    json!({ "source_b64": BASE64_STANDARD.encode(content), "filename": name, "workspace": "docs" })
}

#[tokio::test]
async fn documents_and_pictures_are_read_by_the_real_programs() {
    let server = Server::start();
    let agent = server.client("agent", "sessions:*");
    let dir = tempfile::tempdir().unwrap();

    let read = output(&agent, "doc.parse", &parsed(&word(), "prices.docx")).await;
    assert_eq!(read["markdown"], "# Prices\n\n| Tea | Milk |\n| --- | --- |\n| 3 | 1\\|2 |\n");

    let page = pdf(&[
        (24, 72, 700, "Annual Report"),
        (12, 72, 660, "The year was good, and the numbers below"),
        (12, 72, 646, "show how good it was for tea."),
        (12, 72, 600, "Item"),
        (12, 300, 600, "Price"),
        (12, 72, 584, "Tea"),
        (12, 300, 584, "3.50"),
        (12, 72, 568, "Coffee"),
        (12, 300, 568, "4.20"),
    ]);
    let read = output(&agent, "doc.parse", &parsed(&page, "report.pdf")).await;
    assert_eq!(
        read["markdown"],
        "# Annual Report\n\nThe year was good, and the numbers below show how good it was for tea.\n\n\
         | Item | Price |\n| --- | --- |\n| Tea | 3.50 |\n| Coffee | 4.20 |\n"
    );
    assert_eq!((&read["pages"], &read["status"]), (&json!(1), &json!("success")));

    let words =
        ["convert", "-size", "900x200", "-pointsize", "64", "label:Invoice 4711 paid", "scan.png"];
    let picture = made(dir.path(), "scan.png", &words);
    let read = output(&agent, "doc.ocr", &parsed(&picture, "scan.png")).await;
    assert!(read["text"].as_str().unwrap().contains("Invoice 4711 paid"), "{read}");
    let gray = ["convert", "scan.png", "-colorspace", "Gray", "-type", "Grayscale", "scan.jpg"];
    let scan = scanned(&made(dir.path(), "scan.jpg", &gray));
    let read = output(&agent, "doc.parse", &parsed(&scan, "scan.pdf")).await;
    assert!(
        read["markdown"].as_str().unwrap().contains("4711"),
        "a page without text is read: {read}"
    );

    let bad = |content: &[u8]| parsed(content, "a.pdf");
    for content in [&b"%PDF-1.4 broken"[..], b"PK\x03\x04", b"\0\0"] {
        let answer = agent.post("/api/v1/packs/doc.parse", &bad(content)).await;
        answer.expect_error(400, "invalid_input");
    }
    let mut other = parsed(&picture, "scan.png");
    other["language"] = json!("tlh");
    let message = agent.post("/api/v1/packs/doc.ocr", &other).await.expect_error(409, "not_ready");
    assert!(message.contains("tlh"), "{message}");
}

#[tokio::test]
async fn a_recording_is_checked_by_the_real_programs() {
    let server = Server::start();
    let agent = server.client("agent", "sessions:*");
    let dir = tempfile::tempdir().unwrap();
    let input = "testsrc=duration=4:size=320x240:rate=10";
    let sound = "sine=frequency=440:duration=4,volume=0.4";
    let sources = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", input, "-f", "lavfi", "-i", sound];
    let codecs =
        ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac", "-movflags", "+faststart"];
    let words = [&sources[..], &codecs[..], &["good.mp4"]].concat();
    let video = made(dir.path(), "good.mp4", &words);
    let kind = [("content-type", "video/mp4")];
    let path = "/api/v1/artifacts/upload?filename=good.mp4";
    let upload = agent.send(Method::POST, path, &kind, video.into()).await;
    let key = upload.expect(201).json()["artifact_key"].clone();
    let checked = output(&agent, "av.validate", &json!({ "video_artifact_key": key })).await;
    assert_eq!(checked["validation"]["failed"], 0, "{checked}");
    let names: Vec<_> =
        checked["validation"]["checks"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert!(
        names.contains(&&json!("mp4:faststart")) && names.contains(&&json!("audio:loudness_lufs"))
    );
    let missing = json!({ "video_path": "/workspace/none.mp4" });
    agent.post("/api/v1/packs/av.validate", &missing).await.expect_error(400, "invalid_input");
}

#[tokio::test]
async fn a_program_of_the_operator_sees_nothing_of_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("look.sh");
    let script = "#!/bin/sh\nread -r input\nprintf '{\"input\": %s, \"ours\": %s, \"limit\": \"%s\", \"user\": \"%s\"}' \
                  \"$input\" \"$(env | grep -v HELMDECK_EXEC_ID | grep -c HELMDECK_)\" \"$LIMIT\" \"$USER\"\n";
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(folder.path().join("look.helmdeck-pack.yaml"), "env: [LIMIT=5]\ntimeout_s: 20\n")
        .unwrap();
    let server =
        Server::start_with(&[("HELMDECK_COMMAND_PACKS_DIR", folder.path().to_str().unwrap())]);
    let agent = server.client("agent", "sessions:*");
    let seen = output(&agent, "cmd.look", &json!({ "question": [1, "two"] })).await;
    let expected =
        json!({ "input": { "question": [1, "two"] }, "ours": 0, "limit": "5", "user": "agent" });
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn a_desktop_program_is_started_and_shown() {
    let server = Server::start();
    let agent = server.client("agent", "sessions:*");
    let input = json!({ "command": "xterm", "args": ["-T", "Shown"], "wait_ms": 10_000 });
    let job =
        agent.post("/api/v1/packs/desktop.run_app_and_screenshot", &input).await.expect(200).json();
    let windows = job["output"]["windows"].as_array().unwrap();
    assert!(windows.contains(&json!("Shown")), "{job}");
    assert_eq!(job["output"]["running"], true);
    let artifact = job["artifacts"][0]["url"].as_str().unwrap();
    let picture = agent.get(artifact).await.expect(200);
    assert!(picture.body.starts_with(b"\x89PNG"));
    let input = json!({ "_session_id": job["_session_id"], "command": "no-such-program" });
    let answer = agent.post("/api/v1/packs/desktop.run_app_and_screenshot", &input).await;
    assert_eq!(answer.json()["field"], "command");
    answer.expect_error(400, "invalid_input");
}
