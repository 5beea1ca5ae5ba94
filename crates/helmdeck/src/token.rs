//! `helmdeck token`: prints a token, and nothing else, to standard output.

use std::{error::Error, time::Duration};

use helmdeck_server::{
    Config, Scope,
    token::{Grant, Signer},
};
use helmdeck_store::Store;
use helmdeck_wire::error::with_causes;

/// Default scopes for agents: their own sessions, and all actions in them.
const DEFAULT_SCOPES: &str = "sessions:*";
const MAX_LABEL: usize = 100;

/// Who the token is for.
#[derive(clap::Args)]
pub struct Args {
    /// Subject of the token. Sessions belong to it.
    #[arg(long, value_name = "NAME")]
    sub: String,
    /// Scopes: admin, sessions:read, sessions:write, sessions:act, sessions:*, metrics:read.
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
    let listed = runtime.block_on(async {
        let store = Store::open(&config.data_dir).await?;
        store.add_token(&info, info.created_at).await
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

/// A label as tokens have it.
pub fn label(text: &str) -> Result<String, String> {
    let fits = (1..=MAX_LABEL).contains(&text.chars().count()) && !text.contains(char::is_control);
    fits.then(|| text.to_owned()).ok_or(format!("expected 1 to {MAX_LABEL} printable characters"))
}

/// A time as people write it: 90s, 30m, 12h, 7d.
pub fn duration(text: &str) -> Result<Duration, String> {
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let seconds = match unit {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 24 * 3600,
        _ => 0,
    };
    match number.parse::<u64>().ok().and_then(|number| number.checked_mul(seconds)) {
        Some(total) if total > 0 => Ok(Duration::from_secs(total)),
        _ => Err("expected a number with s, m, h or d, such as 12h".into()),
    }
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

    #[test]
    fn durations_are_read_as_people_write_them() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1h"), Ok(Duration::from_secs(3600)));
        for text in ["", "h", "0h", "-1h", "1w", "1.5h", "99999999999999999999d"] {
            assert!(duration(text).is_err(), "{text:?}");
        }
    }
}
