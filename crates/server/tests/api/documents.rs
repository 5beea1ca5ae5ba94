//! Packs for documents, recordings, maps and desktop programs, with fake guests that play our program.

use std::net::SocketAddr;

use axum::{Json, Router, routing::post};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use helmdeck_testkit::{Client, fake::FakeServer};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::packs::{headless, run};

/// What our program in the session writes.
const READ: &str = r##"{"format": "docx", "markdown": "# Plan\n", "pages": null, "warnings": []}"##;

async fn refused(client: &Client, pack: &str, input: &Value, status: u16, code: &str) -> Value {
    let answer = client.post(&format!("/api/v1/packs/{pack}"), input).await;
    let body = answer.json();
    answer.expect_error(status, code);
    body
}

#[tokio::test]
async fn a_document_is_read_in_the_session_and_removed_from_it() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    let guest = server.runtime.guest(&session);
    guest.end_program("read-document", 0, READ, "");
    let input = json!({
        "_session_id": session, "source_b64": BASE64_STANDARD.encode("PK"), "filename": "../plan.docx",
        "ocr_lang": ["deu"], "do_ocr": false,
    });
    let job = run(&ann, "doc.parse", &input).await;
    let output = &job["output"];
    assert_eq!((&output["markdown"], &output["format"]), (&json!("# Plan\n"), &json!("docx")));
    assert_eq!((&output["status"], &output["engine"]), (&json!("success"), &json!("helmdeck")));
    let started = guest.started();
    let (program, args) = started[0].command.clone().words();
    assert_eq!((program.as_str(), args[0].as_str()), ("/opt/helmdeck/helmdeck", "read-document"));
    assert!(args[1].starts_with("/home/agent/.helmdeck/") && args[1].ends_with("/plan.docx"));
    let options: Value = serde_json::from_str(started[0].stdin.as_deref().unwrap()).unwrap();
    assert_eq!((&options["languages"], &options["ocr"]), (&json!(["deu"]), &json!(false)));
    assert_eq!(started[1].command.name(), "rm");

    assert_eq!(output.get("text"), None, "only Markdown was asked for");

    // A file of the session stays where it is.
    let input =
        json!({ "_session_id": session, "path": "/workspace/a.pdf", "language": "eng+deu" });
    guest.end_program("/workspace/a.pdf", 0, READ, "");
    let job = run(&ann, "doc.ocr", &input).await;
    assert_eq!(
        (&job["output"]["text"], &job["output"]["language"]),
        (&json!("# Plan\n"), &json!("eng+deu"))
    );
    assert_eq!(guest.started().len(), 3, "nothing is removed");
}

#[tokio::test]
async fn other_forms_of_a_document_are_returned_or_said_to_be_missing() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    server.runtime.guest(&session).end_program("read-document", 0, READ, "");
    let input = json!({ "_session_id": session, "path": "/a.docx", "formats": ["md", "plain"] });
    let output = run(&ann, "doc.parse", &input).await["output"].clone();
    assert_eq!((&output["text"], &output["markdown"]), (&json!("Plan\n"), &json!("# Plan\n")));
    assert_eq!((&output["status"], output.get("html")), (&json!("success"), None));
    let input = json!({ "_session_id": session, "path": "/a.docx", "formats": ["html"] });
    let output = run(&ann, "doc.parse", &input).await["output"].clone();
    assert_eq!(output["status"], "partial_success");
    assert_eq!(output["warnings"], json!(["html is missing: only Docling makes it"]));
}

#[tokio::test]
async fn the_copies_of_a_job_are_removed_when_it_fails() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    let guest = server.runtime.guest(&session);
    guest.end_program("-show_format", 1, "", "no video");
    let text = json!({ "content": "no video", "filename": "video.mp4" });
    let key = run(&ann, "artifact.put", &text).await["output"]["artifact_key"].clone();
    let video = json!({ "_session_id": session, "video_artifact_key": key });
    refused(&ann, "av.validate", &video, 400, "invalid_input").await;
    let last = guest.started().last().unwrap().command.clone().words();
    assert_eq!((last.0.as_str(), last.1[0].as_str()), ("rm", "-rf"));
    assert!(last.1[2].starts_with("/home/agent/.helmdeck/"), "{last:?}");

    guest.end_program("repo.fetch /workspace", 0, "/workspace/app", "");
    guest.end_program("git clone", 128, "", "fatal: it broke off");
    let clone = json!({ "_session_id": session, "url": "https://example.com/app.git" });
    refused(&ann, "repo.fetch", &clone, 502, "handler_failed").await;
    let last = guest.started().last().unwrap().command.clone().words();
    assert_eq!(last.1, ["-rf", "--", "/workspace/app"]);
}

#[tokio::test]
async fn a_document_that_cannot_be_read_says_why() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    let guest = server.runtime.guest(&session);
    let named = |path: &str| json!({ "_session_id": session, "path": path });
    let says = |error: &str| {
        json!({ "error": error, "message": "why", "program": "tesseract" }).to_string()
    };
    guest.end_program("/damaged", 2, &says("damaged"), "");
    refused(&ann, "doc.parse", &named("/damaged"), 400, "invalid_input").await;
    let unreadable = json!({ "error": "unreadable", "message": "No such file or directory" });
    guest.end_program("/elsewhere", 2, &unreadable.to_string(), "");
    let body = refused(&ann, "doc.parse", &named("/elsewhere"), 400, "invalid_input").await;
    assert_eq!(body["field"], "path");
    assert!(body["message"].as_str().unwrap().ends_with("pass its `_session_id`"), "{body}");
    guest.end_program("/missing", 2, &says("missing_program"), "");
    let body = refused(&ann, "doc.ocr", &named("/missing"), 409, "not_ready").await;
    assert_eq!(body["hint"], "on the server, run scripts/packages.sh install documents");
    assert_eq!(body["retryable"], false);
    guest.end_program("/crash", 139, "", "segmentation fault");
    let body = refused(&ann, "doc.parse", &named("/crash"), 502, "handler_failed").await;
    assert!(body["message"].as_str().unwrap().contains("segmentation fault"), "{body}");
    for (input, field) in [
        (json!({}), "source_url"),
        (json!({ "path": "/a", "source_b64": "eA==" }), "source_url"),
        (json!({ "source_b64": "%%%" }), "source_b64"),
        (json!({ "source_url": "file:///etc/passwd" }), "source_url"),
        (json!({ "path": "relative" }), "path"),
        (json!({ "path": "/a", "ocr_lang": ["--help"] }), "ocr_lang[0]"),
        (json!({ "path": "/a", "unknown": 1 }), "unknown"),
    ] {
        let body = refused(&ann, "doc.parse", &input, 400, "invalid_input").await;
        assert_eq!(body["field"], field, "{input}");
    }
    let private = json!({ "source_url": "http://169.254.169.254/x.pdf" });
    refused(&ann, "doc.ocr", &private, 403, "egress_denied").await;
}

/// A Docling service.
async fn docling(answer: Value) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let convert = post(async move |Json(asked): Json<Value>| {
        assert_eq!(asked["sources"][0]["filename"], "a.pdf");
        let mut answer = answer;
        let wanted = asked["options"]["to_formats"].as_array().unwrap();
        for (format, field, text) in
            [("html", "html_content", "<h1>From"), ("text", "text_content", "From Docling")]
        {
            if wanted.contains(&json!(format)) {
                answer["document"][field] = json!(text);
            }
        }
        Json(answer)
    });
    let router = Router::new().route("/v1/convert/source", convert);
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

#[tokio::test]
async fn docling_reads_documents_if_it_is_configured() {
    let converted = json!({ "status": "success", "document": { "md_content": "# From Docling" } });
    let address = docling(converted).await;
    let url = format!("http://{address}");
    let settings = [("HELMDECK_DOCLING_ENABLED", "true"), ("HELMDECK_DOCLING_URL", url.as_str())];
    let server = FakeServer::start_with(&settings).await;
    let ann = server.client("ann", "sessions:*");
    let input = json!({ "source_b64": BASE64_STANDARD.encode("%PDF-"), "filename": "a.pdf" });
    let job = run(&ann, "doc.parse", &input).await;
    assert_eq!(
        (&job["output"]["markdown"], &job["output"]["engine"]),
        (&json!("# From Docling"), &json!("docling"))
    );
    assert_eq!(job["output"].get("html"), None);
    let mut forms = input.clone();
    forms["formats"] = json!(["html", "text"]);
    let output = run(&ann, "doc.parse", &forms).await["output"].clone();
    assert_eq!((&output["html"], &output["text"]), (&json!("<h1>From"), &json!("From Docling")));
    assert!(server.runtime.guests().is_empty(), "Docling needs no session");
    // Docling reads no files of a session.
    let session = headless(&ann).await;
    server.runtime.guest(&session).end_program("read-document", 0, READ, "");
    let file = json!({ "_session_id": session, "path": "/a.docx" });
    assert_eq!(run(&ann, "doc.parse", &file).await["output"]["engine"], "helmdeck");

    let address = docling(json!({ "status": "failure", "errors": ["no pages"] })).await;
    let url = format!("http://{address}");
    let settings = [("HELMDECK_DOCLING_ENABLED", "true"), ("HELMDECK_DOCLING_URL", url.as_str())];
    let server = FakeServer::start_with(&settings).await;
    let ann = server.client("ann", "sessions:*");
    let body = refused(&ann, "doc.parse", &input, 502, "handler_failed").await;
    assert!(body["message"].as_str().unwrap().contains("no pages"), "{body}");
}

#[tokio::test]
async fn a_map_comes_from_our_program_in_the_clone() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    let guest = server.runtime.guest(&session);
    let map = json!({
        "map": "a.rs:\n  1 fn a()\n", "tokens_estimated": 5, "files_covered": 1, "files_total": 1,
        "symbols_covered": 1, "symbols_total": 1, "languages": { "rust": 1 }, "files_skipped": 0,
    });
    guest.end_program("repo-map", 0, &map.to_string(), "");
    let input =
        json!({ "_session_id": session, "clone_path": "/workspace/app", "token_budget": 99 });
    let output = run(&ann, "repo.map", &input).await["output"].clone();
    assert_eq!(output, map);
    let started = &guest.started()[0];
    assert_eq!(started.cwd.as_deref(), Some("/workspace/app"));
    assert!(started.stdin.as_deref().unwrap().contains("\"token_budget\":99"));
    guest.end_program("repo-map", 2, "", "languages: \"cobol\" is not known");
    let body = refused(&ann, "repo.map", &input, 400, "invalid_input").await;
    assert_eq!(body["field"], "languages");
    let wrong = json!({ "_session_id": session, "clone_path": "app" });
    refused(&ann, "repo.map", &wrong, 400, "invalid_input").await;
}

#[tokio::test]
async fn a_recording_is_checked_and_the_report_is_an_artifact() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    let guest = server.runtime.guest(&session);
    let probe = json!({
        "streams": [{ "codec_type": "video", "codec_name": "h264", "pix_fmt": "yuv420p", "duration": "10" },
            { "codec_type": "audio", "codec_name": "aac", "duration": "10" }],
        "format": { "format_name": "mov,mp4", "duration": "10" },
    });
    guest.end_program("-show_format", 0, &probe.to_string(), "");
    guest.end_program("trace", 0, "type:'moov'\ntype:'mdat'\n", "");
    guest.end_program("-xerror", 0, "", "");
    guest.end_program("blackdetect", 0, "", "black_start:1 black_end:3");
    guest.end_program("packet=", 0, "0.0,5.0\n5.0,5.0\n", "");
    guest.end_program("ebur128", 0, "", "mean_volume: -18.0 dB\n I: -14.2 LUFS");
    guest.end_program("head -c", 0, "1\n00:00:00.000 --> 00:00:09,900\nHi\n", "");
    let mut input = json!({
        "_session_id": session, "video_path": "/workspace/v.mp4", "captions_path": "/workspace/c.srt",
    });
    let job = run(&ann, "av.validate", &input).await;
    let validation = &job["output"]["validation"];
    let failed: Vec<_> =
        validation["checks"].as_array().unwrap().iter().filter(|it| it["pass"] == false).collect();
    let names: Vec<_> = failed.iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["video:black_runs", "srt:comma_separator"], "{validation}");
    assert_eq!((&validation["failed"], &validation["warnings"]), (&json!(1), &json!(1)));
    let key = job["output"]["validation_artifact_key"].as_str().unwrap();
    assert_eq!(job["artifacts"][0]["key"], key);

    input["strict"] = json!(true);
    let body = refused(&ann, "av.validate", &input, 502, "handler_failed").await;
    assert_eq!(body["retryable"], false);
    assert!(body["message"].as_str().unwrap().contains("srt:comma_separator"), "{body}");
    let nothing = json!({ "_session_id": session, "captions_path": "/workspace/c.srt" });
    refused(&ann, "av.validate", &nothing, 400, "invalid_input").await;
    guest.end_program("/workspace/none", 1, "", "No such file or directory");
    let missing = json!({ "_session_id": session, "audio_path": "/workspace/none" });
    let body = refused(&ann, "av.validate", &missing, 400, "invalid_input").await;
    assert_eq!(body["field"], "audio_path");
}

#[tokio::test]
async fn a_desktop_program_is_started_shown_and_left_running() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let input = json!({ "command": "sleep", "args": ["99"], "wait_ms": 0 });
    let job = run(&ann, "desktop.run_app_and_screenshot", &input).await;
    let output = &job["output"];
    assert_eq!((&output["running"], &output["command"]), (&json!(true), &json!("sleep")), "{job}");
    let artifact = &job["artifacts"][0];
    assert_eq!(
        (&artifact["key"], &artifact["content_type"]),
        (&output["artifact_key"], &json!("image/png"))
    );
    let session = job["_session_id"].as_str().expect("the session stays");
    let guest = server.runtime.guest(session);
    assert!(guest.started()[0].background);
    // Its window is awaited for as long as it may take, and the picture is taken when nothing moves.
    let input = json!({ "_session_id": session, "command": "sleep", "wait_ms": 300 });
    run(&ann, "desktop.run_app_and_screenshot", &input).await;
    let pictures = guest.bodies("screenshot");
    assert_eq!(pictures[0].get("settle"), None);
    assert_eq!(pictures[1]["settle"], json!({ "quiet_ms": 300, "timeout_ms": 1000 }));
    guest.end_program("no-such-program", 3, "", "cannot open display");
    let input = json!({ "_session_id": session, "command": "no-such-program", "wait_ms": 0 });
    let body = refused(&ann, "desktop.run_app_and_screenshot", &input, 502, "handler_failed").await;
    assert!(body["message"].as_str().unwrap().contains("cannot open display"), "{body}");
    let headless = headless(&ann).await;
    let input = json!({ "_session_id": headless, "command": "xterm" });
    let answer = ann.post("/api/v1/packs/desktop.run_app_and_screenshot", &input).await;
    assert_eq!(answer.json()["error"], "not_desktop_mode");
}
