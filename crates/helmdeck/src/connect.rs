//! `helmdeck connect`: configures an MCP client, with a new token.

mod apply;
mod config_file;
mod json;
mod paths;
mod toml;
mod yaml;

use std::{error::Error, path::Path, time::Duration};

use bytes::Bytes;
use clap::builder::PossibleValuesParser;
use helmdeck_wire::connect::{
    CLIENTS, ConnectGuide, ConnectList, ConnectRequest, KnownClient, Place, Setup, Step,
    TOKEN_PLACEHOLDER, ToolProfile, Transport,
};
use http::Method;

use crate::{
    jobs::moment,
    local::Config,
    remote::Remote,
    rest::{DEADLINE, ask, post},
    server_choice::ServerArgs,
    table::Table,
    token_options,
    tools::block_on,
};

pub use paths::resolve;

/// Which client, and how.
#[derive(clap::Args)]
pub struct Args {
    /// The client. Lists all clients if omitted.
    #[arg(value_name = "CLIENT", value_parser = client_ids())]
    client: Option<String>,
    /// Create the token and print the steps, but change no file.
    #[arg(long, requires = "client")]
    print: bool,
    /// The tools that the client lists: all, core, browser, desktop or code. It can call all of them.
    #[arg(long, value_name = "PROFILE", value_parser = profile)]
    profile: Option<ToolProfile>,
    /// Have the client start `helmdeck mcp` instead of connecting over HTTP.
    #[arg(long)]
    stdio: bool,
    /// Let the client use models, which may cost money. Your own token needs the scope models:use.
    #[arg(long)]
    models: bool,
    /// Label of the token [default: the client's name].
    #[arg(long, value_name = "TEXT", value_parser = token_options::label)]
    label: Option<String>,
    /// Lifetime of the token: 12h, 7d [default: 30d].
    #[arg(long, value_name = "TIME", value_parser = token_options::duration)]
    ttl: Option<Duration>,
    #[command(flatten)]
    server: ServerArgs,
}

/// Lists clients, or connects one.
pub fn run(config: &Config, args: &Args) -> Result<(), Box<dyn Error>> {
    let server = args.server.remote(config)?;
    match args.client.as_deref().and_then(KnownClient::named) {
        Some(client) => connect(&server, client, args),
        None => list(&server),
    }
}

/// The ids of all clients, for `--help` and completion.
pub fn client_ids() -> PossibleValuesParser {
    PossibleValuesParser::new(CLIENTS.iter().map(|client| client.id))
}

/// Parses a selection of tools.
pub fn profile(name: &str) -> Result<ToolProfile, String> {
    let known = || ToolProfile::ALL.map(ToolProfile::as_str).join(", ");
    ToolProfile::named(name).ok_or_else(|| format!("expected one of {}", known()))
}

fn list(server: &Remote) -> Result<(), Box<dyn Error>> {
    let path = "/api/v1/connect";
    let answer = block_on(ask(server, Method::GET, path, Bytes::new(), DEADLINE))??;
    let list: ConnectList = serde_json::from_slice(&answer.body)?;
    let mut table = Table::new(["CLIENT", "NAME", "TOOLS", "CONNECTED"]);
    for client in list.clients {
        let connected = client.connected.first().map_or_else(String::new, |it| {
            format!("{} {}, {}", it.name, it.version, moment(it.last_seen))
        });
        table.row([client.id, client.title, client.profile.as_str().to_owned(), connected]);
    }
    table.print()?;
    println!("\nConnect one: helmdeck connect CLIENT");
    Ok(())
}

fn connect(server: &Remote, client: &KnownClient, args: &Args) -> Result<(), Box<dyn Error>> {
    let transport = if args.stdio { Transport::Stdio } else { client.transport };
    let profile = args.profile.unwrap_or(client.profile);
    let (address, program) = (reachable(&server.url()), this_program());
    // Clients run elsewhere.
    let ca_file = server.ca_file().map(std::path::absolute).transpose()?;
    let ca_file = ca_file.as_deref().and_then(Path::to_str);
    // Clients may not have this program on their PATH.
    let setup =
        |token| Setup { server: &address, ca_file, profile, transport, token, program: &program };
    let prints = args.print || matches!(client.place, Place::Unknown);
    if !prints {
        // Before a token is created.
        apply::check(client, &setup(TOKEN_PLACEHOLDER))?;
    }
    let request = ConnectRequest {
        label: args.label.clone(),
        ttl_s: args.ttl.map(|ttl| ttl.as_secs()),
        profile: Some(profile),
        transport: Some(transport),
        models: args.models,
    };
    let path = format!("/api/v1/connect/{}", client.id);
    let made: ConnectGuide = block_on(post(server, &path, &request))??;
    let (token, id) =
        made.token.as_deref().zip(made.token_id.as_deref()).ok_or("the reply has no token")?;
    let is_token = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if !token.chars().all(is_token) {
        return Err("the reply of the server has a malformed token".into());
    }
    if prints {
        print_steps(client, &setup(token));
    } else {
        match apply::apply(client, &setup(token)) {
            Ok(done) => done.iter().for_each(|line| println!("{line}")),
            Err(error) => {
                revoke(server, id)?;
                return Err(error);
            }
        }
        println!("Check it: {}", check(client));
        if client.skill.is_some() {
            println!("Teach it: helmdeck skill install {}", client.id);
        }
        println!("Undo it: {}", client.guide(&setup(TOKEN_PLACEHOLDER)).undo);
    }
    if let Some(file) = ca_file.filter(|_| transport == Transport::Http) {
        eprintln!(
            "If the client does not trust the server's certificate, {file}, connect it with --stdio."
        );
    }
    let until =
        made.expires_at.map_or_else(String::new, |at| format!(" is valid until {}", at.date()));
    let label = made.label.unwrap_or_default();
    eprintln!("The token \"{label}\"{until}. Revoke it: helmdeck call token.revoke id={id}");
    Ok(())
}

fn check(client: &KnownClient) -> String {
    match client.check.command {
        Some(command) => format!("{command}\n          {}", client.check.text),
        None => client.check.text.to_owned(),
    }
}

fn print_steps(client: &KnownClient, setup: &Setup<'_>) {
    for (index, step) in client.guide(setup).steps.iter().enumerate() {
        let Step { title, text, command, file } = step;
        println!("{}. {title}\n   {text}\n", index + 1);
        if let Some(command) = command {
            println!("{command}\n");
        }
        if let Some(file) = file {
            println!("{}:\n\n{}", file.path, file.content);
        }
    }
}

fn revoke(server: &Remote, id: &str) -> Result<(), Box<dyn Error>> {
    let path = format!("/api/v1/tokens/{id}");
    block_on(ask(server, Method::DELETE, &path, Bytes::new(), DEADLINE))??;
    Ok(())
}

/// The URL with localhost in place of an unspecified address.
fn reachable(url: &str) -> String {
    url.replacen("://0.0.0.0:", "://localhost:", 1).replacen("://[::]:", "://localhost:", 1)
}

fn this_program() -> String {
    let own = std::env::current_exe().ok().and_then(|path| path.to_str().map(str::to_owned));
    own.unwrap_or_else(|| "helmdeck".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unspecified_address_becomes_localhost() {
        assert_eq!(reachable("http://0.0.0.0:3000"), "http://localhost:3000");
        assert_eq!(reachable("http://[::]:3000"), "http://localhost:3000");
        assert_eq!(reachable("https://10.0.0.0:3000"), "https://10.0.0.0:3000");
    }

    #[test]
    fn an_unknown_profile_is_refused() {
        assert_eq!(profile("core"), Ok(ToolProfile::Core));
        assert!(profile("everything").unwrap_err().contains("all, core, browser"));
    }
}
