//! `helmdeck skill`: prints or installs the SKILL.md for agents.

use std::{error::Error, fs};

use bytes::Bytes;
use helmdeck_wire::connect::KnownClient;
use http::Method;

use crate::{
    connect::{client_ids, resolve},
    local::Config,
    rest::{DEADLINE, ask},
    server_choice::ServerArgs,
    tools::block_on,
};

/// Subcommands.
#[derive(clap::Subcommand)]
pub enum Action {
    /// Write the skill where a client looks for skills.
    Install(InstallArgs),
    /// Print the skill.
    Print(PrintArgs),
}

#[derive(clap::Args)]
pub struct InstallArgs {
    /// The client.
    #[arg(value_name = "CLIENT", value_parser = client_ids())]
    client: String,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(clap::Args)]
pub struct PrintArgs {
    #[command(flatten)]
    server: ServerArgs,
}

/// Installs or prints the skill.
pub fn run(config: &Config, action: &Action) -> Result<(), Box<dyn Error>> {
    match action {
        Action::Print(args) => {
            print!("{}", fetch(config, &args.server)?);
            Ok(())
        }
        Action::Install(args) => install(config, args),
    }
}

fn install(config: &Config, args: &InstallArgs) -> Result<(), Box<dyn Error>> {
    let client = KnownClient::named(&args.client).ok_or("there is no such client")?;
    let Some(written) = client.skill else {
        return Err(format!(
            "{} reads no skill files: paste the output of `helmdeck skill print` into the \
             instructions of a project",
            client.title
        )
        .into());
    };
    let path = resolve(written)?;
    let text = fetch(config, &args.server)?;
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir).map_err(failed)?;
    }
    let new = path.with_extension("md.new");
    fs::write(&new, text).and_then(|()| fs::rename(&new, &path)).map_err(failed)?;
    println!("Wrote {}. {} reads it when it starts.", path.display(), client.title);
    println!("Check it: ask \"which helmdeck tools do you know?\"");
    println!("Undo it: delete {}", path.parent().unwrap_or(&path).display());
    Ok(())
}

fn fetch(config: &Config, server: &ServerArgs) -> Result<String, Box<dyn Error>> {
    let server = server.remote(config)?;
    let answer = block_on(ask(&server, Method::GET, "/api/v1/skill", Bytes::new(), DEADLINE))??;
    Ok(String::from_utf8(answer.body.to_vec())?)
}
