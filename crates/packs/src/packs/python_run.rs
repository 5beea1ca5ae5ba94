//! `python.run`: runs Python code in a session.

use helmdeck_wire::{nature::Nature, session::Mode};

use crate::{
    Context, Pack, PackResult, Routing, SessionNeed,
    script::{Input, Language, Output, run_script},
};

const PYTHON: Language = Language { program: "python3", inline: "-c" };

/// The pack.
pub fn pack() -> Pack {
    Pack::new("python.run", run)
        .doc(
            "Run Python in a session and wait for it: `code`, or a `command` such as [\"pytest\", \"-q\"]. \
             A non-zero exit code is a result, not an error.",
        )
        .nature(Nature { open_world: true, ..Nature::default().in_sandbox() })
        .session(SessionNeed::OneShot(Mode::Headless))
        .programs(&["python3"])
        .timeout_s(3700)
        .example(
            "Run Python",
            serde_json::json!({ "code": "print(6 * 7)" }),
        )
        .routing(Routing {
            accepts: &["code"],
            produces: &["text"],
            intent_keywords: &["python", "script", "calculate", "data", "run"],
            typical_use: "Calculate something, or run a project's Python programs.",
            limitations: &["A new session each time, unless `_session_id` or `workspace` is given."],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Output> {
    run_script(&context, &PYTHON, input).await
}
