//! A run never says that something is done because something similar was done.

use helmdeck_vision::{Action, Outcome, Place};
use helmdeck_wire::{observe::Effect, point::Pixel, pointer::Button};

use crate::{
    click, function, goal, opaque, reach,
    screen::{ModelAnswer, Screen, Thing, button, checkbox, label, script},
};

#[tokio::test]
async fn a_condition_after_a_quoted_name_is_for_the_model() {
    for instruction in ["Click \"Pay\" if the total is below 10", "Click \"Pay\" twice"] {
        let screen = Screen::new(vec![button("Pay", 100, 100), label("Total: 20", 100, 50)]);
        let model = script(function(), |_| ModelAnswer::Done("The total is 20."));
        let run = reach(&goal(instruction), &screen, &model, 5).await;
        assert_eq!(run.outcome, Outcome::Unverified, "{run:?}");
        assert!(screen.state.lock().clicks.is_empty(), "{run:?}");
    }
}

#[tokio::test]
async fn the_only_button_in_view_is_not_the_one_of_another_row() {
    let hidden = Thing { off_screen: true, ..button("Delete", 100, 100) };
    for instruction in ["Click \"Delete\" in the row \"Bob\"", "Click Delete"] {
        let screen = Screen::new(vec![button("Delete", 100, 100), hidden.clone()]);
        let model = script(function(), |_| ModelAnswer::Done("Deleted."));
        let run = reach(&goal(instruction), &screen, &model, 5).await;
        assert_eq!(run.outcome, Outcome::Unverified, "{run:?}");
        assert!(screen.state.lock().clicks.is_empty(), "{run:?}");
    }
    // A click on any of them is no evidence for one row.
    let screen = Screen::new(vec![button("Delete", 100, 100), button("Delete", 100, 200)]);
    let model = script(function(), |turn| match turn {
        0 => click(105, 105),
        _ => ModelAnswer::Done("Deleted."),
    });
    let run = reach(&goal("Click \"Delete\" in the row \"Bob\""), &screen, &model, 5).await;
    assert_eq!(run.outcome, Outcome::Unverified, "{run:?}");
}

#[tokio::test]
async fn a_box_is_read_again_and_left_alone_if_it_is_as_wanted() {
    for (instruction, checked, clicks) in [
        ("Check Newsletter", false, 1),
        ("Check Newsletter", true, 0),
        ("Uncheck Newsletter", true, 1),
        ("Uncheck Newsletter", false, 0),
    ] {
        let screen = Screen::new(vec![checkbox("Newsletter", checked, 100, 100)]);
        let model = script(function(), |_| ModelAnswer::Done("never asked"));
        let run = reach(&goal(instruction), &screen, &model, 5).await;
        assert_eq!((run.outcome, run.model_calls), (Outcome::Completed, 0), "{run:?}");
        assert_eq!(screen.state.lock().clicks.len(), clicks, "{instruction} {checked}");
    }
}

#[tokio::test]
async fn a_model_that_checks_a_box_which_shall_be_unchecked_is_not_believed() {
    let things = || vec![checkbox("Newsletter", false, 100, 100)];
    let model = || {
        script(function(), |turn| match turn {
            0 => click(105, 105),
            _ => ModelAnswer::Done("Unchecked."),
        })
    };
    let goal = goal("Uncheck Newsletter, then press F2");
    for screen in [Screen::new(things()), opaque(things())] {
        let run = reach(&goal, &screen, &model(), 6).await;
        assert_eq!(run.outcome, Outcome::Unverified, "{run:?}");
    }
}

#[tokio::test]
async fn one_click_is_no_double_click_and_no_right_click() {
    let at = || Some(Place::At(Pixel { x: 105, y: 105 }));
    for (instruction, right) in [
        ("Double-click File", Action::clicks(at(), Button::Left, 2)),
        ("Right-click File", Action::clicks(at(), Button::Right, 1)),
    ] {
        let screen = opaque(vec![button("File", 100, 100)]);
        let model = script(function(), |turn| match turn {
            0 => click(105, 105),
            _ => ModelAnswer::Done("Opened."),
        });
        let run = reach(&goal(instruction), &screen, &model, 6).await;
        assert_eq!(run.outcome, Outcome::Unverified, "{instruction} {run:?}");
        let model = script(function(), move |_| ModelAnswer::Do(vec![right.clone()]));
        let run = reach(&goal(instruction), &screen, &model, 6).await;
        assert_eq!(run.outcome, Outcome::Completed, "{instruction} {run:?}");
    }
}

#[tokio::test]
async fn a_window_that_closed_is_not_the_one_that_is_named() {
    for instruction in ["Close the calculator", "Close the window"] {
        // The screen shows the same window as before.
        let thing = Thing { effect: Effect::WindowClosed, ..button("Close", 100, 100) };
        let screen = opaque(vec![thing]);
        let model = script(function(), |turn| match turn {
            0 => click(105, 105),
            _ => ModelAnswer::Done("Closed."),
        });
        let run = reach(&goal(instruction), &screen, &model, 6).await;
        assert_eq!(run.outcome, Outcome::Unverified, "{instruction} {run:?}");
    }
}

#[tokio::test]
async fn a_click_on_another_element_is_not_moved_onto_the_named_one() {
    let two = || {
        let twin = [button("Save", 100, 100), button("Save", 900, 100)];
        twin.into_iter().chain([button("Name", 500, 500), button("Accept cookies", 530, 500)])
    };
    for (at, hit) in [((545, 505), "Accept cookies"), ((512, 540), "Name")] {
        let screen = Screen::new(two().collect());
        let model = script(function(), move |_| click(at.0, at.1));
        let run = reach(&goal("Press Save and click Name"), &screen, &model, 1).await;
        let step = &run.steps[0];
        assert_eq!(step.hit.as_ref().map(|hit| hit.name.as_str()), Some(hit), "{run:?}");
        assert_eq!(step.moved_to.is_some(), hit == "Name");
    }
}

#[tokio::test(start_paused = true)]
async fn a_screen_that_cannot_be_read_for_a_while_is_one_bad_step() {
    let screen = opaque(vec![button("Save", 100, 100)]);
    let model =
        script(function(), |turn| if turn == 0 { click(700, 500) } else { click(105, 105) });
    // It is readable at the beginning.
    let seen = std::sync::atomic::AtomicBool::new(false);
    let watcher = |_: &helmdeck_vision::Step| {
        if !seen.swap(true, std::sync::atomic::Ordering::Relaxed) {
            screen.state.lock().unreadable = 4;
        }
    };
    let limits = helmdeck_vision::RunLimits { max_steps: 6, ..Default::default() };
    let run = helmdeck_vision::run(&goal("Click Save"), &screen, &model, &limits, &watcher).await;
    assert_eq!(run.outcome, Outcome::Completed, "{run:?}");
    let bad: Vec<_> = run.steps.iter().filter_map(|step| step.problem.as_deref()).collect();
    assert_eq!(bad, ["the screen could not be read: no picture"], "{run:?}");
    let told = model.bodies.lock()[1].to_string();
    assert!(told.contains("The screen could not be read after your last step"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn a_screen_that_stays_unreadable_is_not_called_repetition() {
    let screen = opaque(vec![button("Save", 100, 100)]);
    let model = script(function(), |_| click(700, 500));
    let watcher = |_: &helmdeck_vision::Step| screen.state.lock().unreadable = 1000;
    let limits = helmdeck_vision::RunLimits::default();
    let run = helmdeck_vision::run(&goal("Click Save"), &screen, &model, &limits, &watcher).await;
    assert_eq!(run.outcome, Outcome::Cancelled, "{run:?}");
    assert_eq!(run.reason, "the screen could not be read: no picture");
    assert!(run.steps.len() >= 3, "{run:?}");
}
