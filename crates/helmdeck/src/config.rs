//! `helmdeck config`: the settings in effect.

use std::error::Error;

use helmdeck_server::{Config, tls::Advice};

/// What to show.
#[derive(clap::Args)]
pub struct Args {
    /// Print one value only: addr, data_dir, run_dir or admin_username.
    #[arg(long, value_name = "NAME")]
    get: Option<String>,
    /// Print settings that differ from those of the running server, one per line.
    #[arg(long, conflicts_with = "get")]
    changes: bool,
    /// Print what to know about TLS with these settings, if there is anything.
    #[arg(long, conflicts_with_all = ["get", "changes"])]
    advice: bool,
}

/// Prints the settings, with masked secrets.
pub fn run(config: &Config, args: &Args) -> Result<(), Box<dyn Error>> {
    if args.changes {
        let changes = config.changes();
        let changes = changes
            .map_err(|error| format!("the settings of the running server are unknown: {error}"))?;
        for change in changes {
            println!("{change}");
        }
        return Ok(());
    }
    if args.advice {
        if let Some(advice) = Advice::of(config) {
            println!("{advice}");
        }
        return Ok(());
    }
    match args.get.as_deref() {
        None => print!("{}", config.show()),
        Some("addr") => println!("{}", config.addr),
        Some("data_dir") => println!("{}", config.data_dir.display()),
        Some("run_dir") => println!("{}", config.run_dir.display()),
        Some("admin_username") => println!("{}", config.admin_username),
        Some(other) => {
            let names = "addr, data_dir, run_dir or admin_username";
            return Err(format!("{other:?} cannot be printed separately: expected {names}").into());
        }
    }
    Ok(())
}
