//! Desktop and browser actions.

use helmdeck_wire::{
    Action as _, Scope,
    browser::{
        ClickElement, Emulate, Execute, ExportHar, ExportState, Extract, HoverElement, ImportState,
        Interact, Markdown, Navigate, PageScreenshot, Pdf, PressKeys, ReadConsole, ReadNetwork,
        SelectOptions, Snapshot, Tabs, TypeInto, UploadFiles, WaitFor,
    },
    clipboard::Clipboard,
    keyboard::{HoldKey, Key, Type},
    pointer::{
        Click, CursorPosition, DoubleClick, Drag, ModifierClick, MouseDown, MouseMove, MouseUp,
        Scroll, TripleClick,
    },
    process::Launch,
    screen::{Resize, Screenshot, Zoom},
    status::{AgentStatus, Wait},
    tree::{Find, FindInPage, ReadTree, Tree},
    verify::{Verify, VerifyPage},
    window::{Focus, ListWindows, Windows},
};
use schemars::JsonSchema as _;

use crate::{
    operation::{
        Operation, SchemaOf, action, description, document, observed_action, picture,
        targeted_action,
    },
    routes::{
        assertions::{
            self, AssertElementFocused, AssertTextVisible, AwaitVisualChange, CompareScreenshots,
        },
        desktop,
    },
    tool::{Component, Nature, Tool, action_tool, json_tool},
};

/// Actions on the desktop.
pub fn desktop() -> Vec<Operation> {
    let acts = Nature::on_desktop();
    let looks = acts.reads();
    let (uses, reads) = (acts.structured(), looks.structured());
    vec![
        // The screen.
        picture::<Screenshot>(looks),
        picture::<Zoom>(looks),
        observed_action::<Resize>(acts.idempotent()),
        // The mouse.
        observed_action::<Click>(acts),
        observed_action::<DoubleClick>(acts),
        observed_action::<TripleClick>(acts),
        observed_action::<ModifierClick>(acts),
        observed_action::<MouseMove>(acts.idempotent()),
        observed_action::<MouseDown>(acts),
        observed_action::<MouseUp>(acts),
        observed_action::<Drag>(acts),
        observed_action::<Scroll>(acts),
        action::<CursorPosition>(looks),
        // The keyboard and the clipboard.
        observed_action::<Type>(acts),
        observed_action::<Key>(acts),
        observed_action::<HoldKey>(acts),
        observed_action::<Clipboard>(uses.idempotent()),
        // Programs and windows.
        observed_action::<Launch>(uses),
        action_tool("desktop.windows", Component::of::<ListWindows>(), ListWindows::call)
            .doc(format!("{}{}", description(ListWindows::json_schema), reads.whereabouts()))
            .scope(Scope::SESSIONS_ACT)
            .nature(reads)
            .of_session()
            .returns::<Windows>()
            .get("/api/v1/desktop/windows", "desktop_windows"),
        observed_action::<Focus>(uses.idempotent()),
        action_tool("desktop.tree", Component::of::<ReadTree>(), ReadTree::call)
            .doc(format!("{}{}", description(ReadTree::json_schema), reads.whereabouts()))
            .scope(Scope::SESSIONS_ACT)
            .nature(reads)
            .of_session()
            .returns::<Tree>()
            .get("/api/v1/desktop/tree", "desktop_tree"),
        action::<Find>(reads),
        // Conditions.
        action::<Verify>(reads),
        assertion(
            reads,
            "assert_text_visible",
            json_tool("desktop.assert_text_visible", assertions::assert_text_visible),
            AssertTextVisible::json_schema,
        ),
        assertion(
            reads,
            "assert_element_focused",
            json_tool("desktop.assert_element_focused", assertions::assert_element_focused),
            AssertElementFocused::json_schema,
        ),
        assertion(
            looks,
            "await_visual_change",
            json_tool("desktop.await_visual_change", assertions::await_visual_change),
            AwaitVisualChange::json_schema,
        ),
        assertion(
            looks,
            "compare_screenshots",
            json_tool("desktop.compare_screenshots", assertions::compare_screenshots),
            CompareScreenshots::json_schema,
        ),
        // Waiting and status.
        action::<Wait>(reads),
        json_tool("desktop.agent_status", desktop::set_agent_status)
            .doc(format!("{}{}", description(AgentStatus::json_schema), uses.whereabouts()))
            .scope(Scope::SESSIONS_ACT)
            .nature(uses.idempotent())
            .of_session()
            .post("/api/v1/desktop/agent_status", "desktop_agent_status"),
    ]
}

/// Actions of the structured browser.
pub fn browser() -> Vec<Operation> {
    let acts = Nature::in_browser();
    let looks = acts.reads();
    vec![
        // Pages.
        observed_action::<Navigate>(acts.idempotent()),
        observed_action::<Tabs>(acts),
        action::<WaitFor>(looks),
        action::<VerifyPage>(looks),
        observed_action::<Execute>(acts),
        // Reading and pictures.
        targeted_action::<Extract>(looks),
        action::<Snapshot>(looks),
        action::<FindInPage>(looks),
        action::<Markdown>(looks),
        picture::<PageScreenshot>(looks),
        document::<Pdf>(looks),
        // Recorded data.
        action::<ReadConsole>(looks),
        action::<ReadNetwork>(looks),
        action::<ExportHar>(looks),
        // Elements.
        observed_action::<ClickElement>(acts),
        observed_action::<TypeInto>(acts.idempotent()),
        observed_action::<SelectOptions>(acts.idempotent()),
        observed_action::<HoverElement>(acts.idempotent()),
        observed_action::<PressKeys>(acts),
        observed_action::<UploadFiles>(acts.idempotent()),
        observed_action::<Interact>(acts),
        // The browser itself.
        action::<ExportState>(looks),
        observed_action::<ImportState>(acts.idempotent()),
        observed_action::<Emulate>(acts.idempotent()),
    ]
}

/// A single condition of `desktop.verify`, as a tool.
fn assertion(nature: Nature, name: &str, tool: Tool, schema: SchemaOf) -> Operation {
    tool.doc(format!("{}{}", description(schema), nature.whereabouts()))
        .scope(Scope::SESSIONS_ACT)
        .nature(nature)
        .of_session()
        .post(&format!("/api/v1/desktop/{name}"), &format!("desktop_{name}"))
}
