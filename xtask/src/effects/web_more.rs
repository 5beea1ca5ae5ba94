//! Cases of Chromium that are not a press: typing, keys, wheel, hover, drag, dialogs and windows.

use serde_json::json;

use super::{
    case::{Case, Fact, Place, Step},
    web::{drag, other},
};

/// All of them.
pub fn cases() -> Vec<Case> {
    [typing(), keys(), scrolling(), hovering(), dragging(), asking(), structured()].concat()
}

/// The same case alone and beside things that move.
fn beside(case: &Case, all: &[&'static str]) -> Vec<Case> {
    let moving = all.iter().map(|beside| case.clone().beside(beside));
    std::iter::once(case.clone()).chain(moving).collect()
}

fn typing() -> Vec<Case> {
    let mut all = Vec::new();
    for (kind, fact) in [
        ("input", Fact::Value),
        ("input-filled", Fact::Value),
        ("input-password", Fact::Value),
        ("input-filters", Fact::Value),
        ("input-number", Fact::Value),
        ("input-readonly", Fact::Hidden),
        ("input-full", Fact::Hidden),
        ("input-refuses", Fact::Hidden),
        ("textarea", Fact::Value),
        ("textarea-filled", Fact::Value),
        ("editable", Fact::Value),
        ("editable-filled", Fact::Value),
        ("frame-input", Fact::Value),
        ("frame-input-elsewhere", Fact::Value),
        ("shadow-input", Fact::Value),
    ] {
        let text = if kind == "input-number" { "7" } else { "abc" };
        let mut case = other(&format!("{kind}/type"), kind, Step::type_text(text), fact);
        if kind.starts_with("frame") {
            case = case.before(vec![Step::at("click").with("settle", json!({}))]);
        } else {
            case.focused = true;
        }
        let moving = if kind.starts_with("input") { "spinner" } else { "canvas" };
        all.extend(beside(&case, &[moving]));
    }
    // Nothing has the keyboard.
    let nothing = other("short/type", "short", Step::type_text("abc"), Fact::Hidden);
    all.extend(beside(&nothing, &["spinner", "clock"]));
    all
}

fn keys() -> Vec<Case> {
    let mut all = Vec::new();
    let mut focused = |name: &str, kind: &str, keys: &str, fact: Fact| {
        all.push(other(&format!("{name}/key"), kind, Step::key(keys), fact).focused());
    };
    focused("select-down", "select", "Down", Fact::Value);
    focused("select-up-at-first", "select", "Up", Fact::Hidden);
    focused("select-list-down", "select-list", "Down", Fact::Value);
    focused("range-right", "range", "Right", Fact::Value);
    focused("range-left-at-least", "range", "Left", Fact::Hidden);
    focused("number-up", "input-number", "Up", Fact::Value);
    focused("number-up-at-most", "input-number-most", "Up", Fact::Hidden);
    focused("input-backspace", "input-filled", "End BackSpace", Fact::Value);
    focused("input-backspace-empty", "input", "BackSpace", Fact::Hidden);
    focused("input-end", "textarea-filled", "Down", Fact::Focus);
    focused("input-left-empty", "input", "Left", Fact::Hidden);
    focused("textarea-return", "textarea", "Return", Fact::Value);
    focused("editable-return", "editable-filled", "Return", Fact::Value);
    focused("submit-by-return", "submit-by-return", "Return", Fact::Navigated);
    focused("date-up", "date", "Up", Fact::Value);
    focused("canvas-keys", "canvas-keys", "x", Fact::Shown);
    focused("button-other-key", "button-tells", "x", Fact::Hidden);
    focused("button-disabled-return", "button-disabled", "Return", Fact::Hidden);
    focused("copy", "input-filled", "ctrl+c", Fact::Hidden);
    focused("shift-alone", "input-filled", "shift", Fact::Hidden);
    let home = other("input-to-home/key", "input-filled", Step::key("Home"), Fact::Focus);
    all.push(home.focused().before(vec![Step::key("End")]));
    let marked = other("select-all/key", "input-filled", Step::key("ctrl+a"), Fact::Focus);
    let marked = marked.focused().also(&["confirmed"], "the marked text looks different");
    all.push(marked);
    let mut plain = |name: &str, kind: &str, keys: &str, fact: Fact| {
        all.push(other(&format!("{name}/key"), kind, Step::key(keys), fact));
    };
    plain("tab", "many-fields", "Tab", Fact::Focus);
    plain("tab-twice", "many-fields", "Tab Tab", Fact::Focus);
    plain("tab-three-times", "many-fields", "Tab Tab Tab", Fact::Focus);
    plain("letter", "short", "a", Fact::Hidden);
    plain("escape", "short", "Escape", Fact::Hidden);
    plain("handler", "keys", "k", Fact::Shown);
    plain("handler-other-key", "keys", "j", Fact::Hidden);
    plain("handler-hidden", "shortcut-hidden", "k", Fact::Hidden);
    plain("reload-f5", "reloads", "F5", Fact::Navigated);
    plain("new-tab", "background", "ctrl+t", Fact::TabOpened);
    plain("address-bar", "address-bar", "ctrl+l", Fact::Focus);
    plain("address-bar-f6", "address-bar", "F6", Fact::Focus);
    let full = other("full-screen/key", "short", Step::key("F11"), Fact::Shown);
    all.push(full.after(vec![Step::key("F11").with("settle", json!({}))]));
    let larger = other("zoom/key", "short", Step::key("ctrl+plus"), Fact::Shown);
    all.push(larger.after(vec![Step::key("ctrl+0").with("settle", json!({}))]));
    let open = Step::browser("execute", json!({ "script": "window.open('/web/opened/none')" }));
    let by_call = Step::browser("tabs", json!({ "action": "close" }));
    for (name, step) in [("ctrl+w", Step::key("ctrl+w")), ("browser-tabs", by_call)] {
        let close = other(&format!("close-tab/{name}"), "short", step, Fact::TabClosed);
        all.push(close.before(vec![open.clone().with("settle", json!({}))]));
    }
    for (name, kind, fact) in
        [("keys/moving", "keys", Fact::Shown), ("letter/moving", "short", Fact::Hidden)]
    {
        let case = other(name, kind, Step::key("k"), fact);
        all.extend(
            ["spinner", "canvas", "glow", "clock", "video"].map(|it| case.clone().beside(it)),
        );
    }
    all
}

fn scrolling() -> Vec<Case> {
    let wheel = |direction: &str| Step::at("scroll").with("direction", direction.into());
    let mut all = Vec::new();
    for (name, kind, step, fact) in [
        ("long/wheel-down", "long", wheel("down"), Fact::Scrolled),
        ("long/wheel-up-at-top", "long", wheel("up"), Fact::Hidden),
        ("short/wheel-down", "short", wheel("down"), Fact::Hidden),
        ("short/wheel-up", "short", wheel("up"), Fact::Hidden),
        ("wide/wheel-right", "wide", wheel("right"), Fact::Scrolled),
        ("scroller/wheel-down", "scroller", wheel("down"), Fact::Scrolled),
        ("scroller-end/wheel-down", "scroller-end", wheel("down"), Fact::Hidden),
        ("scroller-end/wheel-up", "scroller-end", wheel("up"), Fact::Scrolled),
        ("frame-long/wheel-down", "frame-long", wheel("down"), Fact::Scrolled),
        ("frame-long-elsewhere/wheel-down", "frame-long-elsewhere", wheel("down"), Fact::Scrolled),
        ("shadow-scroller/wheel-down", "shadow-scroller", wheel("down"), Fact::Scrolled),
        ("long/page-down", "long", Step::key("Page_Down"), Fact::Scrolled),
        ("long/space", "long", Step::key("space"), Fact::Scrolled),
        ("long/end", "long", Step::key("End"), Fact::Scrolled),
        ("long/down", "long", Step::key("Down"), Fact::Scrolled),
        ("long/home-at-top", "long", Step::key("Home"), Fact::Hidden),
        ("long/page-up-at-top", "long", Step::key("Page_Up"), Fact::Hidden),
        ("short/page-down", "short", Step::key("Page_Down"), Fact::Hidden),
        ("short/space", "short", Step::key("space"), Fact::Hidden),
        (
            "long/browser-press-end",
            "long",
            Step::browser("press", json!({ "keys": "End" })),
            Fact::Scrolled,
        ),
        (
            "short/browser-press-end",
            "short",
            Step::browser("press", json!({ "keys": "End" })),
            Fact::Hidden,
        ),
    ] {
        let case = other(name, kind, step, fact);
        let moving: &[&'static str] = if name.contains("wheel") { &["spinner"] } else { &[] };
        all.extend(beside(&case, moving));
    }
    let pans = other("canvas-wheel/wheel-down", "canvas-wheel", wheel("down"), Fact::Shown);
    all.push(pans.also(&["scrolled"], "a wheel that moves a drawing scrolls it"));
    all
}

fn hovering() -> Vec<Case> {
    let mut all = Vec::new();
    for (kind, fact) in [
        ("hover-menu", Fact::Shown),
        ("hover-tooltip", Fact::Shown),
        ("hover-highlight", Fact::Shown),
        ("hover-script", Fact::Shown),
        ("hover-fades", Fact::Shown),
        ("hover-cursor", Fact::Hidden),
        ("hover-hidden", Fact::Hidden),
        ("box-tells", Fact::Hidden),
        ("button-disabled", Fact::Hidden),
        ("canvas-hover", Fact::Shown),
        ("canvas-idle", Fact::Hidden),
    ] {
        let case = other(&format!("{kind}/move"), kind, Step::at("mouse_move"), fact);
        all.extend(beside(&case, &["glow"]));
        if !kind.starts_with("canvas") && kind != "button-disabled" {
            let hover = Step::browser("hover", json!({ "selector": "[act]" }));
            all.push(other(&format!("{kind}/hover"), kind, hover, fact));
        }
    }
    for (kind, fact) in [("short", Fact::Hidden), ("input", Fact::Hidden)] {
        let away = Step::at("mouse_move").to(Place::Empty);
        let mut case = other(&format!("{kind}/move-nowhere"), kind, away, fact);
        case.focused = kind == "input";
        all.extend(beside(&case, &["spinner", "video"]));
    }
    all
}

fn dragging() -> Vec<Case> {
    let mut all = Vec::new();
    for (kind, step, fact) in [
        ("drag-box", drag(150, 120), Fact::Shown),
        ("drag-drop", drag(0, 240), Fact::Shown),
        ("drag-nothing", drag(150, 120), Fact::Hidden),
        ("canvas-draws", drag(60, 20), Fact::Shown),
        ("canvas-idle", drag(60, 20), Fact::Hidden),
        ("range", drag(60, 0), Fact::Value),
    ] {
        all.extend(beside(&other(&format!("{kind}/drag"), kind, step, fact), &["spinner"]));
    }
    let marks = other("drag-text/drag", "drag-text", drag(-60, 0), Fact::Shown);
    all.push(marks.also(&["focus_moved"], "a marked text is a place in a text"));
    let right = |kind: &str, fact: Fact| {
        let click = Step::at("click").with("button", "right".into());
        other(&format!("{kind}/right-click"), kind, click, fact)
    };
    all.push(right("context-menu", Fact::Shown));
    all.push(right("context-menu-prevented", Fact::Hidden));
    all.push(other("double/double-click", "double", Step::at("double_click"), Fact::Shown));
    all.push(other("double/click", "double", Step::at("click"), Fact::Hidden));
    let held = other("press/mouse-down", "press", Step::at("mouse_down"), Fact::Shown);
    all.push(held.after(vec![Step::desktop("mouse_up", json!({}))]));
    let shift = Step::at("modifier_click").with("modifiers", json!(["shift"]));
    all.push(other("box-tells/shift-click", "box-tells", shift, Fact::Shown));
    let ctrl = Step::at("modifier_click").with("modifiers", json!(["ctrl"]));
    let background = other("link-tab/ctrl-click", "link-tab", ctrl, Fact::TabOpened);
    all.push(background);
    all
}

fn asking() -> Vec<Case> {
    let mut all = Vec::new();
    for kind in ["alert", "confirm", "prompt", "frame-alert"] {
        let close = vec![Step::key("Escape").with("settle", json!({}))];
        let case = other(&format!("{kind}/pixel"), kind, Step::at("click"), Fact::Dialog);
        let moving: &[&'static str] = if kind == "confirm" { &["canvas"] } else { &["spinner"] };
        all.extend(beside(&case.after(close), moving));
    }
    for kind in ["alert", "confirm", "prompt"] {
        let click = Step::browser("click", json!({ "selector": "[act]" }));
        all.push(other(&format!("{kind}/browser"), kind, click, Fact::Dialog));
    }
    for (answer, keys) in [("accept", "Return"), ("refuse", "Escape")] {
        let ask = Step::at("click").with("settle", json!({}));
        let name = format!("confirm-open/{answer}");
        let case = other(&name, "confirm-open", Step::key(keys), Fact::Shown);
        all.push(case.before(vec![ask]).answers());
    }
    for (kind, way, step) in [
        ("html-dialog", "pixel", Step::at("click")),
        ("html-dialog", "target", Step::target("click")),
        ("html-dialog-open", "pixel", Step::at("click")),
        ("html-dialog-open", "escape", Step::key("Escape")),
    ] {
        let mut case = other(&format!("{kind}/{way}"), kind, step, Fact::Shown);
        if kind == "html-dialog" {
            case = case.also(&["dialog"], "a page that asks in its own box asks");
        }
        all.push(case);
    }
    let choose = other("file/pixel", "file", Step::at("click"), Fact::Dialog);
    all.push(choose.after(vec![Step::key("Escape").with("settle", json!({}))]));
    for (way, step) in [("pixel", Step::at("click")), ("target", Step::target("click"))] {
        let case = other(&format!("open-window/{way}"), "open-window", step, Fact::WindowOpened);
        all.push(case.also(&["tab_opened"], "a popup of the browser is a tab with its own window"));
    }
    for (way, step) in [("pixel", Step::at("click")), ("target", Step::target("click"))] {
        let case = other(&format!("button-title/{way}"), "button-title", step, Fact::Title);
        all.push(case.also(&["confirmed"], "the tab shows its title, so the screen changed"));
    }
    for (way, step) in [("pixel", Step::at("click")), ("key", Step::key("Return"))] {
        let mut case = other(&format!("button-fills/{way}"), "button-fills", step, Fact::Value);
        case.focused = way == "key";
        all.push(case.also(&["confirmed"], "a script wrote the field, nobody typed"));
    }
    all
}

/// Other actions of the structured browser.
fn structured() -> Vec<Case> {
    let act =
        |name: &str, kind: &str, action: &'static str, body: serde_json::Value, fact: Fact| {
            other(&format!("{name}/browser-{action}"), kind, Step::browser(action, body), fact)
        };
    let typed = |text: &str| json!({ "selector": "[act]", "text": text });
    let mut all = vec![
        act("input", "input", "type", typed("abc"), Fact::Value),
        act("input-filters", "input-filters", "type", typed("abc"), Fact::Value),
        act("textarea", "textarea", "type", typed("abc"), Fact::Value),
        act("editable", "editable", "type", typed("abc"), Fact::Value),
        act("password", "input-password", "type", typed("abc"), Fact::Value),
        act(
            "select",
            "select",
            "select",
            json!({ "selector": "[act]", "values": ["two"] }),
            Fact::Value,
        ),
        act(
            "select-list",
            "select-list",
            "select",
            json!({ "selector": "[act]", "values": ["two"] }),
            Fact::Value,
        ),
        act(
            "button",
            "button-tells",
            "press",
            json!({ "selector": "[act]", "keys": "Enter" }),
            Fact::Shown,
        ),
        act("letter", "short", "press", json!({ "keys": "j" }), Fact::Hidden),
        act("handler", "keys", "press", json!({ "keys": "k" }), Fact::Shown),
        act("text", "short", "execute", json!({ "script": "tell('by script')" }), Fact::Shown),
        act("nothing", "short", "execute", json!({ "script": "1 + 1" }), Fact::Hidden),
        act("below", "box-below", "execute", json!({ "script": "tellBelow()" }), Fact::Hidden),
        act("scroll", "long", "execute", json!({ "script": "scrollTo(0, 900)" }), Fact::Scrolled),
        act("focus", "input", "execute", json!({ "script": "focusActed()" }), Fact::Focus),
        act(
            "hash",
            "long",
            "execute",
            json!({ "script": "location.hash = 'below'" }),
            Fact::Navigated,
        ),
        act(
            "canvas",
            "canvas-idle",
            "execute",
            json!({ "script": "paint('board', 'red')" }),
            Fact::Shown,
        ),
    ];
    all.push(
        act("text", "short", "execute", json!({ "script": "tell('by script')" }), Fact::Shown)
            .beside("video"),
    );
    all
}
