//! Decides what effect an action had, from what was seen before and after it. Pure.

#[cfg(test)]
mod tests;

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
