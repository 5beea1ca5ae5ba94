//! `helmdeck serve`: runs the server in the foreground.

use std::{
    error::Error,
    io::{IsTerminal, Write, stderr},
    sync::Arc,
};

use helmdeck_runtime::LocalRuntime;
use helmdeck_server::{Config, Instance, Shutdown, Started, telemetry};
use secrecy::ExposeSecret;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Serves until SIGINT, which ends the sessions, or SIGTERM, which keeps them.
pub fn run(config: Config) -> Result<(), Box<dyn Error>> {
    telemetry::init(&config)?;
    let program = std::env::current_exe()?;
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let (interrupt, terminate) =
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let instance = Instance::open(config).await?;
        let Config { run_dir, data_dir, .. } = instance.config();
        let workspaces = data_dir.join("workspaces");
        let runtime = LocalRuntime::new(run_dir, instance.id(), &program, workspaces)?;
        let shutdown = asked_to_stop(interrupt, terminate);
        helmdeck_server::run(instance, Arc::new(runtime), announce, shutdown).await?;
        Ok(())
    })
}

/// Prints what a person at the terminal needs. A log file never gets a password.
fn announce(started: Started) {
    let at_terminal = stderr().is_terminal();
    if at_terminal {
        say(&format!("helmdeck listens on http://{}", started.addr));
    }
    match started.new_admin {
        Some(admin) if at_terminal => {
            let password = admin.password.expose_secret();
            say(&format!("login: {}  password: {password}", admin.username));
            say(
                "The password is shown only once; `helmdeck admin reset-password` creates a new one.",
            );
        }
        Some(_) => {
            say("An admin was created; `helmdeck admin reset-password` sets and prints a password.")
        }
        None => {}
    }
}

/// Prints to standard error. A full disk must not stop the server.
fn say(line: &str) {
    let _ = writeln!(stderr(), "{line}");
}

/// Ctrl-C ends the sessions, too. SIGTERM of a service manager leaves them to the next server,
/// which may be an upgrade.
async fn asked_to_stop(mut interrupt: Signal, mut terminate: Signal) -> Shutdown {
    tokio::select! {
        _ = interrupt.recv() => Shutdown::EndSessions,
        _ = terminate.recv() => Shutdown::KeepSessions,
    }
}
