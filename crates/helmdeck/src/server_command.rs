//! Commands that run, administer or attach to a server. They need Linux.

use std::{
    error::Error,
    ffi::OsString,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Subcommand;

use crate::{admin, attach, audit, backup, config, doctor, egress, inside, serve, ssh, token};

/// Exit code of shells for a program that cannot be started.
const NOT_STARTED: u8 = 127;

/// What to do.
#[derive(Subcommand)]
pub enum ServerCommand {
    /// Run the server in the foreground; Ctrl-C stops it and its sessions.
    Serve(serve::Args),
    /// Check that this machine meets the requirements of sessions, and show how to fix problems.
    Doctor,
    /// Show the settings in effect, and where each one comes from.
    Config(config::Args),
    /// Print a token for a client.
    Token(token::Args),
    /// Manage the admin account.
    #[command(subcommand)]
    Admin(admin::Action),
    /// Verify, export or follow the audit log.
    #[command(subcommand)]
    Audit(audit::Action),
    /// Write a backup of the data directory to a file, also while the server runs. It has no keys.
    Backup(backup::BackupArgs),
    /// Restore a backup into the data directory. The server must not run.
    Restore(backup::RestoreArgs),
    /// Test what sessions may reach on the network.
    #[command(subcommand)]
    Egress(egress::Action),
    /// Attach a running display or browser to a server as a session. Ctrl-C ends the session and
    /// leaves both unchanged.
    Attach(attach::Args),
    /// Run inside a sandbox; started by the server.
    #[command(hide = true)]
    Guest {
        #[arg(long)]
        listen_fd: i32,
    },
    /// Stand in for a browser inside the nested sandbox; started by the agent's programs.
    #[command(hide = true, disable_help_flag = true)]
    Browser {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        line: Vec<OsString>,
    },
    /// Open pages in the session's browser; started by the agent's programs.
    #[command(hide = true, disable_help_flag = true)]
    OpenPage {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        line: Vec<OsString>,
    },
    /// Map the repository in the working directory; started by `repo.map` inside a session.
    #[command(hide = true)]
    RepoMap,
    /// Read a document as Markdown; started by `doc.parse` and `doc.ocr` inside a session.
    #[command(hide = true)]
    ReadDocument {
        /// Its path.
        path: PathBuf,
    },
    /// Read the accessible elements of programs; started by the guest beside them.
    #[command(hide = true)]
    Accessibility,
    /// Connect git to the server; started by git inside a session.
    #[command(hide = true, disable_help_flag = true)]
    GitSsh {
        /// Port on the session's loopback.
        port: u16,
        /// Admits the connection.
        key: String,
        /// What git passes to an SSH client. The server knows it.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        line: Vec<OsString>,
    },
    /// Run an SSH client whose connection is inherited; started by the server, in a sandbox.
    #[command(hide = true, disable_help_flag = true)]
    SshClient {
        #[arg(long)]
        connection_fd: i32,
        /// Arguments of the client, without a port.
        #[arg(last = true)]
        line: Vec<OsString>,
    },
    /// Run inside a nested sandbox; started by the guest.
    #[command(hide = true)]
    Nest {
        /// Name in the process list.
        #[arg(long)]
        name: String,
        #[arg(long)]
        control_fd: i32,
        #[arg(long)]
        oom_score: u32,
    },
}

/// Runs a command with the settings of this file, or of the default one.
pub fn run(command: ServerCommand, file: Option<&Path>) -> Result<ExitCode, Box<dyn Error>> {
    let load = || crate::local::load(file);
    match command {
        ServerCommand::Serve(args) => {
            // Before any descriptor is opened.
            helmdeck_spawn::close_inherited(None)?;
            // Before there are threads, so that all of them inherit it.
            helmdeck_spawn::be_prompt();
            helmdeck_spawn::raise_descriptors();
            // The log contains the warnings.
            serve::run(crate::local::read(file, args.environment()?)?)?;
        }
        ServerCommand::Doctor => return Ok(doctor::run(&load()?)),
        ServerCommand::Config(args) => config::run(&load()?, &args)?,
        ServerCommand::Token(args) => token::run(&load()?, &args)?,
        ServerCommand::Admin(action) => admin::run(&load()?, &action)?,
        ServerCommand::Audit(action) => return audit::run(&load()?, &action),
        ServerCommand::Backup(args) => backup::back_up(&load()?, &args)?,
        ServerCommand::Restore(args) => backup::restore(&load()?, &args)?,
        ServerCommand::Egress(action) => return egress::run(&load()?, action),
        ServerCommand::Attach(args) => attach::run(&load()?, args)?,
        ServerCommand::Browser { line } => {
            return Ok(not_started(&helmdeck_guest::run_wrapper(line)));
        }
        ServerCommand::OpenPage { line } => {
            return Ok(not_started(&helmdeck_guest::open_page(line)));
        }
        ServerCommand::RepoMap => return inside::repo_map(),
        ServerCommand::ReadDocument { path } => return inside::read_document(&path),
        ServerCommand::Accessibility => {
            helmdeck_atspi::serve(std::io::stdin().lock(), std::io::stdout().lock())?;
        }
        ServerCommand::GitSsh { port, key, .. } => return Ok(ssh::git_ssh(port, &key)?),
        ServerCommand::SshClient { connection_fd, line } => {
            return Ok(ssh::ssh_client(connection_fd, &line)?);
        }
        ServerCommand::Guest { listen_fd } => helmdeck_guest::run(listen_fd)?,
        ServerCommand::Nest { control_fd, oom_score, .. } => {
            helmdeck_guest::run_nest(control_fd, oom_score)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn not_started(error: &std::io::Error) -> ExitCode {
    eprintln!("helmdeck: the browser cannot be started: {error}");
    ExitCode::from(NOT_STARTED)
}
