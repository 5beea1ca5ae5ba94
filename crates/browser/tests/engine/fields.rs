//! Typing, choosing options, pressing keys and uploading.

use helmdeck_wire::{ErrorCode, browser::ConcealField};
use serde_json::json;

use crate::{
    desk::{Desk, failure, request},
    server::{Reply, Server},
};

#[tokio::test]
async fn text_replaces_what_is_in_a_field() {
    let desk = Desk::showing(
        "<input id=i value=old><textarea id=t>old</textarea><div id=e contenteditable>old <b>rich</b></div>
         <input id=n type=number value=1><input id=p type=password><label>Named <input id=l></label>
         <script>seen = []; addEventListener('input', e => seen.push(e.target.id + e.isTrusted))</script>",
    )
    .await;
    for (selector, text) in [
        ("#i", "Grüße, 世界 👋"),
        ("#t", "two\nlines"),
        ("#e", "plain"),
        ("#n", "42"),
        ("#p", "s3cret"),
        ("text=Named", "label"),
    ] {
        let typed = desk.type_into(json!({ "selector": selector, "text": text })).await;
        typed.unwrap_or_else(|error| panic!("{selector}: {error}"));
    }
    let values =
        desk.value("[i.value, t.value, e.innerText.trim(), n.value, p.value, l.value]").await;
    assert_eq!(values, json!(["Grüße, 世界 👋", "two\nlines", "plain", "42", "s3cret", "label"]));
    let seen = desk.value("seen").await;
    assert!(seen.as_array().unwrap().contains(&json!("itrue")), "{seen}");

    desk.type_into(json!({ "selector": "#i", "text": "!", "append": true })).await.unwrap();
    desk.type_into(json!({ "selector": "#n", "text": "0", "append": true })).await.unwrap();
    desk.type_into(json!({ "selector": "#t", "text": "" })).await.unwrap();
    let values = desk.value("[i.value, n.value, t.value]").await;
    assert_eq!(values, json!(["Grüße, 世界 👋!", "420", ""]));
}

#[tokio::test]
async fn a_field_without_free_text_gets_its_value() {
    let desk = Desk::showing(
        "<input type=date><input type=time><input type=color><input type=range max=9><input type=checkbox>
         <script>n = 0; addEventListener('change', () => n++)</script>",
    )
    .await;
    for (kind, text) in
        [("date", "2026-11-16"), ("time", "13:37"), ("color", "#aabbcc"), ("range", "7")]
    {
        let selector = format!("[type={kind}]");
        desk.type_into(json!({ "selector": selector, "text": text })).await.unwrap();
        assert_eq!(desk.value(&format!("document.querySelector('{selector}').value")).await, text);
    }
    assert_eq!(desk.value("n").await, 4);
    for (kind, text) in [("date", "tomorrow"), ("checkbox", "on")] {
        let typing = json!({ "selector": format!("[type={kind}]"), "text": text });
        let (code, message) = failure(desk.type_into(typing).await);
        assert_eq!(code, ErrorCode::ElementNotActionable, "{message}");
        assert!(message.contains(kind), "{message}");
    }
}

#[tokio::test]
async fn slow_typing_presses_every_key() {
    let desk = Desk::showing(
        "<input id=i><script>down = []; i.onkeydown = e => down.push(e.key + e.code + e.keyCode)</script>",
    )
    .await;
    let slowly = json!({ "selector": "#i", "text": "aB1! é", "slowly": true });
    desk.type_into(slowly).await.unwrap();
    assert_eq!(desk.value("i.value").await, "aB1! é");
    assert_eq!(
        desk.value("down").await,
        json!(["aKeyA65", "BKeyB66", "1Digit149", "!Digit149", " Space32"])
    );
}

#[tokio::test]
async fn enter_submits_a_form_and_the_reply_has_the_next_page() {
    let server = Server::start(|path| match path {
        "/" => Reply::page("<form action=/found><input name=q></form>"),
        _ => Reply::page("<p>results"),
    })
    .await;
    let desk = Desk::start().await;
    desk.go(&server.url("/")).await;
    let typed = json!({ "selector": "input", "text": "words", "submit": true });
    let typed = desk.type_into(typed).await.unwrap();
    assert_eq!(typed.acted.url, server.url("/found?q=words"));
}

#[tokio::test]
async fn keys_are_pressed_in_order() {
    let desk = Desk::showing(
        "<input id=i value=abc><script>log = []; i.onkeydown = e => log.push(e.key);
         i.onkeyup = e => log.push('-' + e.key)</script>",
    )
    .await;
    desk.press(json!({ "selector": "#i", "keys": "End Shift+ArrowLeft x Control+a" }))
        .await
        .unwrap();
    assert_eq!(
        desk.value("[i.value, i.selectionStart, i.selectionEnd]").await,
        json!(["abx", 0, 3])
    );
    desk.press(json!({ "keys": "Delete h I Return" })).await.unwrap();
    assert_eq!(desk.value("i.value").await, "hI");
    let log = desk.value("log.filter(k => k.includes('Shift') || k.includes('Control'))").await;
    assert_eq!(log, json!(["Shift", "-Shift", "Control", "-Control"]));
    let (code, _) = failure(desk.press(json!({ "keys": "Bogus" })).await);
    assert_eq!(code, ErrorCode::InvalidKeys);
    let (code, _) = failure(desk.press(json!({ "keys": " " })).await);
    assert_eq!(code, ErrorCode::MissingKeys);
}

#[tokio::test]
async fn options_are_chosen_by_value_or_label() {
    let desk = Desk::showing(
        "<select id=one><option value=1>First<option value=2>Second one<option disabled>Third</select>
         <select id=many multiple><option>a<option>b<option>c</select><div id=d>no list</div>
         <script>n = 0; one.onchange = () => n++;
         setTimeout(() => one.add(new Option('Late', '9')), 300)</script>",
    )
    .await;
    for (values, chosen) in [("2", "2"), ("First", "1"), ("second ONE", "2"), ("Late", "9")] {
        let selected =
            desk.select(json!({ "selector": "#one", "values": [values] })).await.unwrap();
        assert_eq!(selected.values, [chosen]);
    }
    assert_eq!(desk.value("[one.value, n]").await, json!(["9", 4]));
    let many = desk.select(json!({ "selector": "#many", "values": ["a", "c"] })).await.unwrap();
    assert_eq!(many.values, ["a", "c"]);
    for (selector, values, words) in [
        ("#one", json!(["Nope"]), "\"First\", \"Second one\""),
        ("#one", json!(["Third"]), "disabled"),
        ("#one", json!(["1", "2"]), "one option only"),
        ("#d", json!(["1"]), "not a list of options"),
    ] {
        let select = json!({ "selector": selector, "values": values, "timeout_s": 0.2 });
        let (code, message) = failure(desk.select(select).await);
        assert_eq!(code, ErrorCode::ElementNotActionable);
        assert!(message.contains(words), "{message}");
    }
}

#[tokio::test]
async fn files_of_the_home_are_given_to_a_field() {
    let desk = Desk::showing(
        "<label>Attach <input type=file id=f style='display: none' multiple></label><input type=file id=g>
         <p id=p>x</p><script>f.onchange = () => document.title = 'changed'</script>",
    )
    .await;
    std::fs::create_dir(desk.home.path().join("docs")).unwrap();
    std::fs::write(desk.home.path().join("docs/a.txt"), "AAA").unwrap();
    std::fs::write(desk.home.path().join("b.txt"), "BB").unwrap();
    let upload = |selector: &str, files: &[&str]| {
        let upload = request(json!({ "selector": selector, "files": files }));
        let browser = desk.browser.clone();
        async move { browser.upload(&upload).await }
    };
    upload("text=Attach", &["docs/a.txt", "b.txt"]).await.unwrap();
    assert_eq!(
        desk.value("[...f.files].map(f => f.name + f.size)").await,
        json!(["a.txt3", "b.txt2"])
    );
    assert_eq!(desk.value("f.files[0].text()").await, "AAA");
    assert_eq!(desk.value("document.title").await, "changed");

    assert_eq!(failure(upload("#f", &["missing.txt"]).await).0, ErrorCode::FileNotFound);
    assert_eq!(failure(upload("#f", &["docs"]).await).0, ErrorCode::FileNotFound);
    assert_eq!(failure(upload("#p", &["b.txt"]).await).0, ErrorCode::ElementNotActionable);
    let two = upload("#g", &["b.txt", "docs/a.txt"]).await;
    assert_eq!(failure(two).0, ErrorCode::ElementNotActionable);
}

/// The picture of an element.
async fn picture(desk: &Desk, selector: &str) -> Vec<u8> {
    desk.screenshot(json!({ "selector": selector })).await.unwrap().bytes.to_vec()
}

#[tokio::test]
async fn a_concealed_field_shows_dots_and_is_left_out_of_lists_until_it_is_empty() {
    let desk = Desk::showing(
        "<label>Code <input id=i autofocus style='caret-color: transparent'></label>",
    )
    .await;
    let conceal = request::<ConcealField>(json!({ "selector": "#i" }));
    let concealed = desk.browser.conceal(&conceal).await.unwrap();
    assert!(!concealed.url.starts_with("http"), "{concealed:?}");
    let typed = async |text: &str| {
        desk.type_into(json!({ "selector": "#i", "text": text })).await.unwrap();
        picture(&desk, "#i").await
    };
    let texts = async || {
        let within = std::time::Duration::from_secs(5);
        let listed = desk.browser.elements(None, None, within).await.unwrap();
        let snapshot = desk.browser.snapshot(&request(json!({}))).await.unwrap().snapshot;
        format!("{listed:?} {snapshot}")
    };
    let one = typed("iiiiii").await;
    assert_eq!(typed("wwwwww").await, one, "every text of the same length looks the same");
    assert!(!texts().await.contains("wwwwww"), "{}", texts().await);
    assert!(texts().await.contains("protected"));
    // The page writes its own styles.
    desk.value("i.style.cssText = 'caret-color: transparent'").await;
    assert_eq!(picture(&desk, "#i").await, one);

    typed("").await;
    assert_ne!(typed("iiiiii").await, one, "the next text is shown");
    assert!(texts().await.contains("iiiiii"));
}

#[tokio::test]
async fn what_is_typed_goes_to_the_site_of_the_frame() {
    let server = Server::start(|path| match path {
        "/frame" => Reply::page("<input id=inside>"),
        other => Reply::page(format!(
            "<input id=outside><iframe src='{}'></iframe><iframe sandbox srcdoc='<input id=nowhere>'></iframe>",
            other.split_once('?').unwrap_or_default().1
        )),
    })
    .await;
    let desk = Desk::start().await;
    let frame = server.elsewhere("/frame");
    desk.go(&server.url(&format!("/?{frame}"))).await;
    let site = async |selector: &str| {
        let conceal = request::<ConcealField>(json!({ "selector": selector }));
        desk.browser.conceal(&conceal).await.unwrap().url
    };
    assert_eq!(site("#inside").await, frame);
    assert!(site("#outside").await.starts_with(&server.url("/")));
    assert_eq!(site("#nowhere").await, "", "a frame without an origin belongs to no site");
}
