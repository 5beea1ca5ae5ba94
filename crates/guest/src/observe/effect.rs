//! Decides what effect an action had, from what was seen before and after it. Pure.

use helmdeck_browser::PageChanges;
use helmdeck_display::observe::{Rect, SeenWindow, SeenWindows};
use helmdeck_wire::observe::Effect;

/// Pixels around an element that its focus ring may change.
const RING: i32 = 12;
/// The same, in programs other than the browser, which draw it inside.
const INNER_RING: i32 = 4;
/// Pixels around the pointer that belong to what it is on.
const POINTER: i32 = 4;
/// How far the box with the address of a link may be from the page's corner, and its largest height.
const STATUS: (i32, u32) = (8, 32);
/// The height of the title bar above a window, and of a browser's tabs and toolbar in it.
const FRAME: (u32, u32) = (32, 90);
/// The height of a browser's tabs.
const TABS: u32 = 44;
/// A pixel or two at the corner of an element that was drawn again.
const SPECK: u64 = 2;
/// The largest part that changes because the pointer left it: a button or a link.
const HOVERED: u64 = 400 * 150;

/// What was seen of an action.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    pub action: Act,
    /// Where the screen changed.
    pub regions: Vec<Rect>,
    /// The windows before and after; `None` without a screen.
    pub windows: Option<(SeenWindows, SeenWindows)>,
    /// What changed in the browser.
    pub page: Option<PageChanges>,
    /// What the action itself reported.
    pub reported: Reported,
    /// What happened to the focus inside the active program, if that is known.
    pub focus: ProgramFocus,
    /// Where text cursors were drawn during the action.
    pub carets: Vec<Rect>,
    /// The title of the visible tab before, if it changes by itself.
    pub ticking: Option<String>,
}

/// What happened to the focus inside a program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProgramFocus {
    /// Another element has it.
    pub moved: bool,
    /// Where the one is that lost it.
    pub lost: Option<Rect>,
    /// Where the one is that got it.
    pub got: Option<Rect>,
    /// Whether that one also has another name or state than before.
    pub altered: bool,
    /// Whether it is a part of the browser, outside of pages.
    pub in_browser: bool,
}

/// The action.
#[derive(Debug, Clone, Default)]
pub struct Act {
    pub name: &'static str,
    /// Where it happened on the screen.
    pub at: Option<(i32, i32)>,
    /// The hash of the text that it types.
    pub types: Option<u32>,
}

/// What a reply of the structured browser says.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reported {
    pub opened: bool,
    pub dialog: bool,
    pub download: bool,
}

/// The effect of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The main effect.
    pub effect: Effect,
    /// All effects, the main one first.
    pub effects: Vec<Effect>,
    /// Where the screen changed because of the action.
    pub regions: Vec<Rect>,
    /// Those of them that a picture should show: an element that lost the focus needs none.
    pub telling: Vec<Rect>,
    /// Changes of panels, which have nothing to do with the action.
    pub in_panels: Vec<Rect>,
    /// The text is in the focused field as it was typed, and nothing else changed.
    pub text_entered: bool,
}

impl Seen {
    /// Decides.
    pub fn verdict(mut self) -> Verdict {
        let in_panels = self.leave_out_panels();
        self.leave_out_status();
        self.leave_out_ticking();
        self.leave_out_hovering();
        let mut effects = self.facts();
        let focus = self.focus_moved();
        let changed = !self.regions.is_empty();
        match (focus, changed) {
            (true, true) if self.only_focus() => effects.push(Effect::FocusMoved),
            (true, true) if self.window_focus_moved() => {
                effects.extend([Effect::FocusMoved, Effect::Confirmed]);
            }
            (true, true) => effects.extend([Effect::Confirmed, Effect::FocusMoved]),
            // A click beside every element takes the focus away, which says nothing.
            (true, false) if self.focus_gained() => effects.push(Effect::FocusMoved),
            (false, true) => effects.push(Effect::Confirmed),
            (false, false) if self.caret_moved() => effects.push(Effect::FocusMoved),
            (_, false) => {}
        }
        if self.title_changed() {
            effects.push(Effect::TitleChanged);
        }
        let effect = effects.first().copied().unwrap_or(Effect::NoVisibleChange);
        if effects.is_empty() {
            effects.push(effect);
        }
        let telling = self.telling();
        let text_entered = self.text_entered();
        Verdict { effect, effects, regions: self.regions, telling, in_panels, text_entered }
    }

    /// Effects that are certain, the most telling first.
    fn facts(&self) -> Vec<Effect> {
        let (opened, closed) = self.windows_changed();
        let page = self.page.as_ref();
        let of_page = |fact: fn(&PageChanges) -> bool| page.is_some_and(fact);
        let scrolled = self.action.name == "scroll" && !self.regions.is_empty();
        let facts = [
            (
                self.reported.dialog
                    || of_page(|page| page.dialog)
                    || opened.iter().any(|window| window.dialog),
                Effect::Dialog,
            ),
            (self.reported.download || of_page(|page| page.download), Effect::Download),
            (of_page(|page| page.navigated.is_some()), Effect::Navigated),
            (self.reported.opened || of_page(|page| page.opened > 0), Effect::TabOpened),
            (!opened.is_empty(), Effect::WindowOpened),
            (of_page(|page| page.closed > 0), Effect::TabClosed),
            (closed, Effect::WindowClosed),
            (scrolled || of_page(|page| page.scrolled), Effect::Scrolled),
            (of_page(|page| page.value_changed), Effect::ValueChanged),
        ];
        facts.into_iter().filter(|(holds, _)| *holds).map(|(_, effect)| effect).collect()
    }

    /// The windows that opened, and whether one closed.
    fn windows_changed(&self) -> (Vec<&SeenWindow>, bool) {
        let Some((before, after)) = &self.windows else { return (Vec::new(), false) };
        let missing = |window: &SeenWindow, from: &SeenWindows| {
            !window.panel && !from.windows.iter().any(|other| other.id == window.id)
        };
        let opened = after.windows.iter().filter(|window| missing(window, before)).collect();
        (opened, before.windows.iter().any(|window| missing(window, after)))
    }

    fn title_changed(&self) -> bool {
        let renamed = |(before, after): &(SeenWindows, SeenWindows)| {
            before.windows.iter().any(|then| {
                let now = after.windows.iter().find(|now| now.id == then.id);
                !then.panel
                    && now.is_some_and(|now| now.title != then.title && !self.ticks(then, now))
            })
        };
        let of_page = self.page.as_ref().filter(|_| self.ticking.is_none());
        self.windows.as_ref().is_some_and(renamed) || of_page.is_some_and(|page| page.title_changed)
    }

    /// Whether a window shows the title of a page that changes by itself.
    fn ticks(&self, then: &SeenWindow, now: &SeenWindow) -> bool {
        let Some(before) = &self.ticking else { return false };
        let after = self.page.as_ref().and_then(|page| page.title.as_ref());
        then.title.contains(before) || after.is_some_and(|after| now.title.contains(&after.title))
    }

    /// A title that changes by itself is drawn in the title bar and the tab.
    fn leave_out_ticking(&mut self) {
        let Some((before, after)) = &self.windows else { return };
        let pairs = before.windows.iter().filter_map(|then| {
            let now = after.windows.iter().find(|now| now.id == then.id)?;
            self.ticks(then, now).then_some(now.rect)
        });
        let bars: Vec<Rect> = pairs
            .map(|window| {
                let y = window.y.saturating_sub_unsigned(FRAME.0);
                Rect { y, height: FRAME.0 + TABS, ..window }
            })
            .collect();
        let at = self.action.at;
        self.regions.retain(|region| {
            let acted = |bar: &Rect| at.is_some_and(|(x, y)| bar.contains_point(x, y));
            !bars.iter().any(|bar| bar.contains(region) && !acted(bar))
        });
    }

    fn window_focus_moved(&self) -> bool {
        self.windows.as_ref().is_some_and(|(before, after)| before.active != after.active)
    }

    fn focus_moved(&self) -> bool {
        let in_page = |page: &PageChanges| page.focus_moved || page.caret_moved;
        self.focus.moved || self.window_focus_moved() || self.page.as_ref().is_some_and(in_page)
    }

    fn focus_gained(&self) -> bool {
        let in_page = |page: &PageChanges| page.focused || page.caret_moved;
        self.focus.moved || self.window_focus_moved() || self.page.as_ref().is_some_and(in_page)
    }

    /// Whether a program drew its text cursor in two places.
    fn caret_moved(&self) -> bool {
        let first = self.carets.first();
        first.is_some_and(|first| self.carets.iter().any(|other| other != first))
    }

    /// Whether all changes show the focus: rings and carets of the elements that lost and got it.
    fn only_focus(&self) -> bool {
        if self.window_focus_moved() || self.focus.moved && self.focus.altered {
            return false;
        }
        let of_page = self.page.iter().flat_map(|page| &page.focus).map(rect);
        let of_page = of_page.map(|element| element.inflated(RING));
        let ring = if self.focus.in_browser { RING } else { INNER_RING };
        let of_program = self.focus.lost.into_iter().chain(self.focus.got);
        let rings: Vec<Rect> =
            of_page.chain(of_program.map(|element| element.inflated(ring))).collect();
        self.regions.iter().all(|region| {
            // Changes of elements next to each other are one region.
            let near = rings.iter().filter(|ring| ring.intersection(region).is_some()).copied();
            let ring = near.reduce(|one, other| one.union(&other));
            let ring = ring.is_some_and(|ring| ring.contains(region)) && !self.is_written(region);
            ring || region.area() <= SPECK || self.is_field_of_browser(region)
        })
    }

    /// Whether a region is a field of the browser's toolbar that got the focus. Its frame is larger
    /// than what accessibility tells.
    fn is_field_of_browser(&self, region: &Rect) -> bool {
        let viewport = self.page.as_ref().and_then(|page| page.viewport.as_ref()).map(rect);
        let outside = viewport.is_some_and(|view| view.intersection(region).is_none());
        let field = self.focus.got.filter(|_| self.focus.in_browser);
        outside && field.is_some_and(|field| field.inflated(RING).intersection(region).is_some())
    }

    /// Whether the document changed in a region.
    fn is_written(&self, region: &Rect) -> bool {
        let mutated = self.page.iter().flat_map(|page| &page.mutated);
        mutated.map(rect).any(|area| area.intersection(region).is_some())
    }

    /// Whether the text is in the focused field as it was typed, and nothing else changed.
    fn text_entered(&self) -> bool {
        let inserted = self.page.as_ref().and_then(|page| page.inserted);
        let Some(inserted) = inserted.filter(|it| Some(it.hash) == self.action.types) else {
            return false;
        };
        let field = rect(&inserted.field).inflated(RING);
        self.regions.iter().all(|region| field.contains(region))
    }

    /// Whether a region is the frame of the window that was active: another window is now, so it has
    /// other colours.
    fn is_inactive_frame(&self, region: &Rect) -> bool {
        let Some((before, _)) = self.windows.as_ref().filter(|_| self.window_focus_moved()) else {
            return false;
        };
        let active = before.windows.iter().find(|window| Some(window.id) == before.active);
        active.is_some_and(|window| {
            let (above, toolbar) = FRAME;
            let y = window.rect.y.saturating_sub_unsigned(above);
            let frame = Rect { y, height: above + toolbar, ..window.rect };
            frame.inflated(RING).contains(region) && region.width > window.rect.width / 2
        })
    }

    /// The regions that a picture should show.
    fn telling(&self) -> Vec<Rect> {
        let of_page = self.page.as_ref().and_then(|page| page.unfocused.as_ref()).map(rect);
        let lost: Vec<Rect> =
            of_page.into_iter().chain(self.focus.lost).map(|lost| lost.inflated(RING)).collect();
        let told = |region: &&Rect| {
            let tells = !lost.iter().any(|lost| lost.contains(region)) || self.is_written(region);
            tells && !self.is_inactive_frame(region)
        };
        let telling: Vec<Rect> = self.regions.iter().filter(told).copied().collect();
        if telling.is_empty() { self.regions.clone() } else { telling }
    }

    /// The browser shows the address of a link under the pointer in the page's lower corner.
    fn leave_out_status(&mut self) {
        let Some(view) = self.page.as_ref().and_then(|page| page.viewport.as_ref()).map(rect)
        else {
            return;
        };
        let bottom = view.y.saturating_add_unsigned(view.height);
        let corner = Rect {
            x: view.x - STATUS.0,
            y: bottom.saturating_sub_unsigned(STATUS.1),
            width: view.width / 2,
            height: STATUS.1 + STATUS.0.unsigned_abs(),
        };
        let mut regions = std::mem::take(&mut self.regions);
        let in_corner = |region: &Rect| {
            corner.contains(region) && region.x <= view.x + STATUS.0 && !self.is_written(region)
        };
        regions.retain(|region| !in_corner(region));
        self.regions = regions;
    }

    /// Panels show clocks and lists of windows. They count if the action happened there.
    fn leave_out_panels(&mut self) -> Vec<Rect> {
        let Some((before, after)) = &self.windows else { return Vec::new() };
        let windows = before.windows.iter().chain(&after.windows);
        let panels: Vec<Rect> =
            windows.filter(|window| window.panel).map(|window| window.rect).collect();
        // A panel over the whole screen is the desktop itself.
        let at = self.action.at;
        let of_panel = |region: &mut Rect| {
            panels.iter().any(|panel| {
                let acted = at.is_some_and(|(x, y)| panel.contains_point(x, y));
                panel.height < 200 && panel.contains(region) && !acted
            })
        };
        self.regions.extract_if(.., of_panel).collect()
    }

    /// What the pointer left loses its highlight; that is no effect of a click elsewhere.
    fn leave_out_hovering(&mut self) {
        let (Some((before, _)), Some((x, y))) = (&self.windows, self.action.at) else { return };
        let clicks = self.action.name.contains("click") || self.action.name == "mouse_down";
        let (left, top) = before.pointer;
        let mutated = self.page.as_ref().map(|page| page.mutated.as_slice()).unwrap_or_default();
        let left_behind = |region: &Rect| {
            region.inflated(POINTER).contains_point(left, top)
                && !region.inflated(POINTER).contains_point(x, y)
                && region.area() <= HOVERED
                && !mutated.iter().any(|area| rect(area).intersection(region).is_some())
        };
        if clicks && self.regions.iter().all(left_behind) {
            self.regions.clear();
        }
    }
}

/// A rectangle of a page that is on the screen.
pub fn rect(area: &helmdeck_browser::Area) -> Rect {
    Rect { x: area.x, y: area.y, width: area.width, height: area.height }
}

#[cfg(test)]
mod tests {
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
        let effects =
            [Effect::Navigated, Effect::Confirmed, Effect::FocusMoved, Effect::TitleChanged];
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
}
