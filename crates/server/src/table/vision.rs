//! Reaching goals with models.

use helmdeck_vision::Run;
use helmdeck_wire::Scope;
use http::StatusCode;
use schemars::JsonSchema as _;

use crate::{
    operation::{Operation, description},
    routes::vision,
    tool::{Nature, json_tool, tool},
};

/// Description of the flag `stream`.
const STREAM: &str = "Stream the run as server-sent events: `step` for each step, `question` when a person has to \
     decide, and `result` at the end.";

/// Goals on the desktop.
pub fn operations() -> Vec<Operation> {
    vec![
        tool("vision.act", vision::act)
            .prepare(vision::renamed, |generator| generator.subschema_for::<vision::VisionAct>())
            .doc(description(vision::VisionAct::json_schema))
            .scope(Scope::SESSIONS_ACT)
            .nature(Nature::on_desktop().spends_money())
            .of_session()
            .needs_model()
            .flag("stream", STREAM, false)
            .returns::<Run>()
            .post("/api/v1/sessions/{id}/vision/act", "vision_act")
            .in_query(&["stream"]),
        json_tool("vision.start", vision::start)
            .prepare(vision::renamed, |generator| generator.subschema_for::<vision::VisionAct>())
            .doc(
                "Begin a run as `vision.act` does, and return at once. The run continues in the \
                 server: read it with `vision.show`.",
            )
            .scope(Scope::SESSIONS_ACT)
            .nature(Nature::on_desktop().spends_money())
            .of_session()
            .needs_model()
            .post("/api/v1/sessions/{id}/vision/start", "vision_start")
            .status(StatusCode::ACCEPTED),
        json_tool("vision.show", vision::show)
            .doc(
                "Show the current or last run of vision in a session: its state, steps, cost, and \
                 the question that waits for a person.",
            )
            .scope(Scope::SESSIONS_READ)
            .nature(Nature::default().reads())
            .of_session()
            .needs_model()
            .get("/api/v1/sessions/{id}/vision", "vision_show"),
        json_tool("session.set_action_mode", vision::set_action_mode)
            .doc(
                "Choose how people use a session on its page, until a run has another mode. Packs \
                 have `_mode`.",
            )
            .scope(Scope::SESSIONS_ACT)
            .nature(Nature::default().idempotent())
            .of_session()
            .put("/api/v1/sessions/{id}/action-mode", "set_action_mode"),
        json_tool("vision.stop", vision::stop)
            .doc("Stop the run of vision in a session. It ends as `cancelled`, with its steps.")
            .scope(Scope::SESSIONS_ACT)
            .nature(Nature::default().destroys())
            .of_session()
            .needs_model()
            .post("/api/v1/sessions/{id}/vision/stop", "vision_stop")
            .optional_body(),
        json_tool("vision.pause", vision::pause)
            .doc(
                "Pause the run of vision in a session before its next step. Its time-out stands \
                 still meanwhile.",
            )
            .scope(Scope::SESSIONS_ACT)
            .nature(Nature::default().idempotent())
            .of_session()
            .needs_model()
            .post("/api/v1/sessions/{id}/vision/pause", "vision_pause")
            .optional_body(),
        json_tool("vision.resume", vision::resume)
            .doc("Let a paused run of vision continue.")
            .scope(Scope::SESSIONS_ACT)
            .nature(Nature::default().idempotent())
            .of_session()
            .needs_model()
            .post("/api/v1/sessions/{id}/vision/resume", "vision_resume")
            .optional_body(),
        json_tool("vision.answer", vision::answer)
            .doc(
                "Answer the question of a run of vision with `allow` or `deny`. Only people may: \
                 the token of an agent is refused with `person_required`.",
            )
            .scope(Scope::SESSIONS_ACT)
            .of_session()
            .post("/api/v1/sessions/{id}/vision/answer", "vision_answer"),
    ]
}
