//! `helmdeck token`: a token, and nothing else, on standard output.

use std::{error::Error, time::Duration};

use helmdeck_server::{Config, token::Signer};
use helmdeck_store::Store;
use helmdeck_wire::error::with_causes;

/// What an agent needs: its own sessions, and all it can do in them.
const DEFAULT_SCOPES: &str = "sessions:*";

/// Whom the token is for.
#[derive(clap::Args)]
pub struct Args {
    /// Who will use it; sessions belong to this name.
    #[arg(long, value_name = "NAME")]
    sub: String,
    /// What it allows: admin, sessions:read, sessions:write, sessions:act, sessions:*, metrics:read.
    #[arg(long, value_name = "A,B", value_delimiter = ',', default_value = DEFAULT_SCOPES)]
    scopes: Vec<String>,
    /// How long it is valid: 90s, 30m, 12h, 7d.
    #[arg(long, value_name = "TIME", default_value = "12h", value_parser = duration)]
    ttl: Duration,
}

/// Prints a token signed with the server's secret.
pub fn run(config: &Config, args: &Args) -> Result<(), Box<dyn Error>> {
    let (token, claims) = Signer::load(config)?.mint(&args.sub, &args.scopes, args.ttl)?;
    let info = claims.info();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let listed = runtime.block_on(async {
        let store = Store::open(&config.data_dir).await?;
        store.add_token(&info, info.created_at).await
    });
    if let Err(error) = listed {
        // It is good all the same; it can only not be listed.
        eprintln!("helmdeck: the token is not listed: {}", with_causes(&error));
    }
    println!("{token}");
    Ok(())
}

fn duration(text: &str) -> Result<Duration, String> {
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
    fn durations_are_read_as_people_write_them() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1h"), Ok(Duration::from_secs(3600)));
        for text in ["", "h", "0h", "-1h", "1w", "1.5h", "99999999999999999999d"] {
            assert!(duration(text).is_err(), "{text:?}");
        }
    }
}
