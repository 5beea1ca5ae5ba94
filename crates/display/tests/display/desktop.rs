//! Windows, and the start of a desktop.

use std::time::Duration;

use helmdeck_display::{BrowserWindows, Owner};
use helmdeck_wire::{
    ErrorCode,
    window::{Focus, ListWindows, WindowId},
};
use tokio::time::{Instant, timeout_at};

use crate::world::{Program, World, soon};

#[tokio::test(flavor = "multi_thread")]
async fn waits_end_at_their_deadline() {
    let world = World::bare();
    let deadline = || Instant::now() + Duration::from_millis(100);
    let error = world.display.wait_for_window_manager(deadline()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::Timeout);
    let error = world.display.wait_until_painted("XTerm", deadline()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::Timeout);
}

#[tokio::test(flavor = "multi_thread")]
async fn openbox_lists_and_focuses_windows() {
    windows_are_listed_and_focused(World::managed().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn xfwm4_lists_and_focuses_windows() {
    // It needs a bus for its settings.
    let world = World::managed_by("dbus-run-session", &["--", "xfwm4"]).await;
    windows_are_listed_and_focused(world).await;
}

async fn windows_are_listed_and_focused((world, _manager): (World, Program)) {
    let display = &world.display;
    assert_eq!(display.windows(&ListWindows {}).await.unwrap().count, 0);
    display.paint_root([1, 2, 3]).await.unwrap();
    let arguments = |title| ["-title", title, "-geometry", "40x10+50+60"];
    let _one = world.xterm(&arguments("öne"));
    let one = world.window("öne").await;
    display.wait_until_painted("XTerm", soon()).await.unwrap();
    let _two = world.xterm(&arguments("two"));
    let two = world.window("two").await;
    assert_eq!(one.class, "XTerm");
    assert!(one.pid.is_some());
    assert!(one.width > 100 && one.x >= 50 && one.y >= 60, "{one:?}");

    let listed = display.windows(&ListWindows {}).await.unwrap();
    let ids: Vec<_> = listed.windows.iter().map(|window| window.id.clone()).collect();
    assert_eq!(ids, [one.id.clone(), two.id.clone()]);
    let id = WindowId(one.id.parse().unwrap());
    display.focus(&Focus { window_id: id }).await.unwrap();
    let listed = display.windows(&ListWindows {}).await.unwrap().windows;
    assert!(listed[0].focused && !listed[1].focused);

    for missing in [1, 0, u32::MAX] {
        let focus = Focus { window_id: WindowId(missing) };
        let error = display.focus(&focus).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::WindowNotFound);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_browsers_window_is_followed_wherever_it_goes() {
    let (world, _manager) = World::managed().await;
    let mut windows = world.display.follow_browser().unwrap();
    assert_eq!(windows.next().await.unwrap(), None);
    let _terminal = world.xterm(&["-title", "no browser"]);
    world.window("no browser").await;
    let browser = world.chromium("<title>one</title>").await;
    let next = async |windows: &mut BrowserWindows| {
        timeout_at(soon(), windows.next()).await.expect("an answer in time").unwrap()
    };
    let first = next(&mut windows).await.expect("a window");
    let listed = world.window("one").await;
    assert_eq!(first.id, listed.id);
    // With several browsers, only the window of the chosen owner counts.
    windows.of(Some(Owner::Program(1)));
    assert_eq!(next(&mut windows).await, None);
    windows.of(listed.pid.map(Owner::Program));
    assert_eq!(next(&mut windows).await.expect("a window").id, first.id);

    world.display.maximize(WindowId(first.id.parse().unwrap())).await.unwrap();
    loop {
        let moved = next(&mut windows).await.expect("a window");
        assert_eq!(moved.id, first.id);
        if (moved.x, moved.width) == (0, 1280) {
            break;
        }
    }
    drop(browser);
    while next(&mut windows).await.is_some() {}
}

#[tokio::test(flavor = "multi_thread")]
async fn a_minimised_window_is_restored_by_focus() {
    let (world, _manager) = World::managed().await;
    let _terminal = world.xterm(&["-iconic", "-title", "small"]);
    let deadline = soon();
    let window = loop {
        let windows = world.display.windows(&ListWindows {}).await.unwrap().windows;
        match windows.into_iter().find(|window| window.minimized) {
            Some(window) => break window,
            None => assert!(Instant::now() < deadline),
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    let id = WindowId(window.id.parse().unwrap());
    world.display.focus(&Focus { window_id: id }).await.unwrap();
    let windows = world.display.windows(&ListWindows {}).await.unwrap().windows;
    assert!(windows[0].focused && !windows[0].minimized, "{windows:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn focus_fails_in_time_without_a_window_manager() {
    let (world, manager) = World::managed().await;
    let _terminal = world.xterm(&["-title", "one"]);
    let window = world.window("one").await;
    let _other = world.xterm(&["-title", "two"]);
    world.window("two").await;
    drop(manager);
    let begin = Instant::now();
    let focus = Focus { window_id: WindowId(window.id.parse().unwrap()) };
    let error = world.display.focus(&focus).await.unwrap_err();
    // Openbox removes its window list on exit, so the window may be unknown by now.
    assert!(matches!(error.code(), ErrorCode::FocusRefused | ErrorCode::WindowNotFound));
    assert!(begin.elapsed() < Duration::from_secs(3));
}
