//! The `helmdeck` program: one command per role, each in a file of its name.

mod admin;
mod attach;
mod cdp;
mod config;
mod doctor;
mod egress;
mod forward;
mod login;
mod remote;
mod rest;
mod serve;
mod server_args;
mod session;
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

/// What a shell says of a program that it cannot start.
const NOT_STARTED: u8 = 127;

/// The computer for AI agents that people can watch.
#[derive(Parser)]
#[command(version, about, arg_required_else_help = true)]
struct Cli {
    /// The settings file; else HELMDECK_CONFIG, else helmdeck.toml in the data directory.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the server in the foreground; Ctrl-C ends it with its sessions.
    Serve(serve::Args),
    /// Check that this machine has what sessions need, and say how to get what is missing.
    Doctor,
    /// Show the settings in effect, and where each comes from.
    Config(config::Args),
    /// Print a token for a client.
    Token(token::Args),
    /// Show a session's desktop to a VNC program, through a port that serves it once.
    Vnc(vnc::Args),
    /// Give programs on this machine a session's browser at a local port, as if it ran here: files
    /// that they download and upload are this machine's.
    Cdp(cdp::Args),
    /// Make a display or a browser that runs already a session of a server; Ctrl-C ends the session
    /// and leaves both as they were.
    Attach(attach::Args),
    /// Open a port of this machine inside a session: http://localhost:PORT there is the server that
    /// runs here. Ctrl-C ends it.
    Forward(forward::Args),
    /// Create, list, show, end and open sessions, and run programs in them.
    #[command(subcommand)]
    Session(session::Action),
    /// List what the server can do.
    Tools(tools::ListArgs),
    /// Call a tool: helmdeck call desktop.click session_id=ID x=10 y=20
    Call(tools::CallArgs),
    /// Log in to a server, and remember it for the other commands.
    Login(login::Args),
    /// Forget the server of `helmdeck login`.
    Logout,
    /// Print a completion script for a shell: eval "$(helmdeck completion bash)"
    Completion {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Look after the admin account.
    #[command(subcommand)]
    Admin(admin::Action),
    /// Ask what sessions may reach on the network.
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
        /// What the process list shows it by.
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
    let load = || {
        Config::load(cli.config.as_deref(), environment()).inspect(|config| {
            for warning in &config.warnings {
                // That nobody reads it is no reason to stop.
                let _ = writeln!(stderr(), "helmdeck: {warning}");
            }
        })
    };
    match cli.command {
        Command::Serve(args) => {
            // Before anything is opened.
            helmdeck_spawn::close_inherited(None)?;
            // Before there are threads, so that all of them have it.
            helmdeck_spawn::be_prompt();
            helmdeck_spawn::raise_descriptors();
            let variables = environment().chain(args.environment()?);
            // Its log has the warnings.
            serve::run(Config::load(cli.config.as_deref(), variables)?)?;
        }
        Command::Doctor => {
            let config = load()?;
            return Ok(doctor::run(&config));
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

/// The environment, less what is not text: none of our settings is.
fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}
