//! What is kept of actions and events, and who reads it.

use helmdeck_wire::browser::TabId;
use serde_json::json;

use super::*;

fn acted(trace: &Trace, x: i32) -> u64 {
    let started = trace.begin("click", json!({ "x": x }));
    let seen = ActionTrace { acted_at: Some(Pixel { x, y: 0 }), ..Default::default() };
    let id = started.id;
    started.observed(seen, None);
    started.end("ok");
    id
}

#[test]
fn a_reader_continues_where_it_stopped() {
    let trace = Trace::default();
    acted(&trace, 1);
    let first = trace.read(&ReadTrace::default());
    assert_eq!(first.entries.len(), 1);
    assert_eq!(first.entries[0].outcome.as_deref(), Some("ok"));
    acted(&trace, 2);
    let wanted = ReadTrace { since: Some(first.next), ..Default::default() };
    let second = trace.read(&wanted);
    assert_eq!(second.entries.iter().map(|it| it.id).collect::<Vec<_>>(), [2]);
}

#[test]
fn a_reader_that_is_far_behind_reads_every_entry_in_several_replies() {
    let trace = Trace::default();
    for x in 0..7 {
        acted(&trace, x);
    }
    let (mut since, mut seen) = (0, Vec::new());
    for _ in 0..3 {
        let wanted = ReadTrace { since: Some(since), limit: Some(3), ..Default::default() };
        let part = trace.read(&wanted);
        seen.extend(part.entries.iter().map(|it| it.id));
        since = part.next;
    }
    assert_eq!(seen, [1, 2, 3, 4, 5, 6, 7]);
    let last = trace.read(&ReadTrace { limit: Some(3), ..Default::default() });
    assert_eq!(last.entries.iter().map(|it| it.id).collect::<Vec<_>>(), [5, 6, 7]);
}

#[test]
fn entries_are_in_the_order_of_their_time() {
    let trace = Trace::default();
    let before = Instant::now();
    std::thread::sleep(Duration::from_millis(2));
    acted(&trace, 1);
    trace.add(TraceEntry::new(TraceKind::WindowOpened), before);
    let kinds = trace.read(&ReadTrace::default()).entries;
    let kinds: Vec<_> = kinds.iter().map(|it| it.kind).collect();
    assert_eq!(kinds, [TraceKind::WindowOpened, TraceKind::Action]);
}

#[test]
fn an_action_that_ends_after_it_was_read_is_read_again() {
    let trace = Trace::default();
    let started = trace.begin("click", Value::Null);
    let first = trace.read(&ReadTrace::default());
    assert_eq!(first.entries[0].outcome, None);
    let wanted = ReadTrace { since: Some(first.next), ..Default::default() };
    assert_eq!(trace.read(&wanted).entries, []);
    started.end("ok");
    let again = trace.read(&wanted).entries;
    assert_eq!((again[0].id, again[0].outcome.as_deref()), (1, Some("ok")));
}

#[test]
fn an_action_whose_caller_left_is_cancelled() {
    let trace = Trace::default();
    drop(trace.begin("click", Value::Null));
    let entries = trace.read(&ReadTrace::default()).entries;
    assert_eq!(entries[0].outcome.as_deref(), Some("cancelled"));
}

#[test]
fn neither_values_of_fields_nor_queries_of_addresses_are_kept() {
    let trace = Trace::default();
    let url = "https://ada:key@example.org/a?token=1#part".to_owned();
    let hit = Hit { value: Some("typed".into()), url: Some(url.clone()), ..Hit::default() };
    let started = trace.begin("type", json!({}));
    let observation = Observation { hit: Some(hit), ..Observation::default() };
    started.observed(ActionTrace::of(&observation, observation.hit.clone()), None);
    trace.page(PageEvent::Navigated { tab: TabId("1".into()), url });
    let entries = trace.read(&ReadTrace::default()).entries;
    let hit = entries[0].hit.as_ref().unwrap();
    assert_eq!((&hit.value, hit.url.as_deref()), (&None, Some("https://example.org/a")));
    assert_eq!(entries[1].url.as_deref(), Some("https://example.org/a"));
}

#[test]
fn an_action_without_options_is_near_its_point() {
    let trace = Trace::default();
    let started = trace.begin("click", json!({ "x": 30, "y": 40 }));
    started.acted_at(Some(Pixel { x: 30, y: 40 }));
    started.end("ok");
    let near = |near: &str| {
        trace.read(&ReadTrace { near: Some(near.into()), ..Default::default() }).entries.len()
    };
    assert_eq!((near("35,45"), near("500,500")), (1, 0));
}

#[test]
fn only_what_is_near_a_point_is_returned() {
    let trace = Trace::default();
    acted(&trace, 10);
    acted(&trace, 500);
    let wanted = ReadTrace { near: Some("450,40".into()), ..Default::default() };
    let found = trace.read(&wanted).entries;
    assert_eq!(found.iter().map(|it| it.id).collect::<Vec<_>>(), [2]);
}

#[test]
fn a_window_is_near_a_point_of_it() {
    let trace = Trace::default();
    let window = |x: i32| helmdeck_display::observe::SeenWindow {
        id: x.unsigned_abs(),
        title: String::new(),
        class: String::new(),
        dialog: false,
        panel: false,
        rect: Rect { x, y: 0, width: 200, height: 100 },
    };
    let windows = vec![window(0), window(600)];
    let after = SeenWindows { windows, ..SeenWindows::default() };
    trace.windows(&SeenWindows::default(), &after, Instant::now());
    let near = |near: &str| {
        let wanted = ReadTrace { near: Some(near.into()), ..Default::default() };
        trace.read(&wanted).entries.into_iter().filter_map(|it| it.window).collect::<Vec<_>>()
    };
    assert_eq!(near("100,50"), ["0"]);
    assert_eq!(near("700,50"), ["600"]);
}

#[tokio::test]
async fn entries_and_pictures_are_limited() {
    let trace = Trace::default();
    for nth in 0..2 * MAX_ENTRIES {
        acted(&trace, nth as i32);
    }
    assert_eq!(trace.shared.kept.lock().entries.len(), MAX_ENTRIES);
    for nth in 0..10 {
        trace.keep(format!("crop-{nth}-after"), vec![0; 1 << 20]);
    }
    assert!(trace.shared.kept.lock().bytes <= MAX_BYTES);
    assert!(trace.picture("crop-0-after").await.is_err());
    assert!(trace.picture("crop-9-after").await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn small_pictures_show_what_changed_and_are_waited_for() {
    let trace = Trace::default();
    let started = trace.begin("click", Value::Null);
    let canvas = |colour| Arc::new(Canvas::from_rgba(400, 300, &vec![colour; 400 * 300 * 4]));
    let regions = vec![Rect { x: 100, y: 100, width: 20, height: 20 }];
    let crops = Crops { before: canvas(0), after: canvas(255), regions, at: None };
    let pictures = started.observed(ActionTrace::default(), Some(crops)).unwrap();
    let before = trace.picture(&pictures.before).await.unwrap();
    assert!(before.starts_with(&[0xff, 0xd8]));
    assert!(trace.picture(&pictures.after).await.is_ok());
    assert!(trace.picture("crop-99-after").await.is_err());
    while !trace.shared.kept.lock().making.is_empty() {
        sleep(Duration::from_millis(5)).await;
    }
    let entry = trace.read(&ReadTrace::default()).entries.remove(0);
    assert_eq!((entry.before, entry.after), (Some(pictures.before), Some(pictures.after)));
}
