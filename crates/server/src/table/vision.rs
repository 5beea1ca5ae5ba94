//! Reaching goals with models.

use helmdeck_vision::Run;
use helmdeck_wire::Scope;
use schemars::JsonSchema as _;

use crate::{
    operation::{Operation, description},
    routes::vision,
    tool::{Nature, tool},
};

/// Description of the flag `stream`.
const STREAM: &str =
    "Stream the run as server-sent events: `step` for each step, and `result` at the end.";

/// Goals on the desktop.
pub fn operations() -> Vec<Operation> {
    vec![
        tool("vision.act", vision::act)
            .prepare(vision::renamed, |generator| generator.subschema_for::<vision::VisionAct>())
            .doc(description(vision::VisionAct::json_schema))
            .scope(Scope::SESSIONS_ACT)
            .nature(Nature::on_desktop())
            .of_session()
            .flag("stream", STREAM, false)
            .returns::<Run>()
            .post("/api/v1/sessions/{id}/vision/act", "vision_act")
            .in_query(&["stream"]),
    ]
}
