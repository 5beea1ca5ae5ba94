//! What the pictures of a run cost, by the formulas of vendors, beside the loop of the reference: that sends the whole
//! screen at each step, and once more before the model says that it is done.

use helmdeck_vision::{Action, Dialect, Goal, Outcome};

use crate::{
    dialects, goal, opaque, reach,
    screen::{HEIGHT, ModelAnswer, Screen, Script, Thing, WIDTH, button, label, script, visible},
};

/// A goal, its screen, and what a model does.
struct Task {
    goal: Goal,
    screen: Screen,
    plan: Vec<Action>,
}

/// Elements with one name, equal names, a drawing, and a menu. In `misses`, the model misses twice at first.
fn tasks(misses: bool) -> Vec<Task> {
    let missed = |at: Action| match misses {
        true => vec![Action::click(700, 500), Action::click(700, 560), at],
        false => vec![at],
    };
    let named = |name| Task {
        goal: goal(&format!("Click {name}")),
        screen: Screen::new(vec![button(name, 100, 100)]),
        plan: vec![Action::click(105, 105)],
    };
    let buy = |y, shows| Thing { shows, ..button("Buy", 400, y) };
    let rows = vec![
        label("Plum", 300, 100),
        buy(100, "plum"),
        label("Apple", 300, 140),
        buy(140, "apple"),
        label("Pear", 300, 180),
        buy(180, "pear"),
    ];
    let menu = vec![
        label("Album", 100, 100),
        Thing { shows: "menu", ..button("Photo", 160, 100) },
        Thing { shows: "menu", ..button("Photo", 160, 140) },
        Thing { shows: "gone", ..button("Remove", 240, 130) },
    ];
    let mut tasks: Vec<_> = ["Save", "Open", "Print", "Undo", "Help"].map(named).into();
    tasks.push(Task {
        goal: Goal { success: visible("apple"), ..goal("Click \"Buy\" in the row \"Apple\"") },
        screen: Screen::new(rows),
        plan: missed(Action::click(405, 145)),
    });
    tasks.push(Task {
        goal: Goal { success: visible("saved"), ..goal("Click \"Go\" in the drawing") },
        screen: opaque(vec![button("", 640, 400)]),
        plan: missed(Action::click(645, 405)),
    });
    tasks.push(Task {
        goal: Goal {
            success: visible("gone"),
            ..goal("Click \"Photo\" in the row \"Album\", then click \"Remove\"")
        },
        screen: Screen::new(menu),
        plan: vec![Action::click(165, 105), Action::click(245, 135)],
    });
    tasks
}

/// Sizes of the pictures of each request.
fn pictures(model: &Script) -> Vec<Vec<(u32, u32)>> {
    let bodies = model.bodies.lock();
    let sizes = |body: &serde_json::Value| {
        let text = body.to_string();
        let size = |rest: &str| {
            let (width, height) = rest.split_once(';').unwrap().0.split_once('x').unwrap();
            (width.parse().unwrap(), height.parse().unwrap())
        };
        text.split("iVBORw0KGgo=").skip(1).map(size).collect()
    };
    bodies.iter().map(sizes).collect()
}

/// Tokens of all pictures of all tasks, and those of the reference's loop.
async fn cost(dialect: Dialect, misses: bool) -> (u64, u64) {
    let tokens = |(width, height)| u64::from(dialect.picture_tokens(width, height));
    let (mut own, mut reference) = (0, 0);
    for Task { goal, screen, plan } in tasks(misses) {
        reference += (plan.len() as u64 + 1) * tokens((WIDTH, HEIGHT));
        let model = script(dialect, move |turn| match plan.get(turn) {
            Some(action) => ModelAnswer::Do(vec![action.clone()]),
            None => ModelAnswer::Done("Done."),
        });
        let run = reach(&goal, &screen, &model, 10).await;
        assert_eq!(run.outcome, Outcome::Completed, "{} {run:?}", dialect.name());
        let pictures = pictures(&model);
        assert!(pictures.iter().all(|request| !request.is_empty()), "{pictures:?}");
        if !matches!(dialect, Dialect::Anthropic { .. }) {
            // Where nothing is cached, one picture is enough.
            assert!(pictures.iter().all(|request| request.len() == 1), "{pictures:?}");
        }
        own += pictures.into_iter().flatten().map(tokens).sum::<u64>();
    }
    (own, reference)
}

#[tokio::test]
async fn pictures_cost_at_most_a_third_of_those_of_the_references_loop() {
    for dialect in dialects() {
        // Vendors that want the whole screen after each step are dearer for models that miss.
        let (own, reference) = cost(dialect, dialect.takes_parts()).await;
        assert!(own * 3 <= reference, "{}: {own} of {reference}", dialect.name());
    }
}

#[tokio::test]
async fn candidates_of_the_tree_come_with_the_part_that_shows_them() {
    let Task { goal, screen, plan } = tasks(true).remove(5);
    let model = script(Dialect::Function, move |turn| ModelAnswer::Do(vec![plan[turn].clone()]));
    reach(&goal, &screen, &model, 3).await;
    let first = model.bodies.lock()[0].to_string();
    assert!(first.contains("This is the part of the screen at "), "{first}");
    assert!(first.contains("<screen>button \\\"Buy\\\" at 412,110; "), "{first}");
    assert!(first.contains("text \\\"Apple\\\" at 312,150"), "{first}");
}

#[tokio::test]
async fn candidates_come_with_each_whole_screen_where_no_parts_are_shown() {
    for dialect in dialects().into_iter().filter(|dialect| !dialect.takes_parts()) {
        let Task { goal, screen, plan } = tasks(true).remove(5);
        let model = script(dialect, move |turn| ModelAnswer::Do(vec![plan[turn].clone()]));
        reach(&goal, &screen, &model, 3).await;
        for (turn, body) in model.bodies.lock().iter().enumerate() {
            let told = body.to_string().matches("Elements with these names: ").count();
            assert_eq!(told, turn + 1, "{}", dialect.name());
        }
    }
}

#[tokio::test]
async fn a_model_that_misses_sees_where_it_clicked_and_then_the_whole_screen_again() {
    let screen = opaque(vec![button("Save", 100, 100)]);
    let model = script(Dialect::Function, |turn| {
        ModelAnswer::Do(vec![Action::click(300 + 40 * turn as i32, 500)])
    });
    reach(&goal("Click \"Save\" in the drawing"), &screen, &model, 6).await;
    let sizes: Vec<_> = pictures(&model).into_iter().map(|request| request[0]).collect();
    let (whole, part) = ((WIDTH, HEIGHT), (384, 288));
    assert_eq!(sizes, [whole, part, part, part, whole, part]);
}
