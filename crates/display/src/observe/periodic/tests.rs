//! Rhythms, with a clock of the test.

use std::cell::Cell;

use super::*;

const SPINNER: Rect = Rect { x: 100, y: 100, width: 32, height: 32 };
const LINE: Rect = Rect { x: 40, y: 40, width: 2, height: 20 };
const TEXT: Rect = Rect { x: 300, y: 200, width: 90, height: 14 };

/// A tracker with its own clock.
struct Screen {
    start: Instant,
    tracker: Tracker,
    look: Cell<u64>,
}

impl Screen {
    fn new() -> Self {
        Self { start: Instant::now(), tracker: Tracker::default(), look: Cell::new(0) }
    }

    fn at(&self, ms: u64) -> Instant {
        self.start + Duration::from_millis(ms)
    }

    /// A change that shows something new.
    fn change(&mut self, ms: u64, rect: Rect) {
        self.look.set(self.look.get() + 1);
        self.show(ms, rect, self.look.get());
    }

    fn show(&mut self, ms: u64, rect: Rect, look: u64) {
        self.tracker.note(self.at(ms), &[rect], false, &|_| look);
    }

    /// A change that an action caused.
    fn cause(&mut self, ms: u64, rect: Rect, look: u64) {
        self.tracker.note(self.at(ms), &[rect], true, &|_| look);
    }

    /// When the last change was, in milliseconds.
    fn last(&self, now: u64) -> Option<u64> {
        let last = self.tracker.last_change(self.start, self.at(now), &[])?;
        u64::try_from((last - self.start).as_millis()).ok()
    }

    fn kinds(&self, now: u64) -> Vec<Kind> {
        let periodic = self.tracker.periodic(self.start, self.at(now));
        periodic.iter().map(|place| place.kind).collect()
    }
}

#[test]
fn a_caret_is_named_although_the_ring_of_its_field_changed_before() {
    let mut screen = Screen::new();
    screen.change(50, LINE.inflated(30));
    for (nth, ms) in [550, 1050, 1550].into_iter().enumerate() {
        screen.show(ms, LINE, nth as u64 % 2);
        assert_eq!(screen.last(ms), Some(50));
    }
    assert_eq!(screen.kinds(1600), [Kind::Caret]);
}

#[test]
fn a_spinner_in_a_window_that_was_just_drawn_is_small() {
    let mut screen = Screen::new();
    screen.change(0, SPINNER.inflated(400));
    for ms in (20..=1200).step_by(20) {
        screen.change(ms, SPINNER);
        if ms == 800 {
            screen.change(ms, LINE);
        }
    }
    assert_eq!(screen.kinds(1210), [Kind::Spinner]);
    assert_eq!(screen.tracker.periodic(screen.start, screen.at(1210))[0].rect, SPINNER);
    // What changed beside it counts.
    assert_eq!(screen.last(1210), Some(800));
}

#[test]
fn a_caret_never_counts_and_is_named() {
    let mut screen = Screen::new();
    for (nth, ms) in [100, 600, 1100, 1600].into_iter().enumerate() {
        screen.show(ms, LINE, nth as u64 % 2);
        assert_eq!(screen.last(ms), None);
    }
    assert_eq!(screen.kinds(1700), [Kind::Caret]);
    let period = screen.tracker.periodic(screen.start, screen.at(1700))[0].period;
    assert_eq!(period, Duration::from_millis(500));
    assert_eq!(screen.tracker.unchanged(screen.at(1700), &|_| 0), [LINE]);
    assert_eq!(screen.tracker.unchanged(screen.at(1700), &|_| 7), []);
}

#[test]
fn a_caret_and_a_clock_are_remembered_whatever_their_age() {
    let mut screen = Screen::new();
    for (nth, ms) in [500, 1000, 1500].into_iter().enumerate() {
        screen.show(ms, LINE, nth as u64 % 2);
    }
    for ms in [1000, 2000, 3000, 4000] {
        screen.change(ms, TEXT);
    }
    let later = screen.at(60_000);
    assert_eq!(screen.tracker.periodic(later, later), []);
    // Both looks of the caret are known; what a clock shows is always new.
    let left_out = |look: u64| screen.tracker.unchanged(later, &move |_| look);
    assert_eq!((left_out(0), left_out(1)), (vec![LINE, TEXT], vec![LINE, TEXT]));
    // Something else where the caret was counts.
    assert_eq!(left_out(77), [TEXT]);
}

#[test]
fn a_spinner_stops_counting_after_a_second_and_counts_again_when_it_stops() {
    let mut screen = Screen::new();
    for ms in (0..900).step_by(16) {
        screen.change(ms, SPINNER);
        assert_eq!(screen.last(ms), Some(ms));
    }
    for ms in (912..1500).step_by(16) {
        screen.change(ms, SPINNER);
    }
    assert_eq!((screen.last(1500), screen.kinds(1500)), (None, vec![Kind::Spinner]));
    assert_eq!(screen.tracker.unchanged(screen.at(1500), &|_| 0), [SPINNER]);
    // It shows a result.
    assert_eq!((screen.last(1700), screen.kinds(1700)), (Some(1488), vec![]));
    assert_eq!(screen.tracker.unchanged(screen.at(1700), &|_| 0), []);
}

#[test]
fn a_spinner_that_was_seen_before_is_recognised_sooner() {
    let mut screen = Screen::new();
    for ms in (0..1200).step_by(16) {
        screen.change(ms, SPINNER);
    }
    for ms in (30_000..30_300).step_by(16) {
        screen.change(ms, SPINNER);
    }
    assert_eq!(screen.kinds(30_300), [Kind::Spinner]);
}

#[test]
fn a_transition_counts_until_its_end() {
    let mut screen = Screen::new();
    for ms in (0..800).step_by(16) {
        screen.change(ms, TEXT);
        assert_eq!(screen.last(ms), Some(ms));
    }
    assert_eq!(screen.kinds(800), []);
}

#[test]
fn what_grows_is_not_periodic() {
    let mut screen = Screen::new();
    for nth in 0..200 {
        let bar = Rect { x: 10 + nth, y: 10, width: 1, height: 6 };
        screen.change(16 * u64::from(nth.unsigned_abs()), bar);
    }
    assert_eq!((screen.last(3184), screen.kinds(3184)), (Some(3184), vec![]));
}

#[test]
fn a_clock_is_recognised_at_its_fourth_tick_even_if_some_were_not_seen() {
    let mut screen = Screen::new();
    for (ms, kinds) in [(400, vec![]), (1410, vec![]), (6395, vec![]), (7400, vec![Kind::Clock])] {
        screen.change(ms, TEXT);
        assert_eq!(screen.kinds(ms), kinds, "{ms}");
    }
    assert_eq!(screen.tracker.unchanged(screen.at(8000), &|_| 99), [TEXT]);
    // It stays one, although an action happens at the time of a tick.
    screen.cause(9390, TEXT, 98);
    assert_eq!(screen.kinds(9390), [Kind::Clock]);
}

#[test]
fn actions_that_are_repeated_each_second_are_no_clock_and_always_count() {
    let mut screen = Screen::new();
    for nth in 1..8 {
        screen.cause(nth * 1000, TEXT, nth);
        assert_eq!((screen.last(nth * 1000), screen.kinds(nth * 1000)), (Some(nth * 1000), vec![]));
    }
}

#[test]
fn a_check_box_that_is_clicked_again_and_again_does_not_blink() {
    let mut screen = Screen::new();
    for nth in 1..8 {
        screen.cause(nth * 900, TEXT, nth % 2);
        assert_eq!((screen.last(nth * 900), screen.kinds(nth * 900)), (Some(nth * 900), vec![]));
    }
}

#[test]
fn quick_actions_on_the_same_place_make_no_animation() {
    let mut screen = Screen::new();
    for nth in 1..40 {
        screen.cause(nth * 150, TEXT, nth);
        assert_eq!((screen.last(nth * 150), screen.kinds(nth * 150)), (Some(nth * 150), vec![]));
    }
}

#[test]
fn rare_or_large_changes_are_no_clock() {
    let mut screen = Screen::new();
    let large = Rect { x: 0, y: 0, width: 900, height: 700 };
    for nth in 1..6 {
        screen.change(nth * 120_000, TEXT);
        screen.change(nth * 120_000 + 500, large);
    }
    assert_eq!(screen.kinds(600_600), []);
}

#[test]
fn a_video_is_large_and_keeps_changing() {
    let mut screen = Screen::new();
    let video = Rect { x: 0, y: 0, width: 640, height: 360 };
    for ms in (0..1200).step_by(40) {
        screen.change(ms, video);
    }
    assert_eq!(screen.kinds(1200), [Kind::Video]);
}

#[test]
fn a_change_elsewhere_counts_while_a_spinner_spins() {
    let mut screen = Screen::new();
    for ms in (0..1600).step_by(16) {
        screen.change(ms, SPINNER);
        if ms == 1120 {
            screen.change(ms, TEXT);
        }
    }
    assert_eq!(screen.last(1590), Some(1120));
    // As does one that covers more than the spinner.
    screen.change(1600, SPINNER.inflated(200));
    assert_eq!(screen.last(1610), Some(1600));
}

#[test]
fn something_new_in_a_blinking_place_counts() {
    let mut screen = Screen::new();
    for (nth, ms) in [0, 500, 1000, 1500, 2000].into_iter().enumerate() {
        screen.show(ms, TEXT, nth as u64 % 2);
    }
    assert_eq!((screen.last(2000), screen.kinds(2000)), (None, vec![Kind::Animation]));
    screen.show(2500, TEXT, 77);
    assert_eq!(screen.last(2500), Some(2500));
}

#[test]
fn places_that_the_page_names_do_not_count() {
    let mut screen = Screen::new();
    screen.change(10, SPINNER);
    let named = Periodic { rect: SPINNER, period: Duration::ZERO, kind: Kind::Spinner };
    let last = |given: &[Periodic]| screen.tracker.last_change(screen.start, screen.at(20), given);
    assert!(last(&[]).is_some());
    assert_eq!(last(&[named]), None);
}

#[test]
fn forgotten_places_still_count() {
    let mut screen = Screen::new();
    for nth in 0..200 {
        let dot = Rect { x: nth % 20 * 60, y: nth / 20 * 60, width: 4, height: 4 };
        screen.change(u64::from(nth.unsigned_abs()), dot);
    }
    assert_eq!(screen.tracker.tracks.len(), MAX_TRACKS);
    assert_eq!(screen.last(200), Some(199));
}
