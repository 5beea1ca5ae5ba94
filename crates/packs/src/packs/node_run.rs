//! `node.run`: runs JavaScript in a session.

use helmdeck_wire::{nature::Nature, session::Mode};

use crate::{
    Context, Pack, PackResult, Routing, SessionNeed,
    script::{Input, Language, Output, run_script},
};

const NODE: Language = Language { program: "node", inline: "-e" };

/// The pack.
pub fn pack() -> Pack {
    Pack::new("node.run", run)
        .doc(
            "Run JavaScript with Node.js in a session and wait for it: `code`, or a `command` such as \
             [\"npm\", \"test\"]. A non-zero exit code is a result, not an error.",
        )
        .nature(Nature { open_world: true, ..Nature::default().in_sandbox() })
        .session(SessionNeed::OneShot(Mode::Headless))
        .programs(&["node"])
        .timeout_s(3700)
        .example(
            "Run JavaScript",
            serde_json::json!({ "code": "console.log(6 * 7)" }),
        )
        .routing(Routing {
            accepts: &["code"],
            produces: &["text"],
            intent_keywords: &["node", "javascript", "npm", "script", "run"],
            typical_use: "Run JavaScript, or a project's npm scripts.",
            limitations: &["A new session each time, unless `_session_id` or `workspace` is given."],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Output> {
    run_script(&context, &NODE, input).await
}
