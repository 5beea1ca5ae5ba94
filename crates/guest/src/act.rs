//! Actions: each arrives as its wire type and leaves as its reply.

use helmdeck_display::Display;
use helmdeck_wire::{
    ErrorBody, ErrorCode,
    process::{Launch, Launched},
    status::{Wait, Waited},
};

use crate::{
    begin::{Guest, Session},
    error::GuestError,
    nest::{SpawnError, Start},
};

impl Guest {
    /// The session's screen.
    pub fn display(&self) -> Result<Display, GuestError> {
        let no_screen = || ErrorBody::new(ErrorCode::NotDesktopMode, "the session has no desktop");
        self.session()?.display.ok_or_else(|| GuestError::Refused(no_screen()))
    }
}

/// Starts the agent's program.
pub async fn launch(session: &Session, launch: Launch) -> Result<Launched, GuestError> {
    let Launch { command, args } = launch;
    let env: Vec<_> = session.agent_env.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    let start = Start { program: &command, args, env: &env, ..Start::default() };
    match session.nest.spawn(start).await {
        Ok(spawned) => Ok(Launched { ok: true, command, pid: spawned.pid }),
        Err(SpawnError::NestGone) => Err(GuestError::NestGone),
        Err(SpawnError::Io(error)) => {
            let body = match error.kind() {
                std::io::ErrorKind::NotFound => ErrorBody::new(
                    ErrorCode::CommandNotFound,
                    format!("{command:?} does not exist in the session: check the name or path"),
                ),
                _ => ErrorBody::new(
                    ErrorCode::CommandFailed,
                    format!("{command:?} cannot be started: {error}"),
                ),
            };
            Err(GuestError::Refused(body))
        }
    }
}

/// Lets time pass.
pub async fn wait(wait: Wait) -> Waited {
    tokio::time::sleep(wait.seconds.duration()).await;
    Waited { ok: true, seconds: wait.seconds }
}
