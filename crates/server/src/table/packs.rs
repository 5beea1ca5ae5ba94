//! Packs and jobs.

use helmdeck_wire::{Scope, job::Job};

use crate::{
    operation::{Access, Operation, get, post},
    routes::{jobs, packs, webhooks},
    tool::{Nature, json_tool, tool},
};

/// Packs, jobs, and the deliveries of their results.
pub fn operations() -> Vec<Operation> {
    packs().into_iter().chain(jobs()).chain(deliveries()).collect()
}

fn packs() -> Vec<Operation> {
    let plain = Nature::default();
    let act = Access::Needs(Scope::SESSIONS_ACT);
    vec![
        json_tool("pack.list", packs::list_packs)
            .doc(
                "List the packs: typed tools that run as jobs. `search` finds them by what they do. \
                 Schemas are in `GET /api/v1/packs/{name}`.",
            )
            .scope(Scope::SESSIONS_READ)
            .nature(plain.reads())
            .get("/api/v1/packs", "list_packs"),
        json_tool("pack.show", packs::show_pack)
            .doc("Show a pack, with the schemas of its input and output.")
            .scope(Scope::SESSIONS_READ)
            .nature(plain.reads())
            .get("/api/v1/packs/{name}", "show_pack"),
        post("/api/v1/packs/{name}", act, "run_pack", packs::run_pack)
            .doc(RUN)
            .returns::<Job>()
            .may_go_on(),
        get("/api/v1/packs/{name}/{version}", act, "show_pack_version", packs::show_version)
            .doc("Show a version of a pack, such as `v1`.")
            .returns::<packs::PackInfo>(),
        post("/api/v1/packs/{name}/{version}", act, "run_pack_version", packs::run_version)
            .doc("Run a version of a pack, such as `v1`. The same as without a version otherwise.")
            .returns::<Job>()
            .may_go_on(),
    ]
}

fn jobs() -> Vec<Operation> {
    let plain = Nature::default();
    vec![
        json_tool("job.list", jobs::list)
            .doc("List jobs, newest first, without their outputs. Results are kept for 24 hours.")
            .scope(Scope::SESSIONS_READ)
            .nature(plain.reads())
            .get("/api/v1/jobs", "list_jobs"),
        json_tool("job.show", jobs::show)
            .doc(
                "Show a job: its state, progress, and its output or error once it has ended. `wait_s` \
                 waits for its end.",
            )
            .scope(Scope::SESSIONS_READ)
            .nature(plain.reads())
            .get("/api/v1/jobs/{job_id}", "show_job"),
        json_tool("job.cancel", jobs::cancel)
            .doc(
                "Cancel a job, with all programs that it runs. Returns when nothing of it runs. Has no \
                 effect on a job that has ended.",
            )
            .scope(Scope::SESSIONS_ACT)
            .nature(plain.destroys())
            .delete("/api/v1/jobs/{job_id}", "cancel_job"),
        tool("job.rerun", jobs::rerun)
            .doc(
                "Run a job's pack again with the same input, which is checked again. Answers 202 with the \
                 new job.",
            )
            .scope(Scope::SESSIONS_ACT)
            .nature(plain)
            .returns::<Job>()
            .post("/api/v1/jobs/{job_id}/rerun", "rerun_job")
            .may_go_on(),
        get("/api/v1/jobs/{job_id}/input", Access::Needs(Scope::SESSIONS_READ), "job_input", jobs::input)
            .doc("Show what a job was called with, to run it again with a change.")
            .returns::<jobs::JobInput>(),
        get("/api/v1/jobs/{job_id}/events", Access::Needs(Scope::SESSIONS_READ), "job_events", jobs::events)
            .doc(
                "Follow a job as server-sent events: a `job` event for every change, the last one with \
                 its output or error.",
            )
            .returns_text("text/event-stream"),
    ]
}

fn deliveries() -> Vec<Operation> {
    let plain = Nature::default();
    vec![
        json_tool("webhook.list", webhooks::list)
            .doc(
                "List deliveries of webhooks, newest first: of each call with a `webhook_url`, whether \
                 its result was delivered. `state=dead` lists those that were given up.",
            )
            .scope(Scope::SESSIONS_READ)
            .nature(plain.reads())
            .get("/api/v1/webhooks/deliveries", "list_deliveries"),
        json_tool("webhook.replay", webhooks::replay)
            .doc(
                "Send a delivery again, whether it was delivered or given up. The receiver gets the \
                 same `webhook-id`.",
            )
            .scope(Scope::SESSIONS_ACT)
            .nature(Nature { open_world: true, ..plain })
            .post("/api/v1/webhooks/deliveries/{id}/replay", "replay_delivery"),
    ]
}

const RUN: &str = "Run a pack. The body is its input; `GET /api/v1/packs/{name}` has the schema.\n\n\
    Answers 200 with the job and its output, or 202 with the job if it takes longer than 45 seconds, or \
    `wait_s`: `GET /api/v1/jobs/{job_id}` returns the output later. A client that disconnects before \
    cancels the job. Every pack takes `wait_s`, `idempotency_key`, `webhook_url` and `webhook_secret`, and \
    packs that work in a session take `_session_id` or `workspace`.";
