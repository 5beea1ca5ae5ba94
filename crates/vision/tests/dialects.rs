//! Every action of every dialect, read and written: `dialects/` has the calls as vendors document them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may"
)]

use helmdeck_vision::{Action, Dialect, Grid, View, choose, dialect::anthropic::Tool};
use helmdeck_wire::point::Pixel;
use serde_json::{Value, json};

const VIEW: View = View { screen: (2000, 1000), picture: (1000, 500) };

fn dialects() -> Vec<(Dialect, &'static str)> {
    let claude = |tool| Dialect::Anthropic { tool, high: false };
    vec![
        (claude(Tool::Computer2024October), include_str!("dialects/computer_20241022.json")),
        (claude(Tool::Computer2025January), include_str!("dialects/computer_20250124.json")),
        (claude(Tool::Computer2025November), include_str!("dialects/computer_20251124.json")),
        (claude(Tool::ComputerToolset), include_str!("dialects/computer_toolset_20260801.json")),
        (claude(Tool::BrowserToolset), include_str!("dialects/browser_toolset_20260801.json")),
        (Dialect::OpenAi { preview: false }, include_str!("dialects/computer.json")),
        (Dialect::OpenAi { preview: true }, include_str!("dialects/computer_use_preview.json")),
        (Dialect::Gemini { legacy: true }, include_str!("dialects/computer_use_legacy.json")),
        (Dialect::Gemini { legacy: false }, include_str!("dialects/computer_use.json")),
        (Dialect::UiTars(Grid::Pixels), include_str!("dialects/ui_tars.json")),
        (Dialect::Qwen(Grid::Thousand), include_str!("dialects/qwen_vl.json")),
        (Dialect::Function, include_str!("dialects/function.json")),
        (Dialect::JsonText, include_str!("dialects/json.json")),
    ]
}

fn rows(text: &str) -> Vec<(Value, Vec<Action>, bool)> {
    let rows: Vec<Value> = serde_json::from_str(text).unwrap();
    let row = |row: Value| {
        let one = row.get("action").map(|action| json!([action]));
        let actions = one.unwrap_or_else(|| row["actions"].clone());
        (row["call"].clone(), serde_json::from_value(actions).unwrap(), row["read_only"] == true)
    };
    rows.into_iter().map(row).collect()
}

#[test]
fn every_call_is_read_as_its_action() {
    for (dialect, text) in dialects() {
        for (call, actions, _) in rows(text) {
            let reply = dialect.reply("I see a button.", std::slice::from_ref(&call));
            let turn = dialect.read(&reply, &VIEW).unwrap_or_else(|bad| panic!("{call}: {bad}"));
            assert_eq!(turn.calls.len(), 1, "{call}");
            assert_eq!(turn.calls[0].actions.as_ref(), Ok(&actions), "{} {call}", dialect.name());
            assert_eq!(turn.thought, "I see a button.", "{} {call}", dialect.name());
            let done = actions.iter().any(|action| matches!(action, Action::Done { .. }));
            assert_eq!(turn.done.is_some(), done, "{call}");
        }
    }
}

#[test]
fn every_action_is_written_as_its_call() {
    for (dialect, text) in dialects() {
        for (call, actions, read_only) in rows(text) {
            if read_only {
                continue;
            }
            let written = dialect.write("c1", &actions[0], &VIEW);
            assert_eq!(written.map(plain), Some(plain(call)), "{} {actions:?}", dialect.name());
        }
    }
}

/// Arguments that are text may have their fields in any order.
fn plain(mut call: Value) -> Value {
    if let Some(text) = call.pointer_mut("/function/arguments") {
        *text = serde_json::from_str(text.as_str().unwrap()).unwrap();
    }
    call
}

#[test]
fn results_of_a_set_of_tools_know_its_name() {
    let dialect = choose("anthropic", "claude-opus-5", true);
    let call = dialect.write("c1", &Action::Screenshot, &VIEW).unwrap();
    let turn = dialect.read(&dialect.reply("", &[call]), &VIEW).unwrap();
    assert_eq!(turn.calls[0].id.toolset.as_deref(), Some("computer"));
    let foreign = json!({ "type": "tool_use", "id": "c1", "name": "screenshot", "input": {} });
    let turn = dialect.read(&dialect.reply("", &[foreign]), &VIEW).unwrap();
    assert!(turn.calls[0].actions.is_err(), "a name without its set is another tool");
}

#[test]
fn words_without_a_call_end_a_run_with_a_tool_of_the_vendor() {
    for (provider, model) in
        [("anthropic", "claude-opus-5"), ("openai", "gpt-5.4"), ("gemini", "gemini-3.5-flash")]
    {
        let dialect = choose(provider, model, true);
        let turn = dialect.read(&dialect.reply("Saved.", &[]), &VIEW).unwrap();
        assert_eq!(turn.done.as_deref(), Some("Saved."), "{model}");
        assert!(dialect.read(&dialect.reply("", &[]), &VIEW).is_err(), "{model}");
    }
}

#[test]
fn nonsense_becomes_a_hint_and_never_a_panic() {
    let nonsense = [
        json!(null),
        json!({}),
        json!([]),
        json!({ "content": "text", "output": 3, "candidates": {}, "choices": [{}] }),
        json!({ "content": [{ "type": "tool_use" }], "choices": [{ "message": { "content": "{{{" } }] }),
        json!({ "output": [{ "type": "computer_call" }], "candidates": [{ "content": { "parts": [{ "functionCall": {} }] } }] }),
        json!({ "choices": [{ "message": { "content": "Action: click(start_box='(1" } }] }),
        json!({ "choices": [{ "message": { "tool_calls": [{ "function": { "arguments": "{\"action\": \"left_click\", \"coordinate\": [1]}" } }] } }] }),
    ];
    for (dialect, _) in dialects() {
        for reply in &nonsense {
            match dialect.read(reply, &VIEW) {
                Err(bad) => assert!(!bad.hint.is_empty()),
                Ok(turn) => {
                    assert!(
                        turn.calls.iter().all(|call| call.actions.is_err()),
                        "{reply} {turn:?}"
                    );
                    assert!(turn.done.is_none() || turn.calls.is_empty());
                }
            }
        }
    }
}

#[test]
fn safety_checks_of_vendors_reach_the_loop() {
    let dialect = Dialect::OpenAi { preview: true };
    let mut call = dialect.write("c1", &Action::click(5, 5), &VIEW).unwrap();
    let check = json!({ "id": "s1", "code": "malicious_instructions", "message": "Look first." });
    call["pending_safety_checks"] = json!([check]);
    let turn = dialect.read(&dialect.reply("", &[call]), &VIEW).unwrap();
    assert_eq!(
        (turn.calls[0].safety[0].message.as_str(), &turn.calls[0].safety[0].acknowledgement),
        ("Look first.", &check)
    );

    let dialect = Dialect::Gemini { legacy: false };
    let mut call = dialect.write("c1", &Action::click(5, 5), &VIEW).unwrap();
    call["functionCall"]["args"]["safety_decision"] =
        json!({ "decision": "require_confirmation", "explanation": "It pays." });
    let turn = dialect.read(&dialect.reply("", &[call]), &VIEW).unwrap();
    assert_eq!(turn.calls[0].safety[0].message, "It pays.");
    assert!(turn.calls[0].actions.is_ok());
}

#[test]
fn parallel_calls_and_batches_keep_their_order() {
    let dialect = Dialect::Gemini { legacy: false };
    let calls = [Action::click(4, 5), Action::key("Return")];
    let parts: Vec<_> = calls.iter().map(|it| dialect.write("", it, &VIEW).unwrap()).collect();
    let turn = dialect.read(&dialect.reply("", &parts), &VIEW).unwrap();
    assert_eq!(turn.calls.len(), 2);
    assert_eq!(turn.actions().cloned().collect::<Vec<_>>(), calls);
}

#[test]
fn json_is_found_in_prose_fences_and_tags() {
    let expected = Action::click(81, 61);
    for (said, thought) in [
        (r#"{"action": "click", "x": 40, "y": 30, "reason": "the button"}"#, "the button"),
        (
            "I will click.\n```json\n{\"action\": \"left_click\", \"coordinate\": [40, 30]}\n```",
            "I will click.",
        ),
        (
            "<tool_call>\n{\"name\": \"computer_use\", \"arguments\": {\"action\": \"left_click\", \"coordinate\": [40, 30]}}\n</tool_call>",
            "",
        ),
        ("Set {a, b}: {\"action\": \"click\", \"coordinate\": \"(40, 30)\"} ok", "Set {a, b}:"),
    ] {
        let reply = json!({ "choices": [{ "message": { "content": said } }] });
        for dialect in [Dialect::JsonText, Dialect::Function] {
            let turn = dialect.read(&reply, &VIEW).unwrap();
            assert_eq!(turn.actions().collect::<Vec<_>>(), [&expected], "{said}");
            assert_eq!(turn.thought, thought, "{said}");
        }
    }
}

#[test]
fn tools_are_declared_for_the_picture_and_the_environment() {
    let declared = |dialect: Dialect| dialect.declare(&VIEW);
    let claude = |tool| Dialect::Anthropic { tool, high: false };
    let dated = json!({
        "type": "computer_20251124", "name": "computer", "display_width_px": 1000,
        "display_height_px": 500, "enable_zoom": true,
    });
    assert_eq!(declared(claude(Tool::Computer2025November)), Some(dated));
    let set = json!({ "type": "computer_toolset_20260801" });
    assert_eq!(declared(claude(Tool::ComputerToolset)), Some(set));
    let preview = json!({
        "type": "computer_use_preview", "environment": "linux", "display_width": 1000, "display_height": 500,
    });
    assert_eq!(declared(Dialect::OpenAi { preview: true }), Some(preview));
    assert_eq!(declared(Dialect::OpenAi { preview: false }), Some(json!({ "type": "computer" })));
    let desktop = declared(Dialect::Gemini { legacy: false }).unwrap();
    assert_eq!(desktop["computerUse"]["environment"], "ENVIRONMENT_DESKTOP");
    let legacy = declared(Dialect::Gemini { legacy: true }).unwrap();
    assert_eq!(legacy["computerUse"]["environment"], "ENVIRONMENT_BROWSER");
    assert_eq!(declared(Dialect::JsonText), None);
}

#[test]
fn pixels_of_qwen_and_ui_tars_are_those_of_the_picture_in_whole_patches() {
    for dialect in [Dialect::Qwen(Grid::Pixels), Dialect::UiTars(Grid::Pixels)] {
        let view = dialect.view((1920, 1080), (1456, 819));
        assert_eq!(view.picture, (1456, 812));
        // Without it, the last line would be 9 pixels too high on the screen.
        assert_eq!(view.to_screen(Grid::Pixels, 1455.0, 811.0), Pixel { x: 1919, y: 1079 });
        let written = dialect.write("c1", &Action::click(960, 1079), &view).unwrap();
        let turn = dialect.read(&dialect.reply("", &[written]), &view).unwrap();
        assert_eq!(turn.actions().next(), Some(&Action::click(960, 1079)));
    }
    let thousand = Dialect::Qwen(Grid::Thousand).view((1920, 1080), (1456, 819));
    assert_eq!(thousand.picture, (1456, 819));
}
