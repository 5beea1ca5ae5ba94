//! What counts as which effect.

use helmdeck_browser::{Area, Inserted, hashed};

use super::*;

const BUTTON: Rect = Rect { x: 100, y: 100, width: 80, height: 30 };
const FIELD: Rect = Rect { x: 300, y: 100, width: 200, height: 30 };
const STATUS: Rect = Rect { x: 100, y: 400, width: 120, height: 16 };

fn area(rect: Rect) -> Area {
    Area { x: rect.x, y: rect.y, width: rect.width, height: rect.height }
}

fn window(id: u32, title: &str) -> SeenWindow {
    let rect = Rect { x: 0, y: 0, width: 1280, height: 772 };
    let (title, class) = (title.to_owned(), String::new());
    SeenWindow { id, title, class, dialog: false, panel: false, rect }
}

fn panel() -> SeenWindow {
    let rect = Rect { x: 0, y: 772, width: 1280, height: 28 };
    SeenWindow { panel: true, rect, ..window(9, "panel") }
}

fn windows(windows: &[SeenWindow], active: u32) -> SeenWindows {
    let windows = windows.iter().cloned().chain([panel()]).collect();
    let (keyboard, pointer) = (active, (5, 5));
    SeenWindows { windows, active: Some(active), keyboard, pointer, programs: Vec::new() }
}

/// A click on the button, in a browser's window.
fn click() -> Seen {
    let browser = windows(&[window(1, "page")], 1);
    Seen {
        action: Act { name: "click", at: Some((140, 115)), types: None },
        windows: Some((browser.clone(), browser)),
        page: Some(PageChanges::default()),
        ..Seen::default()
    }
}

fn page(changes: PageChanges) -> Option<PageChanges> {
    Some(changes)
}

#[track_caller]
fn assert_effects(seen: Seen, expected: &[Effect]) {
    let verdict = seen.verdict();
    assert_eq!(verdict.effects, expected);
    assert_eq!(Some(&verdict.effect), expected.first());
}

#[test]
fn a_text_cursor_in_two_places_has_moved_and_one_that_blinks_has_not() {
    let caret = |x, height| Rect { x, y: 240, width: 1, height };
    let seen = |carets: &[Rect]| Seen { carets: carets.to_vec(), page: None, ..click() };
    assert_effects(seen(&[caret(192, 17), caret(302, 17)]), &[Effect::FocusMoved]);
    // The next line.
    assert_effects(seen(&[caret(192, 17), caret(192, 36)]), &[Effect::FocusMoved]);
    assert_effects(seen(&[caret(192, 17), caret(192, 17)]), &[Effect::NoVisibleChange]);
}

#[test]
fn a_text_is_entered_if_the_field_has_it_as_typed_and_nothing_else_changed() {
    let typed = |text: &str, regions: &[Rect]| {
        let inserted = Some(Inserted { hash: hashed("Ada"), field: area(FIELD) });
        Seen {
            action: Act { name: "type", at: None, types: Some(hashed(text)) },
            regions: regions.to_vec(),
            page: page(PageChanges { value_changed: true, inserted, ..PageChanges::default() }),
            ..click()
        }
    };
    assert_effects(typed("Ada", &[FIELD]), &[Effect::ValueChanged, Effect::Confirmed]);
    assert!(typed("Ada", &[FIELD]).verdict().text_entered);
    assert!(!typed("Bob", &[FIELD]).verdict().text_entered, "the field has another text");
    assert!(!typed("Ada", &[FIELD, STATUS]).verdict().text_entered, "a message appeared");
    let clicked = Seen { action: Act::default(), ..typed("Ada", &[FIELD]) };
    assert!(!clicked.verdict().text_entered);
}

#[test]
fn the_frame_of_a_window_that_becomes_inactive_needs_no_picture() {
    let frame = Rect { x: 0, y: 0, width: 1280, height: 105 };
    let terminal = Rect { x: 600, y: 300, width: 500, height: 300 };
    let below_its_title = Rect { x: 0, y: 24, width: 1280, height: 748 };
    let browser = SeenWindow { rect: below_its_title, ..window(1, "page") };
    let opened = SeenWindow { rect: terminal, ..window(2, "xterm") };
    let before = windows(std::slice::from_ref(&browser), 1);
    let after = windows(&[browser, opened], 2);
    let seen = Seen {
        action: Act { name: "launch", at: None, types: None },
        regions: vec![frame, terminal],
        windows: Some((before, after)),
        ..click()
    };
    let verdict = seen.verdict();
    assert_eq!(verdict.effect, Effect::WindowOpened);
    assert_eq!((verdict.regions, verdict.telling), (vec![frame, terminal], vec![terminal]));
}

#[test]
fn an_action_that_changes_nothing_has_no_visible_effect() {
    assert_effects(click(), &[Effect::NoVisibleChange]);
    assert_effects(Seen::default(), &[Effect::NoVisibleChange]);
}

#[test]
fn a_focus_that_is_only_lost_is_no_effect_unless_it_shows() {
    let lost =
        PageChanges { focus_moved: true, focus: vec![area(FIELD)], ..PageChanges::default() };
    assert_effects(Seen { page: page(lost.clone()), ..click() }, &[Effect::NoVisibleChange]);
    let ring = FIELD.inflated(2);
    assert_effects(
        Seen { page: page(lost.clone()), regions: vec![ring], ..click() },
        &[Effect::FocusMoved],
    );
    let moved = PageChanges { focused: true, ..lost };
    assert_effects(Seen { page: page(moved), ..click() }, &[Effect::FocusMoved]);
}

#[test]
fn a_changed_text_confirms_a_click_even_if_the_button_got_the_focus() {
    let focus = vec![area(BUTTON)];
    for changes in [
        PageChanges::default(),
        PageChanges { focus_moved: true, focus: focus.clone(), ..PageChanges::default() },
    ] {
        let seen = Seen { regions: vec![STATUS], page: page(changes), ..click() };
        assert_eq!(seen.verdict().effect, Effect::Confirmed);
    }
    // Its own label changed.
    let mutated = focus.clone();
    let changes = PageChanges { focus_moved: true, focus, mutated, ..PageChanges::default() };
    let seen = Seen { regions: vec![BUTTON], page: page(changes), ..click() };
    assert_effects(seen, &[Effect::Confirmed, Effect::FocusMoved]);
}

#[test]
fn a_focus_ring_alone_is_a_focus_move() {
    let focus = vec![area(BUTTON), area(FIELD)];
    let changes = PageChanges { focus_moved: true, focus, ..PageChanges::default() };
    let rings = vec![BUTTON.inflated(3), FIELD.inflated(3)];
    let seen = Seen { regions: rings, page: page(changes.clone()), ..click() };
    assert_effects(seen, &[Effect::FocusMoved]);
    // A field without a ring.
    let changes = PageChanges { focused: true, ..changes };
    assert_effects(Seen { page: page(changes), ..click() }, &[Effect::FocusMoved]);
    let moved = PageChanges { caret_moved: true, ..PageChanges::default() };
    assert_effects(Seen { page: page(moved), ..click() }, &[Effect::FocusMoved]);
}

#[test]
fn a_button_of_a_program_that_only_gets_the_focus_is_a_focus_move() {
    let focus = ProgramFocus {
        moved: true,
        lost: Some(FIELD),
        got: Some(BUTTON),
        ..ProgramFocus::default()
    };
    let regions = vec![BUTTON, FIELD.inflated(2)];
    let seen = Seen { regions: regions.clone(), focus, ..click() };
    assert_effects(seen.clone(), &[Effect::FocusMoved]);
    assert_eq!(seen.clone().verdict().telling, [BUTTON]);
    // Something else changed, or the button itself.
    let more = Seen { regions: vec![BUTTON, STATUS], ..seen.clone() };
    assert_effects(more, &[Effect::Confirmed, Effect::FocusMoved]);
    let altered = ProgramFocus { altered: true, ..focus };
    let seen = Seen { focus: altered, ..seen };
    assert_effects(seen, &[Effect::Confirmed, Effect::FocusMoved]);
}

#[test]
fn a_field_of_the_browser_that_gets_the_focus_is_a_focus_move() {
    let viewport = Some(Area { x: 0, y: 110, width: 1280, height: 660 });
    let bar = Rect { x: 120, y: 69, width: 1000, height: 36 };
    let got = Some(Rect { x: 160, y: 75, width: 800, height: 24 });
    let focus = ProgramFocus { moved: true, got, in_browser: true, ..ProgramFocus::default() };
    let changes = PageChanges { viewport, ..PageChanges::default() };
    let seen = Seen { regions: vec![bar], page: page(changes), focus, ..click() };
    assert_effects(seen.clone(), &[Effect::FocusMoved]);
    let seen = Seen { regions: vec![bar, STATUS], ..seen };
    assert_effects(seen, &[Effect::Confirmed, Effect::FocusMoved]);
}

#[test]
fn the_address_of_a_link_under_the_pointer_is_no_effect() {
    let viewport = Some(Area { x: 0, y: 110, width: 1280, height: 660 });
    let address = Rect { x: 0, y: 749, width: 120, height: 22 };
    let changes = PageChanges { viewport, ..PageChanges::default() };
    let seen = Seen { regions: vec![address], page: page(changes.clone()), ..click() };
    assert_effects(seen, &[Effect::NoVisibleChange]);
    let mutated = vec![area(address)];
    let written = PageChanges { mutated, ..changes };
    let seen = Seen { regions: vec![address], page: page(written), ..click() };
    assert_effects(seen, &[Effect::Confirmed]);
}

#[test]
fn the_most_telling_effect_of_the_page_is_the_main_one() {
    let changes = PageChanges {
        navigated: Some("http://a/".into()),
        title_changed: true,
        focus_moved: true,
        ..PageChanges::default()
    };
    let seen = Seen { regions: vec![FIELD, STATUS], page: page(changes), ..click() };
    let effects = [Effect::Navigated, Effect::Confirmed, Effect::FocusMoved, Effect::TitleChanged];
    assert_effects(seen, &effects);
    for (changes, effect) in [
        (PageChanges { dialog: true, ..PageChanges::default() }, Effect::Dialog),
        (PageChanges { download: true, ..PageChanges::default() }, Effect::Download),
        (PageChanges { opened: 1, ..PageChanges::default() }, Effect::TabOpened),
        (PageChanges { closed: 1, ..PageChanges::default() }, Effect::TabClosed),
        (PageChanges { scrolled: true, ..PageChanges::default() }, Effect::Scrolled),
        (PageChanges { value_changed: true, ..PageChanges::default() }, Effect::ValueChanged),
    ] {
        let seen = Seen { regions: vec![STATUS], page: page(changes), ..click() };
        assert_effects(seen, &[effect, Effect::Confirmed]);
    }
    let out_of_view = PageChanges { changed_out_of_view: true, ..PageChanges::default() };
    assert_effects(Seen { page: page(out_of_view), ..click() }, &[Effect::NoVisibleChange]);
}

#[test]
fn what_the_structured_browser_reports_counts() {
    let reported = Reported { opened: false, dialog: true, download: true };
    let seen = Seen { reported, ..Seen::default() };
    assert_effects(seen, &[Effect::Dialog, Effect::Download]);
}

#[test]
fn a_title_that_changes_by_itself_is_no_effect() {
    let titled = |title: &str| windows(&[window(1, &format!("{title} - Chromium"))], 1);
    let tab = helmdeck_browser::ShownTitle {
        tab: helmdeck_wire::browser::TabId("1".into()),
        url: String::new(),
        title: "0:02".to_owned(),
    };
    let page = PageChanges { title_changed: true, title: Some(tab), ..PageChanges::default() };
    let seen = Seen {
        regions: vec![Rect { x: 30, y: 10, width: 60, height: 12 }],
        windows: Some((titled("0:01"), titled("0:02"))),
        page: Some(page),
        ticking: Some("0:01".to_owned()),
        ..Seen::default()
    };
    assert_eq!(seen.clone().verdict().effects, [Effect::NoVisibleChange]);
    // A click on the tab is there.
    let action = Act { at: Some((40, 12)), ..Act::default() };
    assert_eq!(Seen { action, ..seen.clone() }.verdict().effect, Effect::Confirmed);
    let once = Seen { ticking: None, regions: Vec::new(), ..seen };
    assert_eq!(once.verdict().effects, [Effect::TitleChanged]);
}

#[test]
fn windows_that_open_or_close_are_effects() {
    let one = windows(&[window(1, "page")], 1);
    let two = windows(&[window(1, "page"), window(2, "xterm")], 2);
    let opened =
        Seen { windows: Some((one.clone(), two.clone())), regions: vec![STATUS], ..click() };
    assert_effects(opened, &[Effect::WindowOpened, Effect::FocusMoved, Effect::Confirmed]);
    let closed = Seen { windows: Some((two, one.clone())), regions: vec![STATUS], ..click() };
    assert_effects(closed, &[Effect::WindowClosed, Effect::FocusMoved, Effect::Confirmed]);
    let dialog = SeenWindow { dialog: true, ..window(3, "Save as") };
    let asks = windows(&[window(1, "page"), dialog], 1);
    let seen = Seen { windows: Some((one.clone(), asks)), regions: vec![FIELD], ..click() };
    assert_effects(seen, &[Effect::Dialog, Effect::WindowOpened, Effect::Confirmed]);
    let renamed = windows(&[window(1, "other")], 1);
    let seen = Seen { windows: Some((one, renamed)), ..click() };
    assert_effects(seen, &[Effect::TitleChanged]);
}

#[test]
fn another_window_with_the_focus_is_a_focus_move() {
    let both = [window(1, "page"), window(2, "xterm")];
    let seen = Seen {
        windows: Some((windows(&both, 1), windows(&both, 2))),
        regions: vec![STATUS],
        ..click()
    };
    assert_effects(seen, &[Effect::FocusMoved, Effect::Confirmed]);
}

#[test]
fn a_wheel_that_moves_something_scrolls() {
    let act = Act { name: "scroll", at: Some((140, 115)), types: None };
    let seen = Seen { action: act.clone(), regions: vec![FIELD], ..click() };
    assert_effects(seen, &[Effect::Scrolled, Effect::Confirmed]);
    assert_effects(Seen { action: act, ..click() }, &[Effect::NoVisibleChange]);
}

#[test]
fn the_clock_of_the_panel_is_no_effect_unless_the_panel_was_clicked() {
    let clock = Rect { x: 1230, y: 776, width: 40, height: 16 };
    let verdict = Seen { regions: vec![clock], ..click() }.verdict();
    assert_eq!((verdict.effect, verdict.regions), (Effect::NoVisibleChange, vec![]));
    assert_eq!(verdict.in_panels, [clock]);
    let act = Act { name: "click", at: Some((1240, 780)), types: None };
    let seen = Seen { action: act, regions: vec![clock], ..click() };
    assert_effects(seen, &[Effect::Confirmed]);
}

#[test]
fn a_highlight_that_the_pointer_left_is_no_effect_of_a_click() {
    // The pointer was at (5, 5).
    let hovered = Rect { x: 0, y: 0, width: 60, height: 20 };
    assert_effects(Seen { regions: vec![hovered], ..click() }, &[Effect::NoVisibleChange]);
    let more = Seen { regions: vec![hovered, STATUS], ..click() };
    assert_effects(more, &[Effect::Confirmed]);
    // Its text changed.
    let mutated = vec![area(hovered)];
    let changes = PageChanges { mutated, ..PageChanges::default() };
    let seen = Seen { regions: vec![hovered], page: page(changes), ..click() };
    assert_effects(seen, &[Effect::Confirmed]);
    let moved = Act { name: "mouse_move", at: Some((140, 115)), types: None };
    let seen = Seen { action: moved, regions: vec![hovered], ..click() };
    assert_effects(seen, &[Effect::Confirmed]);
}
