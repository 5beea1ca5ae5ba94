//! The `helmdeck` program: one file per command.

mod admin;
mod attach;
mod cdp;
mod config;
mod connect;
mod doctor;
mod egress;
mod forward;
mod login;
mod remote;
mod rest;
mod serve;
mod server_args;
mod session;
mod skill;
mod table;
mod token;
mod tools;
mod vnc;

use std::{
    error::Error,
    ffi::OsString,
    io::{Write, stderr, stdout},
    path::PathBuf,
    process::ExitCode,
};

use clap::{CommandFactory, Parser, Subcommand};
use helmdeck_server::Config;
use helmdeck_wire::error::with_causes;

/// Exit code of shells for a program that cannot be started.
const NOT_STARTED: u8 = 127;

/// The computer for AI agents that people can watch.
#[derive(Parser)]
#[command(version, about, arg_required_else_help = true)]
struct Cli {
    /// Settings file. Defaults to HELMDECK_CONFIG, then to helmdeck.toml in the data directory.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the server in the foreground; Ctrl-C stops it and its sessions.
    Serve,
    /// Check that this machine meets the requirements of sessions, and show how to fix problems.
    Doctor,
    /// Show the settings in effect, and where each one comes from.
    Config(config::Args),
    /// Print a token for a client.
    Token(token::Args),
    /// Serve a session's desktop to one VNC program, on a local port.
    Vnc(vnc::Args),
    /// Serve a session's browser on a local port, as if it ran here, with local downloads and
    /// uploads.
    Cdp(cdp::Args),
    /// Attach a running display or browser to a server as a session. Ctrl-C ends the session and
    /// leaves both unchanged.
    Attach(attach::Args),
    /// Open a local port inside a session: http://localhost:PORT there reaches the server that runs
    /// here. Ctrl-C ends it.
    Forward(forward::Args),
    /// Create, list, show, end and open sessions, and run programs in them.
    #[command(subcommand)]
    Session(session::Action),
    /// List the server's tools.
    Tools(tools::ListArgs),
    /// Call a tool: helmdeck call desktop.click session_id=ID x=10 y=20
    Call(tools::CallArgs),
    /// Connect an MCP client, such as Claude Code: write its settings with a token made for it.
    Connect(connect::Args),
    /// Install or print the SKILL.md that tells agents how to use helmdeck.
    #[command(subcommand)]
    Skill(skill::Action),
    /// Log in to a server, for use by the other commands.
    Login(login::Args),
    /// Delete the stored login.
    Logout,
    /// Print a completion script for a shell: eval "$(helmdeck completion bash)"
    Completion {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Manage the admin account.
    #[command(subcommand)]
    Admin(admin::Action),
    /// Test what sessions may reach on the network.
    #[command(subcommand)]
    Egress(egress::Action),
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

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("helmdeck: {}", with_causes(&*error));
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> Result<ExitCode, Box<dyn Error>> {
    let read = || Config::load(cli.config.as_deref(), environment());
    let load = || {
        read().inspect(|config| {
            for warning in &config.warnings {
                // Write errors are ignored.
                let _ = writeln!(stderr(), "helmdeck: {warning}");
            }
        })
    };
    match cli.command {
        Command::Serve => {
            // Before any descriptor is opened.
            helmdeck_spawn::close_inherited(None)?;
            // Before there are threads, so that all of them inherit it.
            helmdeck_spawn::be_prompt();
            helmdeck_spawn::raise_descriptors();
            // The log contains the warnings.
            serve::run(read()?)?;
        }
        Command::Doctor => {
            let config = load()?;
            return Ok(doctor::run(config.addr, &config.data_dir, &config.run_dir));
        }
        Command::Config(args) => config::run(&load()?, &args)?,
        Command::Token(args) => token::run(&load()?, &args)?,
        Command::Vnc(args) => vnc::run(&load()?, &args)?,
        Command::Cdp(args) => cdp::run(&load()?, args)?,
        Command::Attach(args) => attach::run(&load()?, args)?,
        Command::Forward(args) => forward::run(&load()?, args)?,
        Command::Session(action) => return session::run(&load()?, action),
        Command::Tools(args) => tools::list(&load()?, &args)?,
        Command::Call(args) => tools::call(&load()?, &args)?,
        Command::Connect(args) => connect::run(&load()?, &args)?,
        Command::Skill(action) => skill::run(&load()?, &action)?,
        Command::Login(args) => login::run(&load()?, &args)?,
        Command::Logout => login::forget()?,
        Command::Completion { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "helmdeck", &mut stdout());
        }
        Command::Admin(action) => admin::run(&load()?, &action)?,
        Command::Egress(action) => return egress::run(&load()?, action),
        Command::Browser { line } => {
            return Ok(not_started(&helmdeck_guest::run_wrapper(line)));
        }
        Command::OpenPage { line } => {
            return Ok(not_started(&helmdeck_guest::open_page(line)));
        }
        Command::Guest { listen_fd } => helmdeck_guest::run(listen_fd)?,
        Command::Nest { control_fd, oom_score, .. } => {
            helmdeck_guest::run_nest(control_fd, oom_score)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn not_started(error: &std::io::Error) -> ExitCode {
    eprintln!("helmdeck: the browser cannot be started: {error}");
    ExitCode::from(NOT_STARTED)
}

/// The environment, without values that are not UTF-8. No setting needs those.
fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}
