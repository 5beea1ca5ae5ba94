//! The loop with scripted models and a scripted screen, which knows what was really done to it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may"
)]

mod honest;
mod pictures;
mod screen;

use std::time::Duration;

use helmdeck_vision::{
    Action, Dialect, Goal, Grid, Outcome, Run, RunLimits, choose,
    dialect::anthropic::Tool,
    eyes::{Failure, ModelFailure},
    run,
};
use helmdeck_wire::observe::Effect;
use screen::{ModelAnswer, Screen, Script, button, script, visible};
use serde_json::json;
use tokio::sync::watch;

fn goal(instruction: &str) -> Goal {
    Goal { instruction: instruction.to_owned(), ..Goal::default() }
}

async fn reach(goal: &Goal, screen: &Screen, model: &Script, max_steps: u32) -> Run {
    let limits = RunLimits { max_steps, ..RunLimits::default() };
    run(goal, screen, model, &limits, &|_| {}).await
}

fn function() -> Dialect {
    Dialect::Function
}

/// A screen whose programs tell nothing before a click.
fn opaque(things: Vec<screen::Thing>) -> Screen {
    Screen { accessible: false, ..Screen::new(things) }
}

fn click(x: i32, y: i32) -> ModelAnswer {
    ModelAnswer::Do(vec![Action::click(x, y)])
}

#[tokio::test]
async fn one_element_with_the_name_needs_no_model() {
    for (instruction, name) in [
        ("Click Save", "Save"),
        ("press New Tab", "New Tab"),
        ("focus the URL bar", "Address and search bar"),
        ("Please click the \"Save\" button.", "Save"),
    ] {
        let screen = Screen::new(vec![button(name, 100, 100), button("Other", 300, 100)]);
        let model = script(function(), |_| ModelAnswer::Done("never asked"));
        let run = reach(&goal(instruction), &screen, &model, 5).await;
        assert_eq!((run.outcome, run.model_calls), (Outcome::Completed, 0), "{run:?}");
        assert!(run.steps[0].without_model && run.model.is_none(), "{run:?}");
        assert!(!run.evidence.is_empty());
        assert_eq!(screen.text(), "saved");
    }
}

#[tokio::test]
async fn a_run_can_leave_every_action_to_the_model() {
    let screen = Screen::new(vec![button("Save", 100, 100), button("Other", 300, 100)]);
    let model = script(function(), |_| click(105, 105));
    let limits = RunLimits { max_steps: 5, model_only: true, ..RunLimits::default() };
    let run = run(&goal("Click Save"), &screen, &model, &limits, &|_| {}).await;
    assert_eq!((run.outcome, run.model_calls), (Outcome::Completed, 1), "{run:?}");
    assert!(!run.steps[0].without_model, "{run:?}");
}

#[tokio::test]
async fn parts_that_name_one_element_each_need_no_model() {
    let screen = Screen::new(vec![button("Menu", 100, 100), button("Export", 300, 100)]);
    let model = script(function(), |_| ModelAnswer::Done("never asked"));
    let run = reach(&goal("Click Menu, then click Export"), &screen, &model, 5).await;
    assert_eq!((run.outcome, run.model_calls), (Outcome::Completed, 0), "{run:?}");
    assert!(run.steps.len() == 2 && run.steps.iter().all(|step| step.without_model), "{run:?}");
    assert_eq!(screen.state.lock().clicks.len(), 2);
}

#[tokio::test]
async fn a_model_continues_where_a_name_is_not_enough_and_is_told_what_was_done() {
    let saves = || vec![button("Save", 100, 100), button("Save", 300, 100)];
    let screen = Screen::new(saves().into_iter().chain([button("Menu", 500, 500)]).collect());
    let model = script(function(), |_| click(305, 105));
    let run = reach(&goal("Click Menu, then click Save"), &screen, &model, 5).await;
    assert_eq!((run.outcome, run.model_calls), (Outcome::Completed, 1), "{run:?}");
    assert!(model.bodies.lock()[0].to_string().contains("Done so far: clicking at 512,510"));
    // Other kinds of clicks are for the model from the beginning.
    for instruction in ["Double-click Menu", "Click Menu, then right-click Menu", "Buy Menu"] {
        let screen = Screen::new(vec![button("Menu", 500, 500)]);
        let run = reach(&goal(instruction), &screen, &model, 1).await;
        assert!(!run.steps[0].without_model, "{run:?}");
    }
}

#[tokio::test]
async fn two_elements_with_the_name_are_for_the_model() {
    let screen = Screen::new(vec![button("Save", 100, 100), button("Save", 300, 100)]);
    let model = script(function(), |_| click(305, 105));
    let run = reach(&goal("Click Save"), &screen, &model, 5).await;
    assert_eq!((run.outcome, run.model_calls), (Outcome::Completed, 1));
    assert_eq!(screen.state.lock().clicks.len(), 1);
}

/// All dialects.
fn dialects() -> Vec<Dialect> {
    let claude = |tool| Dialect::Anthropic { tool, high: false };
    vec![
        claude(Tool::ComputerToolset),
        claude(Tool::BrowserToolset),
        claude(Tool::Computer2025November),
        claude(Tool::Computer2025January),
        Dialect::OpenAi { preview: false },
        Dialect::OpenAi { preview: true },
        Dialect::Gemini { legacy: true },
        Dialect::Gemini { legacy: false },
        Dialect::UiTars(Grid::Pixels),
        Dialect::UiTars(Grid::Thousand),
        Dialect::Qwen(Grid::Thousand),
        Dialect::Function,
        Dialect::JsonText,
    ]
}

#[tokio::test]
async fn every_dialect_reaches_a_goal() {
    for dialect in dialects() {
        let screen = opaque(vec![button("Save", 1000, 600)]);
        let model = script(dialect, |turn| match turn {
            0 => click(400, 300),
            1 => click(1012, 610),
            _ => ModelAnswer::Done("Saved."),
        });
        let goal = Goal { success: visible("saved"), ..goal("Save the file") };
        let run = reach(&goal, &screen, &model, 5).await;
        assert_eq!(run.outcome, Outcome::Completed, "{} {run:?}", dialect.name());
        assert_eq!(run.evidence, ["all[0]: text \"saved\""]);
        assert_eq!(
            run.model_calls,
            2,
            "it ends as soon as the conditions hold: {}",
            dialect.name()
        );
        assert_eq!(run.spent.input_tokens, 200);
    }
}

#[tokio::test]
async fn a_model_that_never_says_done_still_completes() {
    for success in [visible("saved"), Default::default()] {
        let screen = opaque(vec![button("Save", 100, 100)]);
        let model = script(function(), |turn| {
            if turn == 2 { click(105, 105) } else { click(700, 500 + 40 * turn as i32) }
        });
        let goal = Goal { success, ..goal("Click Save") };
        let run = reach(&goal, &screen, &model, 10).await;
        assert_eq!((run.outcome, run.model_calls), (Outcome::Completed, 3), "{run:?}");
    }
}

#[tokio::test]
async fn a_model_that_says_done_too_early_is_told_and_never_believed() {
    let screen = opaque(vec![button("Save", 100, 100)]);
    let model = script(function(), |_| ModelAnswer::Done("I saved it."));
    for success in [visible("saved"), Default::default()] {
        let goal = Goal { success, ..goal("Click Save") };
        let run = reach(&goal, &screen, &model, 10).await;
        assert_eq!((run.outcome, run.completed), (Outcome::Unverified, false), "{run:?}");
        assert_eq!(run.model_calls, 3);
        assert_eq!(run.answer, "I saved it.");
    }
    // After it was told, it may still do it.
    let model =
        script(
            function(),
            |turn| if turn == 1 { click(105, 105) } else { ModelAnswer::Done("Saved.") },
        );
    let run =
        reach(&Goal { success: visible("saved"), ..goal("Save it") }, &screen, &model, 10).await;
    assert_eq!(run.outcome, Outcome::Completed);
}

#[tokio::test]
async fn a_click_on_something_else_is_no_evidence() {
    let screen = opaque(vec![button("Save As", 100, 100), button("Print", 200, 100)]);
    let model =
        script(
            function(),
            |turn| if turn == 0 { click(205, 105) } else { ModelAnswer::Done("Saved.") },
        );
    let run = reach(&goal("Click Save"), &screen, &model, 10).await;
    assert_eq!(run.outcome, Outcome::Unverified);
    let vague =
        script(
            function(),
            |turn| if turn == 0 { click(205, 105) } else { ModelAnswer::Done("Booked.") },
        );
    let run = reach(&goal("Book me a flight"), &screen, &vague, 10).await;
    assert_eq!((run.outcome, run.model_calls), (Outcome::Unverified, 2));
}

#[tokio::test]
async fn every_third_reply_malformed_is_a_bad_step_each() {
    let screen = opaque(vec![button("Save", 100, 100)]);
    let model = script(function(), |turn| match turn {
        0 => ModelAnswer::Raw(
            json!({ "choices": [{ "message": { "content": "{\"action\": \"clack\"}" } }] }),
        ),
        1 => click(700, 500),
        2 => ModelAnswer::Raw(json!({ "choices": [] })),
        3 => ModelAnswer::Fail(ModelFailure::Malformed("no JSON".to_owned())),
        4 => ModelAnswer::Raw(json!({ "choices": [{ "message": { "tool_calls": [{
            "id": "x", "function": { "name": "computer", "arguments": "{broken" } }] } }] })),
        _ => click(105, 105),
    });
    let run = reach(&goal("Click Save"), &screen, &model, 10).await;
    assert_eq!((run.outcome, run.model_calls), (Outcome::Completed, 6), "{run:?}");
    assert_eq!(run.steps.iter().filter(|step| step.problem.is_some()).count(), 4);
    // Every call got its result.
    let bodies = model.bodies.lock();
    let last = bodies.last().unwrap()["messages"].as_array().unwrap().clone();
    let tools = last.iter().filter(|message| message["role"] == "tool").count();
    let calls = last.iter().filter(|message| message.get("tool_calls").is_some()).count();
    assert_eq!((tools, calls), (2, 2));
}

#[tokio::test]
async fn a_failed_action_is_one_bad_step() {
    let screen = opaque(vec![button("Save", 100, 100)]);
    screen.state.lock().failures.push(Failure::Bad("the point is outside".to_owned()));
    let model = script(function(), |_| click(105, 105));
    let run = reach(&goal("Click Save"), &screen, &model, 10).await;
    assert_eq!((run.outcome, run.model_calls), (Outcome::Completed, 2));
    assert_eq!(run.steps[0].problem.as_deref(), Some("the point is outside"));
    assert!(model.bodies.lock()[1].to_string().contains("the point is outside"));
}

#[tokio::test]
async fn a_batch_stops_at_the_first_failure_and_says_so() {
    let screen = opaque(vec![button("Save", 100, 100)]);
    screen.state.lock().failures.push(Failure::Bad("no".to_owned()));
    let dialect = Dialect::OpenAi { preview: false };
    let model = script(dialect, |turn| match turn {
        0 => {
            let action =
                |kind: &str| json!({ "type": kind, "text": "x", "x": 1, "y": 1, "button": "left" });
            let call = json!({
                "type": "computer_call", "call_id": "c", "actions": [action("click"), action("type")],
            });
            ModelAnswer::Raw(json!({ "output": [call] }))
        }
        _ => click(105, 105),
    });
    let run = reach(&goal("Click Save"), &screen, &model, 3).await;
    assert_eq!(run.outcome, Outcome::Completed);
    assert_eq!(screen.state.lock().typed, "", "what followed was not done");
    let told = model.bodies.lock()[1].to_string();
    assert!(told.contains("Action 1 failed") && told.contains("not done"), "{told}");
}

#[tokio::test]
async fn a_click_next_to_the_named_element_hits_it() {
    let screen = Screen::new(vec![
        button("Save", 100, 100),
        button("Save", 900, 100),
        button("Name", 500, 500),
    ]);
    let model = script(function(), |_| click(540, 480));
    let run = reach(&goal("Press Save and click Name"), &screen, &model, 1).await;
    assert_eq!(screen.state.lock().clicks[0].x, 512);
    assert!(run.steps[0].moved_to.is_some());
}

#[tokio::test]
async fn repetition_without_effect_gets_a_hint_and_then_ends() {
    for dialect in dialects() {
        let screen = opaque(vec![button("Save", 100, 100)]);
        let model = script(dialect, |_| click(700, 500));
        let run = reach(&goal("Click Save"), &screen, &model, 30).await;
        assert_eq!((run.outcome, run.model_calls), (Outcome::Stuck, 6));
        let told = |turn: usize| model.bodies.lock()[turn].to_string();
        assert!(told(3).contains("Do something else"), "{}", dialect.name());
        assert!(told(1).contains("The screen did not change."), "{}", dialect.name());
    }
}

#[tokio::test]
async fn every_dialect_tells_what_was_hit_and_what_it_did() {
    for dialect in dialects() {
        let other =
            screen::Thing { effect: Effect::Dialog, shows: "menu", ..button("Menu", 100, 100) };
        let screen = opaque(vec![other, button("Save", 1000, 600)]);
        let model = script(dialect, |turn| match turn {
            0 => click(105, 105),
            _ => click(1012, 610),
        });
        let goal = Goal { success: visible("saved"), ..goal("Save the file") };
        let run = reach(&goal, &screen, &model, 5).await;
        assert_eq!(run.outcome, Outcome::Completed, "{} {run:?}", dialect.name());
        let told = model.bodies.lock()[1].to_string();
        assert!(told.contains("It hit <screen>button"), "{} {told}", dialect.name());
        assert!(told.contains("Effect: dialog."), "{} {told}", dialect.name());
    }
}

#[tokio::test]
async fn the_steps_and_budgets_of_a_run_are_limits() {
    let screen = opaque(vec![]);
    let wander = || script(function(), |turn| click(10 + 60 * turn as i32, 500));
    let run = reach(&goal("Click Save"), &screen, &wander(), 4).await;
    assert_eq!((run.outcome, run.steps.len()), (Outcome::MaxSteps, 4));
    let fails =
        |failure: ModelFailure| script(function(), move |_| ModelAnswer::Fail(failure.clone()));
    let budget = fails(ModelFailure::Budget("used up".to_owned()));
    assert_eq!(reach(&goal("Click Save"), &screen, &budget, 4).await.outcome, Outcome::Budget);
    let provider = fails(ModelFailure::Provider("503".to_owned()));
    let run = reach(&goal("Click Save"), &screen, &provider, 4).await;
    assert_eq!((run.outcome, run.reason.as_str()), (Outcome::ProviderError, "503"));
}

#[tokio::test]
async fn a_person_who_takes_control_ends_the_run_and_its_trace_stays() {
    let screen = opaque(vec![]);
    let taken = Failure::ControlTaken("ann took control".to_owned());
    screen.state.lock().failures.push(taken);
    let model = script(function(), |_| click(5, 5));
    let run = reach(&goal("Click Save"), &screen, &model, 4).await;
    assert_eq!((run.outcome, run.steps.len()), (Outcome::ControlTaken, 1));
    screen.state.lock().failures.push(Failure::Denied("no scope".to_owned()));
    assert_eq!(reach(&goal("Click Save"), &screen, &model, 4).await.outcome, Outcome::Denied);
}

#[tokio::test]
async fn a_run_can_be_stopped() {
    let screen = opaque(vec![]);
    let (stop, stopped) = watch::channel(false);
    let model = script(function(), move |turn| {
        if turn == 2 {
            stop.send_replace(true);
        }
        click(10 + 60 * turn as i32, 500)
    });
    let limits = RunLimits { stop: Some(stopped), ..RunLimits::default() };
    let run = run(&goal("Click Save"), &screen, &model, &limits, &|_| {}).await;
    assert_eq!(run.outcome, Outcome::Cancelled);
    assert!(run.steps.len() <= 4 && run.final_shot.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_run_has_a_longest_time() {
    struct Slow(Script);
    impl helmdeck_vision::eyes::Model for Slow {
        fn id(&self) -> &str {
            "slow/model"
        }
        fn dialect(&self) -> Dialect {
            self.0.dialect
        }
        fn ask(
            &self,
            _: serde_json::Value,
        ) -> futures_util::future::BoxFuture<'_, Result<helmdeck_vision::eyes::Reply, ModelFailure>>
        {
            Box::pin(futures_util::future::pending())
        }
    }
    let model = Slow(script(function(), |_| ModelAnswer::Done("")));
    let limits = RunLimits { time: Duration::from_secs(60), ..RunLimits::default() };
    let screen = opaque(vec![]);
    let run = run(&goal("Click Save"), &screen, &model, &limits, &|_| {}).await;
    assert_eq!(run.outcome, Outcome::Budget);
    assert!(screen.state.lock().limits >= 4, "the limit of sites is renewed while a model thinks");
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_run_does_not_pass_while_it_is_paused_or_waits_for_a_person() {
    let waits = Duration::from_secs(100);
    let screen = Screen { waits, decision: Some(true), ..opaque(vec![button("Save", 100, 100)]) };
    let model = script(function(), |turn| match turn {
        0 => ModelAnswer::Do(vec![Action::Navigate { url: "https://pay.test/".to_owned() }]),
        _ => click(105, 105),
    });
    let limits = RunLimits { time: Duration::from_secs(60), ..RunLimits::default() };
    let run = run(&goal("Click Save"), &screen, &model, &limits, &|_| {}).await;
    assert_eq!((run.outcome, run.model_calls), (Outcome::Completed, 2), "{run:?}");
}

#[tokio::test]
async fn a_step_that_a_person_allows_is_told_once() {
    let screen = Screen { decision: Some(true), ..opaque(vec![]) };
    let model = script(function(), |turn| match turn {
        0 => ModelAnswer::Do(vec![Action::Navigate { url: "https://pay.test/".to_owned() }]),
        _ => ModelAnswer::Done("Paid."),
    });
    let seen = parking_lot::Mutex::new(Vec::new());
    let limits = RunLimits { max_steps: 2, ..RunLimits::default() };
    let watcher = |step: &helmdeck_vision::Step| seen.lock().push(step.clone());
    let run = run(&goal("Pay the bill"), &screen, &model, &limits, &watcher).await;
    assert_eq!(*seen.lock(), run.steps);
    assert!(run.steps[0].problem.is_none(), "{run:?}");
}

#[tokio::test]
async fn a_download_that_begins_between_steps_or_while_a_model_thinks_is_questioned() {
    for after in 1..5 {
        let says: [fn() -> ModelAnswer; 2] =
            [|| click(700, 500), || ModelAnswer::Done("I closed it.")];
        for say in says {
            let screen = opaque(vec![button("Close", 100, 100)]);
            screen.state.lock().download_after = Some(after);
            let model = script(function(), move |_| say());
            let run = reach(&goal("Click Close"), &screen, &model, 5).await;
            assert_eq!(run.outcome, Outcome::NeedsConfirmation, "{after} {run:?}");
            assert!(run.question.unwrap().contains("a download began"));

            let wanted = opaque(vec![button("Save", 100, 100)]);
            wanted.state.lock().download_after = Some(after);
            let model = script(function(), |_| click(105, 105));
            let run = reach(&goal("Click Save to download it"), &wanted, &model, 5).await;
            assert_ne!(run.outcome, Outcome::NeedsConfirmation, "{after} {run:?}");
        }
    }
}

#[tokio::test]
async fn a_page_that_moves_while_a_model_thinks_is_noticed() {
    for moves in [
        ["https://evil.test/", "https://shop.test/"].as_slice(),
        &["https://evil.test/", "https://shop.test/", "https://shop.test/"],
    ] {
        let screen = opaque(vec![button("Save", 100, 100)]);
        screen.state.lock().moves = moves.to_vec();
        let model = script(function(), |_| ModelAnswer::Done("I saved it."));
        let run = reach(&goal("Book it"), &screen, &model, 5).await;
        assert_eq!(run.outcome, Outcome::NeedsConfirmation, "{run:?}");
        assert_eq!(run.model_calls as usize, moves.len() - 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_sites_cannot_be_limited_ends_before_it_acts() {
    let screen = Screen::new(vec![button("Save", 100, 100)]);
    screen.state.lock().cannot_limit = true;
    let model = script(function(), |_| click(105, 105));
    let run = reach(&goal("Click Save"), &screen, &model, 5).await;
    assert_eq!(run.outcome, Outcome::Cancelled, "{run:?}");
    assert!(run.reason.contains("cannot be limited: no answer"), "{}", run.reason);
    assert_eq!((run.model_calls, screen.state.lock().clicks.len()), (0, 0));
}

#[tokio::test]
async fn a_page_cannot_lead_a_run_elsewhere() {
    // The model obeys whatever the page says.
    let obeys: [fn() -> ModelAnswer; 3] = [
        || ModelAnswer::Do(vec![Action::Navigate { url: "https://evil.test/".to_owned() }]),
        || ModelAnswer::Do(vec![Action::Type { text: "https://evil.test/?card=1".to_owned() }]),
        || click(505, 505),
    ];
    for obey in obeys {
        let lure = screen::Thing {
            effect: Effect::Navigated,
            opens: Some("https://evil.test/"),
            ..button("You won", 500, 500)
        };
        let screen = opaque(vec![lure.clone(), button("Save", 100, 100)]);
        let model = script(function(), move |_| obey());
        let run = reach(&goal("Click Save"), &screen, &model, 5).await;
        assert_eq!(run.outcome, Outcome::NeedsConfirmation, "{run:?}");
        assert!(run.question.unwrap().contains("evil.test"));
        assert_eq!(screen.state.lock().typed, "", "nothing was typed");
        assert_eq!(screen.state.lock().url, "https://shop.test/", "nothing was opened");
        assert!(screen.state.lock().sites.is_none(), "the limit ended with the run");

        let refused = Screen { decision: Some(false), ..opaque(vec![lure]) };
        let model = script(function(), move |_| obey());
        assert_eq!(reach(&goal("Click Save"), &refused, &model, 5).await.outcome, Outcome::Denied);
    }
}

#[tokio::test]
async fn a_site_that_a_person_allows_is_opened_at_the_next_try() {
    let link = screen::Thing {
        effect: Effect::Navigated,
        opens: Some("https://pay.test/"),
        shows: "paid",
        ..button("Pay", 500, 500)
    };
    let screen = Screen { decision: Some(true), ..opaque(vec![link]) };
    let model = script(function(), |_| click(505, 505));
    let run =
        reach(&Goal { success: visible("paid"), ..goal("Pay the bill") }, &screen, &model, 5).await;
    assert_eq!(run.outcome, Outcome::Completed, "{run:?}");
    assert_eq!(screen.state.lock().url, "https://pay.test/");
    let told = model.bodies.lock()[1].to_string();
    assert!(told.contains("A person has allowed it now: try again."), "{told}");
}

#[tokio::test]
async fn what_the_instruction_names_is_within_the_scope() {
    let screen = opaque(vec![]);
    let go = || ModelAnswer::Do(vec![Action::Navigate { url: "https://news.test/a".to_owned() }]);
    let model =
        script(function(), move |turn| if turn == 0 { go() } else { ModelAnswer::Done("There.") });
    let run = reach(&goal("Go to news.test and tell me what is new"), &screen, &model, 5).await;
    assert_ne!(run.outcome, Outcome::NeedsConfirmation);
}

#[tokio::test]
async fn safety_checks_go_to_a_person() {
    let dialect = Dialect::OpenAi { preview: true };
    let checked = |turn: usize| match turn {
        0 => {
            let check = json!({ "id": "s1", "code": "sensitive_domain", "message": "A bank." });
            let click = json!({ "type": "click", "button": "left", "x": 105, "y": 105 });
            let call = json!({
                "type": "computer_call", "call_id": "c", "action": click, "pending_safety_checks": [check],
            });
            ModelAnswer::Raw(json!({ "output": [call] }))
        }
        _ => ModelAnswer::Done("Done."),
    };
    let things = || vec![button("Pay", 100, 100)];
    let run = reach(&goal("Click Send"), &opaque(things()), &script(dialect, checked), 5).await;
    assert_eq!(
        (run.outcome, run.question.as_deref()),
        (Outcome::NeedsConfirmation, Some("A bank."))
    );
    let agreed = Screen { decision: Some(true), ..opaque(things()) };
    let model = script(dialect, checked);
    reach(&goal("Click Send"), &agreed, &model, 2).await;
    let told = model.bodies.lock()[1].to_string();
    assert!(
        told.contains("acknowledged_safety_checks\":[{\"code\":\"sensitive_domain\""),
        "{told}"
    );
    assert_eq!(agreed.text(), "saved");
}

#[tokio::test]
async fn each_call_gets_the_acknowledgements_of_its_own_safety_checks() {
    let dialect = Dialect::OpenAi { preview: false };
    let model = script(dialect, |turn| match turn {
        0 => {
            let call = |id: &str| {
                let check =
                    json!({ "id": format!("check-{id}"), "code": "x", "message": "A bank." });
                let click = json!({ "type": "click", "button": "left", "x": 105, "y": 105 });
                json!({
                    "type": "computer_call", "call_id": id, "actions": [click],
                    "pending_safety_checks": [check],
                })
            };
            ModelAnswer::Raw(json!({ "output": [call("one"), call("two")] }))
        }
        _ => ModelAnswer::Done("Done."),
    });
    let screen = Screen { decision: Some(true), ..opaque(vec![button("Pay", 100, 100)]) };
    reach(&goal("Book it"), &screen, &model, 2).await;
    let bodies = model.bodies.lock();
    let items = bodies[1]["input"].as_array().unwrap();
    let outputs: Vec<_> =
        items.iter().filter(|item| item["type"] == "computer_call_output").collect();
    assert_eq!(outputs.len(), 2);
    for output in outputs {
        let own = format!("check-{}", output["call_id"].as_str().unwrap());
        let acknowledged = output["acknowledged_safety_checks"].as_array().unwrap();
        assert_eq!(acknowledged.len(), 1, "{output}");
        assert_eq!(acknowledged[0]["id"], own);
    }
}

#[tokio::test]
async fn a_model_can_ask_for_a_person() {
    let ask = || ModelAnswer::Do(vec![Action::AskUser { text: "Which account?".to_owned() }]);
    let model = script(function(), move |_| ask());
    let run = reach(&goal("Log in"), &opaque(vec![]), &model, 5).await;
    assert_eq!(
        (run.outcome, run.question.as_deref()),
        (Outcome::NeedsConfirmation, Some("Which account?"))
    );
}

#[tokio::test]
async fn people_see_each_step_and_watchers_get_it() {
    let screen = opaque(vec![button("Save", 100, 100)]);
    let model =
        script(function(), |turn| if turn == 0 { click(700, 500) } else { click(105, 105) });
    let seen = parking_lot::Mutex::new(Vec::new());
    let limits = RunLimits { max_steps: 10, ..RunLimits::default() };
    let run =
        run(&goal("Click Save"), &screen, &model, &limits, &|step| seen.lock().push(step.clone()))
            .await;
    assert_eq!(*seen.lock(), run.steps);
    let statuses = screen.state.lock().statuses.clone();
    assert!(
        statuses.contains(&"test/model · step 1/10 · clicking at 700,500".to_owned()),
        "{statuses:?}"
    );
    assert_eq!(statuses.last().map(String::as_str), Some(""), "it is cleared at the end");
    let step = &run.steps[1];
    assert_eq!((step.step, step.said.as_str()), (2, "I see it."));
    assert_eq!(step.hit.as_ref().map(|hit| hit.name.as_str()), Some("Save"));
    assert_eq!(
        (step.effect, step.spent.map(|it| it.input_tokens)),
        (Some(Effect::Confirmed), Some(100))
    );
}

#[tokio::test]
async fn pictures_do_not_pile_up_in_a_long_run() {
    let screen = opaque(vec![]);
    let dialect = choose("openai", "gpt-5.4", true);
    let model = script(dialect, |turn| {
        ModelAnswer::Do(vec![Action::click(10 + 40 * (turn as i32 % 30), 100 + turn as i32 * 10)])
    });
    let run = reach(&goal("Click Save"), &screen, &model, 11).await;
    assert_eq!(run.outcome, Outcome::MaxSteps);
    let last = model.bodies.lock().last().unwrap().to_string();
    assert_eq!(last.matches("iVBORw0KGgo=").count(), 1);
}
