//! Operations about the ends of sessions: putting one off, and looking back.

use helmdeck_sessions::Scope::SessionsRead;
use helmdeck_wire::session::Session;

use crate::{
    operation::{Access::Needs, Media, Operation, get, post},
    routes::{desktop, ended},
};

/// They are.
pub fn operations() -> Vec<Operation> {
    vec![
        post("/api/v1/sessions/{id}/keep-alive", desktop::ACT, "keep_alive", ended::keep_alive)
            .doc("Put off the idle end of a session, as any other call does.")
            .returns::<Session>(),
        get("/api/v1/sessions/{id}/ended", Needs(SessionsRead), "show_ended", ended::show)
            .doc("A session that has ended, as it was last; also after it is gone.")
            .returns::<Session>(),
        get(
            "/api/v1/sessions/{id}/last-picture",
            desktop::ACT,
            "last_picture",
            ended::last_picture,
        )
        .doc("How a session that has ended looked at its end, where there is a picture.")
        .returns_media(Media::JPEG),
    ]
}
