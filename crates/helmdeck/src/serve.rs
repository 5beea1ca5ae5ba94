//! `helmdeck serve`: runs the server in the foreground.

use std::{
    error::Error,
    io::{self, IsTerminal, Write, stderr},
    path::PathBuf,
    sync::Arc,
};

use helmdeck_runtime::LocalRuntime;
use helmdeck_server::{Config, Instance, Shutdown, Started, telemetry};
use secrecy::ExposeSecret;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How connections are encrypted. Other settings come from the environment or a file.
#[derive(clap::Args)]
pub struct Args {
    /// Speak HTTPS with the certificate and its chain in this PEM file; HELMDECK_TLS_CERT.
    #[arg(long, value_name = "FILE", requires = "tls_key", conflicts_with = "tls_self_signed")]
    tls_cert: Option<PathBuf>,
    /// The private key of that certificate, in a PEM file; HELMDECK_TLS_KEY.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Speak HTTPS with a self-signed certificate, which is generated on the first start;
    /// HELMDECK_TLS_SELF_SIGNED=true.
    #[arg(long)]
    tls_self_signed: bool,
}

impl Args {
    /// The variables that say the same.
    pub fn environment(&self) -> io::Result<Vec<(String, String)>> {
        let mut variables = Vec::new();
        for (name, file) in
            [("HELMDECK_TLS_CERT", &self.tls_cert), ("HELMDECK_TLS_KEY", &self.tls_key)]
        {
            if let Some(file) = file {
                let file = std::path::absolute(file)?.to_string_lossy().into_owned();
                variables.push((name.to_owned(), file));
            }
        }
        if self.tls_self_signed {
            variables.push(("HELMDECK_TLS_SELF_SIGNED".to_owned(), "true".to_owned()));
        }
        Ok(variables)
    }
}

/// Serves until SIGINT, which ends the sessions, or SIGTERM, which keeps them.
pub fn run(config: Config) -> Result<(), Box<dyn Error>> {
    telemetry::init(&config)?;
    let program = std::env::current_exe()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    helmdeck_task::block_on(&runtime, async {
        let (interrupt, terminate) =
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let instance = Instance::open(config).await?;
        let Config { run_dir, data_dir, .. } = instance.config();
        let workspaces = data_dir.join("workspaces");
        let runtime = LocalRuntime::new(run_dir, instance.id(), &program, workspaces)?;
        let shutdown = Box::pin(asked_to_stop(interrupt, terminate));
        helmdeck_server::run(instance, Arc::new(runtime), Box::new(announce), shutdown).await?;
        Ok(())
    })
}

/// Prints what a person at the terminal needs. A log file never gets a password.
fn announce(started: Started) {
    let at_terminal = stderr().is_terminal();
    if at_terminal {
        say(&format!("helmdeck listens on {}://{}", started.scheme, started.addr));
    }
    // Elsewhere the log has it.
    if let Some(advice) = started.advice.filter(|_| at_terminal) {
        say(&advice.to_string());
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
