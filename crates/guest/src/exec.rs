//! Commands of callers. The guest owns them: they continue when the server stops, and the next
//! server finds them here.

mod command;
mod output;
mod routes;
mod run;
mod spawn;
mod stream;
mod terminal;
mod tree;

use std::{io, sync::Arc, time::Duration};

use helmdeck_wire::{
    ErrorBody, ErrorCode,
    exec::{Exec, ExecId, ExecList, ExecState},
};
use parking_lot::Mutex;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{sleep, timeout},
};

pub use command::{Command, Killed};
pub use routes::routes;

use crate::{begin::Guest, error::GuestError};

/// Limit on running commands.
const MAX_RUNNING: usize = 32;
/// Limit on open terminals.
const MAX_TERMINALS: usize = 16;
/// How many ended commands are kept, and for how long.
const MAX_KEPT: usize = 32;
const KEPT_FOR: Duration = Duration::from_secs(600);
/// Limit on the kept output of all commands, in megabytes.
const OUTPUT_BUDGET_MB: usize = 256;
/// A killed command has ended within this time.
const END_DEADLINE: Duration = Duration::from_secs(12);

/// All commands of the session.
#[derive(Clone)]
pub struct Execs {
    /// Oldest first.
    all: Arc<Mutex<Vec<Arc<Command>>>>,
    running: Arc<Semaphore>,
    /// In kilobytes.
    budget: Arc<Semaphore>,
    terminals: Arc<Semaphore>,
}

impl Default for Execs {
    fn default() -> Self {
        Self {
            all: Arc::default(),
            running: Arc::new(Semaphore::new(MAX_RUNNING)),
            budget: Arc::new(Semaphore::new(OUTPUT_BUDGET_MB << 10)),
            terminals: Arc::new(Semaphore::new(MAX_TERMINALS)),
        }
    }
}

impl Guest {
    /// Starts a command. It runs until it ends or is killed.
    pub async fn start_exec(&self, exec: Exec) -> Result<ExecId, GuestError> {
        let session = self.session()?;
        let executing = self.activity.execute(&self.reports);
        let place = self.execs.running.clone().try_acquire_owned();
        let place = place.map_err(|_| full(&format!("{MAX_RUNNING} commands are running")))?;
        let budget = self.execs.reserve(exec.max_output_bytes)?;
        let id = new_id()?;
        let (limit, timeout) = (exec.max_output_bytes, exec.timeout());
        let name = exec.command.name().to_owned();
        let (pipes, tree) = spawn::spawn(&session, exec, &id).await?;
        let command = Arc::new(Command::new(id.clone(), name, tree, limit, budget));
        self.execs.all.lock().push(command.clone());
        let (execs, log) = (self.execs.clone(), self.log.clone());
        // Ends with the command.
        helmdeck_task::spawn(async move {
            run::run(&command, pipes, timeout, &log).await;
            drop((place, executing));
            execs.forget_excess();
        });
        Ok(id)
    }

    /// The state of a command, once it has ended or after this time.
    pub async fn exec(&self, id: &ExecId, wait: Duration) -> Result<ExecState, GuestError> {
        let command = self.execs.get(id)?;
        // On a timeout, it is still running.
        let _ = timeout(wait, command.over()).await;
        Ok(command.state(true))
    }

    /// Kills a command and all processes it started, including those left after its end.
    pub async fn kill_exec(&self, id: &ExecId) -> Result<(), GuestError> {
        let command = self.execs.get(id)?;
        command.kill(Killed::Asked);
        let _ = timeout(END_DEADLINE, command.over()).await;
        command.tree().kill().await;
        Ok(())
    }
}

impl Execs {
    /// The running commands, and the last ones that ended.
    pub fn list(&self) -> ExecList {
        ExecList { execs: self.all.lock().iter().map(|command| command.summary()).collect() }
    }

    /// Finds a command.
    pub fn get(&self, id: &ExecId) -> Result<Arc<Command>, GuestError> {
        let found = self.all.lock().iter().find(|command| command.id() == id).cloned();
        found.ok_or_else(|| {
            let minutes = KEPT_FOR.as_secs() / 60;
            let message = format!(
                "the session has no command {id}: of those that ended, the last {MAX_KEPT} are kept \
                 for {minutes} minutes"
            );
            GuestError::Refused(ErrorBody::new(ErrorCode::NotFound, message))
        })
    }

    /// The running commands.
    pub fn running(&self) -> Vec<Arc<Command>> {
        self.all.lock().iter().filter(|command| command.is_running()).cloned().collect()
    }

    /// Reserves memory for the output of a command, dropping ended commands if necessary.
    fn reserve(&self, bytes: u32) -> Result<OwnedSemaphorePermit, GuestError> {
        // Two streams of this many bytes, in kilobytes.
        let wanted = bytes.div_ceil(512);
        loop {
            if let Ok(budget) = self.budget.clone().try_acquire_many_owned(wanted) {
                return Ok(budget);
            }
            let mut all = self.all.lock();
            let Some(oldest) = all.iter().position(|command| !command.is_running()) else {
                let why = format!("running commands keep {OUTPUT_BUDGET_MB} MB of output");
                return Err(full(&why));
            };
            all.remove(oldest);
        }
    }

    fn forget_excess(&self) {
        let mut all = self.all.lock();
        let ended = all.iter().filter(|command| !command.is_running()).count();
        let mut excess = ended.saturating_sub(MAX_KEPT);
        all.retain(|command| {
            let forgotten = excess > 0 && !command.is_running();
            excess -= usize::from(forgotten);
            !forgotten
        });
    }

    /// Drops commands that ended long ago, for the life of the guest.
    pub async fn forget_old(self) {
        loop {
            sleep(KEPT_FOR / 10).await;
            self.all.lock().retain(|command| command.ended_since() < KEPT_FOR);
        }
    }
}

fn new_id() -> Result<ExecId, GuestError> {
    let mut bytes = [0; 12];
    getrandom::fill(&mut bytes).map_err(|e| GuestError::Io("randomness", io::Error::other(e)))?;
    Ok(ExecId::from_random(bytes))
}

fn full(why: &str) -> GuestError {
    let message = format!("{why}, which is the limit; wait until one ends, or end one");
    GuestError::Refused(ErrorBody::new(ErrorCode::Overloaded, message))
}
