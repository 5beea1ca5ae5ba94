//! What sessions can be asked to do, by pixel and by element.

use helmdeck_wire::{
    Done,
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

use crate::{
    operation::{DESKTOP, Operation, action, description, document, get, of_action, picture},
    routes::desktop,
};

/// Actions on the desktop.
pub fn of_the_desktop() -> Vec<Operation> {
    vec![
        // The screen.
        picture::<Screenshot>(),
        picture::<Zoom>(),
        action::<Resize>(),
        // The mouse.
        action::<Click>(),
        action::<DoubleClick>(),
        action::<TripleClick>(),
        action::<ModifierClick>(),
        action::<MouseMove>(),
        action::<MouseDown>(),
        action::<MouseUp>(),
        action::<Drag>(),
        action::<Scroll>(),
        action::<CursorPosition>(),
        // The keyboard and the clipboard.
        action::<Type>(),
        action::<Key>(),
        action::<HoldKey>(),
        action::<Clipboard>(),
        // Programs and windows.
        action::<Launch>(),
        get("/api/v1/desktop/windows", desktop::ACT, "desktop_windows", desktop::list_windows)
            .doc(&format!("{}{DESKTOP}", description::<ListWindows>()))
            .query::<desktop::WindowsQuery>()
            .returns::<Windows>(),
        action::<Focus>(),
        // Pacing, and telling people.
        action::<Wait>(),
        of_action::<AgentStatus, _, _>(desktop::set_agent_status).returns::<Done>(),
    ]
}

/// The structured browser.
pub fn of_the_browser() -> Vec<Operation> {
    vec![
        // Pages.
        action::<Navigate>(),
        action::<Tabs>(),
        action::<WaitFor>(),
        action::<Execute>(),
        // Reading and looking.
        action::<Extract>(),
        action::<Snapshot>(),
        action::<Markdown>(),
        picture::<PageScreenshot>(),
        document::<Pdf>(),
        // What was recorded.
        action::<ReadConsole>(),
        action::<ReadNetwork>(),
        action::<ExportHar>(),
        // Elements.
        action::<ClickElement>(),
        action::<TypeInto>(),
        action::<SelectOptions>(),
        action::<HoverElement>(),
        action::<PressKeys>(),
        action::<UploadFiles>(),
        action::<Interact>(),
        // The browser itself.
        action::<ExportState>(),
        action::<ImportState>(),
        action::<Emulate>(),
    ]
}
