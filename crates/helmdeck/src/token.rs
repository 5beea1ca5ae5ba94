//! `helmdeck token`: prints a token, and nothing else, to standard output.

use std::{error::Error, time::Duration};

use helmdeck_server::{
    Config, Scope, audit,
    token::{Grant, Signer},
};
use helmdeck_store::Store;
use helmdeck_wire::error::with_causes;

use crate::token_options::{duration, label};

/// Default scopes for agents: their own sessions and artifacts, and all actions in them.
const DEFAULT_SCOPES: &str = "sessions:*";

/// Who the token is for.
#[derive(clap::Args)]
pub struct Args {
    /// Subject of the token. Sessions belong to it.
    #[arg(long, value_name = "NAME")]
    sub: String,
    /// Scopes: admin, sessions:read, sessions:write, sessions:act, sessions:*, artifacts:read,
    /// artifacts:write, metrics:read, audit:read, vault:read, vault:write. sessions:* includes
    /// artifacts.
    #[arg(long, value_name = "A,B", value_delimiter = ',', default_value = DEFAULT_SCOPES, value_parser = scope)]
    scopes: Vec<String>,
    /// Label for the action log, for example the program's name.
    #[arg(long, value_name = "TEXT", value_parser = label)]
    label: Option<String>,
    /// For a person, not an agent: it can take control from other people by force.
    #[arg(long)]
    human: bool,
    /// Lifetime: 90s, 30m, 12h, 7d.
    #[arg(long, value_name = "TIME", default_value = "12h", value_parser = duration)]
    ttl: Duration,
}

/// Prints a token signed with the server's secret.
pub fn run(config: &Config, args: &Args) -> Result<(), Box<dyn Error>> {
    let Args { sub: subject, scopes, label, human, ttl } = args;
    let label = label.as_deref();
    let grant = Grant { subject, label, human: *human, scopes, ttl: *ttl };
    let (token, claims) = Signer::load(config)?.mint(&grant)?;
    let info = claims.info();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let listed = helmdeck_task::block_on(&runtime, async {
        let store = Store::open(&config.data_dir).await?;
        store.add_token(&info, info.created_at).await?;
        let created = audit::token_created(&info).detail("command", "helmdeck token");
        store.append_audit(&[created]).await
    });
    if let Err(error) = listed {
        // The token is valid, but not listed.
        eprintln!("helmdeck: the token is not listed: {}", with_causes(&error));
    }
    println!("{token}");
    Ok(())
}

/// A scope that an operation requires, or a family of scopes.
fn scope(text: &str) -> Result<String, String> {
    if Scope::is_known(text) {
        return Ok(text.to_owned());
    }
    let known = Scope::REGISTRY.map(|(scope, _)| scope.as_str());
    Err(format!("{text:?} is not a scope: expected {} or sessions:*", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_scope_is_refused_with_those_that_exist() {
        assert_eq!(scope("sessions:*").as_deref(), Ok("sessions:*"));
        let refused = scope("sessions:reed").unwrap_err();
        assert!(refused.contains("sessions:read"), "{refused}");
    }
}
