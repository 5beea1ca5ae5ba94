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
    window::{Focus, ListWindows, Windows},
};
use schemars::JsonSchema as _;

use crate::{
    operation::{Operation, action, description, document, picture},
    routes::desktop,
    tool::{Component, Nature, action_tool, json_tool},
};

/// Actions on the desktop.
pub fn desktop() -> Vec<Operation> {
    let acts = Nature::on_desktop();
    let looks = acts.reads();
    vec![
        // The screen.
        picture::<Screenshot>(looks),
        picture::<Zoom>(looks),
        action::<Resize>(acts.idempotent()),
        // The mouse.
        action::<Click>(acts),
        action::<DoubleClick>(acts),
        action::<TripleClick>(acts),
        action::<ModifierClick>(acts),
        action::<MouseMove>(acts.idempotent()),
        action::<MouseDown>(acts),
        action::<MouseUp>(acts),
        action::<Drag>(acts),
        action::<Scroll>(acts),
        action::<CursorPosition>(looks),
        // The keyboard and the clipboard.
        action::<Type>(acts),
        action::<Key>(acts),
        action::<HoldKey>(acts),
        action::<Clipboard>(acts.idempotent()),
        // Programs and windows.
        action::<Launch>(acts),
        action_tool("desktop.windows", Component::of::<ListWindows>(), ListWindows::call)
            .doc(format!("{}{}", description(ListWindows::json_schema), looks.whereabouts()))
            .scope(Scope::SESSIONS_ACT)
            .nature(looks)
            .of_session()
            .returns::<Windows>()
            .get("/api/v1/desktop/windows", "desktop_windows"),
        action::<Focus>(acts.idempotent()),
        // Waiting and status.
        action::<Wait>(looks),
        json_tool("desktop.agent_status", desktop::set_agent_status)
            .doc(format!("{}{}", description(AgentStatus::json_schema), acts.whereabouts()))
            .scope(Scope::SESSIONS_ACT)
            .nature(acts.idempotent())
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
        action::<Navigate>(acts.idempotent()),
        action::<Tabs>(acts),
        action::<WaitFor>(looks),
        action::<Execute>(acts),
        // Reading and pictures.
        action::<Extract>(looks),
        action::<Snapshot>(looks),
        action::<Markdown>(looks),
        picture::<PageScreenshot>(looks),
        document::<Pdf>(looks),
        // Recorded data.
        action::<ReadConsole>(looks),
        action::<ReadNetwork>(looks),
        action::<ExportHar>(looks),
        // Elements.
        action::<ClickElement>(acts),
        action::<TypeInto>(acts.idempotent()),
        action::<SelectOptions>(acts.idempotent()),
        action::<HoverElement>(acts.idempotent()),
        action::<PressKeys>(acts),
        action::<UploadFiles>(acts.idempotent()),
        action::<Interact>(acts),
        // The browser itself.
        action::<ExportState>(looks),
        action::<ImportState>(acts.idempotent()),
        action::<Emulate>(acts.idempotent()),
    ]
}
