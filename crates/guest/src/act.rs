//! Actions: each takes its wire type and returns its reply.

use std::sync::Arc;

use helmdeck_cdp::Current;
use helmdeck_display::Display;
use helmdeck_wire::{
    ErrorBody, ErrorCode,
    process::{Launch, Launched},
    status::{Wait, Waited},
};

use crate::{
    attached,
    begin::{Guest, Session},
    error::GuestError,
    handover,
    nest::{SpawnError, Start},
    rfb::Passwords,
};

impl Guest {
    /// The session's screen.
    pub fn display(&self) -> Result<Display, GuestError> {
        self.screen()?.ok_or_else(no_screen)
    }

    /// The same; `None` if the session has no screen.
    pub fn screen(&self) -> Result<Option<Display>, GuestError> {
        match self.attached() {
            Some(attached) => Ok(attached.display),
            None => Ok(self.session()?.display),
        }
    }

    /// The passwords of the screen's RFB server.
    pub fn passwords(&self) -> Result<Passwords, GuestError> {
        match self.attached() {
            Some(attached) => attached.passwords(),
            None => self.session()?.passwords.ok_or_else(no_screen),
        }
    }

    /// The structured browser.
    pub fn browser(&self) -> Result<helmdeck_browser::Browser, GuestError> {
        match self.attached() {
            Some(attached) => Ok(attached.browser()?.structured),
            None => Ok(self.session()?.browser),
        }
    }

    /// The browser's debugging protocol.
    pub fn cdp(&self) -> Result<Arc<Current>, GuestError> {
        match self.attached() {
            Some(attached) => Ok(attached.browser()?.current),
            None => Ok(self.session()?.cdp),
        }
    }

    /// Makes the file at this address visible to the session's browser, if it is in the home.
    pub fn hand_over_page(&self, url: Option<&str>) -> Result<(), GuestError> {
        match url {
            Some(url) if self.attached().is_none() => handover::page(url),
            _ => Ok(()),
        }
    }

    /// Fails for an attached session, whose programs, files and screen size we do not manage.
    pub fn ensure_own(&self) -> Result<(), GuestError> {
        if self.attached().is_some() { Err(attached::refusal()) } else { Ok(()) }
    }
}

pub fn no_screen() -> GuestError {
    let message = "the session has no desktop";
    GuestError::Refused(ErrorBody::new(ErrorCode::NotDesktopMode, message))
}

/// Starts a program of the agent.
pub async fn launch(session: &Session, launch: Launch) -> Result<Launched, GuestError> {
    let Launch { command, args } = launch;
    let env: Vec<_> = session.agent_env.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    let start = Start { program: &command, args, env: &env, ..Start::default() };
    match session.nest.spawn(start).await {
        Ok(spawned) => Ok(Launched { ok: true, command, pid: spawned.pid }),
        Err(SpawnError::NestGone) => Err(GuestError::NestGone),
        Err(SpawnError::Io(error) | SpawnError::Cwd(error)) => {
            let body = match error.kind() {
                std::io::ErrorKind::NotFound => {
                    // The command is not parsed by a shell, so a name with spaces is probably a
                    // command line.
                    let spaced = command.contains(' ');
                    let hint = if spaced { "; arguments go in `args`" } else { "" };
                    ErrorBody::new(
                        ErrorCode::CommandNotFound,
                        format!(
                            "{command:?} does not exist in the session: check the name or \
                             path{hint}"
                        ),
                    )
                }
                _ => ErrorBody::new(
                    ErrorCode::CommandFailed,
                    format!("{command:?} cannot be started: {error}"),
                ),
            };
            Err(GuestError::Refused(body))
        }
    }
}

/// Waits for some time.
pub async fn wait(wait: Wait) -> Waited {
    tokio::time::sleep(wait.seconds.duration()).await;
    Waited { ok: true, seconds: wait.seconds }
}
