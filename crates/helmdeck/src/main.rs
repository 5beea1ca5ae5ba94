//! The `helmdeck` program: one file per command.
//!
//! Commands of clients build for every system. Those of `server_command` need Linux and the feature
//! `server`.

#[cfg(feature = "server")]
mod admin;
mod artifacts;
#[cfg(feature = "server")]
mod attach;
#[cfg(feature = "server")]
mod audit;
#[cfg(feature = "server")]
mod backup;
mod cdp;
#[cfg(feature = "server")]
mod config;
mod connect;
#[cfg(feature = "server")]
mod doctor;
#[cfg(feature = "server")]
mod egress;
mod exec;
mod forward;
#[cfg(feature = "server")]
mod inside;
mod job_progress;
mod jobs;
mod local;
mod login;
mod mcp;
mod models;
mod pack;
mod prompt;
mod remote;
mod rest;
#[cfg(feature = "server")]
mod serve;
mod server_choice;
#[cfg(feature = "server")]
mod server_command;
mod session;
mod skill;
#[cfg(feature = "server")]
mod ssh;
mod stop_signal;
mod table;
#[cfg(feature = "server")]
mod token;
mod token_options;
mod tools;
mod transfer;
mod vault;
mod vnc;

use std::{
    error::Error,
    ffi::OsString,
    io::stdout,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{CommandFactory, Parser, Subcommand};
use helmdeck_wire::error::with_causes;

/// The computer for AI agents that people can watch.
#[derive(Parser)]
#[command(version, about, arg_required_else_help = true)]
struct Cli {
    /// Settings file. Defaults to HELMDECK_CONFIG, then to helmdeck.toml in the data directory.
    #[cfg(feature = "server")]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

impl Cli {
    fn settings_file(&self) -> Option<PathBuf> {
        #[cfg(feature = "server")]
        return self.config.clone();
        #[cfg(not(feature = "server"))]
        None
    }
}

#[derive(Subcommand)]
enum Command {
    #[cfg(feature = "server")]
    #[command(flatten)]
    Server(server_command::ServerCommand),
    /// Serve the tools to an MCP client that starts this program: MCP over standard input and
    /// output.
    Mcp(mcp::Args),
    /// Serve a session's desktop to one VNC program, on a local port.
    Vnc(vnc::Args),
    /// Serve a session's browser on a local port, as if it ran here, with local downloads and
    /// uploads.
    Cdp(cdp::Args),
    /// Open a local port inside a session: http://localhost:PORT there reaches the server that runs
    /// here. Ctrl-C ends it.
    Forward(forward::Args),
    /// Create, list, show, end and open sessions, and run programs in them.
    #[command(subcommand)]
    Session(session::Action),
    /// List, download, upload, delete and share artifacts: files that packs and callers keep for a while.
    #[command(subcommand)]
    Artifacts(artifacts::Action),
    /// List, describe and run packs: typed tools for whole pieces of work.
    #[command(subcommand, alias = "packs")]
    Pack(pack::Action),
    /// List, show, wait for and cancel jobs: calls of packs.
    #[command(subcommand, alias = "job")]
    Jobs(jobs::Action),
    /// List the server's tools.
    Tools(tools::ListArgs),
    /// Call a tool: helmdeck call desktop.click session_id=ID x=10 y=20
    Call(tools::CallArgs),
    /// Connect an MCP client, such as Claude Code: write its settings with a token made for it.
    Connect(connect::Args),
    /// Install or print the SKILL.md that tells agents how to use helmdeck.
    #[command(subcommand)]
    Skill(skill::Action),
    /// Manage credentials that agents use without seeing them.
    #[command(subcommand)]
    Vault(vault::Action),
    /// List models, add keys of their providers, and show what was used.
    #[command(subcommand, alias = "model")]
    Models(models::Action),
    /// Log in to a server, for use by the other commands.
    Login(login::Args),
    /// Delete the stored login.
    Logout,
    /// Print a completion script for a shell: eval "$(helmdeck completion bash)"
    Completion {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

fn main() -> ExitCode {
    match run(Cli::parse_from(command_line(std::env::args_os()))) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("helmdeck: {}", with_causes(&*error));
            ExitCode::FAILURE
        }
    }
}

/// The arguments. A program called `helmdeck-mcp` is `helmdeck mcp`.
fn command_line(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<_> = args.into_iter().collect();
    let program =
        args.first().map(|name| Path::new(name).file_stem() == Some("helmdeck-mcp".as_ref()));
    if program == Some(true) {
        args.insert(1, "mcp".into());
    }
    args
}

fn run(cli: Cli) -> Result<ExitCode, Box<dyn Error>> {
    let file = cli.settings_file();
    let load = || local::load(file.as_deref());
    match cli.command {
        #[cfg(feature = "server")]
        Command::Server(command) => return server_command::run(command, file.as_deref()),
        Command::Mcp(args) => mcp::run(&load()?, &args)?,
        Command::Vnc(args) => vnc::run(&load()?, &args)?,
        Command::Cdp(args) => cdp::run(&load()?, args)?,
        Command::Forward(args) => forward::run(&load()?, args)?,
        Command::Session(action) => return session::run(&load()?, action),
        Command::Artifacts(action) => artifacts::run(&load()?, action)?,
        Command::Pack(action) => return pack::run(&load()?, action),
        Command::Jobs(action) => return jobs::run(&load()?, action),
        Command::Tools(args) => tools::list(&load()?, &args)?,
        Command::Call(args) => tools::call(&load()?, &args)?,
        Command::Connect(args) => connect::run(&load()?, &args)?,
        Command::Skill(action) => skill::run(&load()?, &action)?,
        Command::Vault(action) => vault::run(&load()?, action)?,
        Command::Models(action) => models::run(&load()?, action)?,
        Command::Login(args) => login::run(&load()?, &args)?,
        Command::Logout => login::forget()?,
        Command::Completion { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "helmdeck", &mut stdout());
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_called_helmdeck_mcp_is_the_command_mcp() {
        let line = |args: &[&str]| {
            let line = command_line(args.iter().map(OsString::from));
            line.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        let name = "/usr/local/bin/helmdeck-mcp";
        assert_eq!(line(&[name, "--profile", "core"]), [name, "mcp", "--profile", "core"]);
        assert_eq!(line(&["helmdeck-mcp.exe"]), ["helmdeck-mcp.exe", "mcp"]);
        assert_eq!(line(&["helmdeck", "serve"]), ["helmdeck", "serve"]);
    }
}
