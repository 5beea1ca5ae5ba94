//! `helmdeck egress`: what sessions may reach, and why.

use std::{error::Error, process::ExitCode};

use helmdeck_egress::{Policy, SystemResolver, explain};
use helmdeck_server::Config;

/// What to ask about.
#[derive(clap::Subcommand)]
pub enum Action {
    /// Say what the proxy would do about a URL, address by address, without connecting.
    Test {
        /// A URL, a host, or host:port.
        url: String,
    },
}

/// Prints the explanation; succeeds if a connection would be tried.
pub fn run(config: &Config, action: &Action) -> Result<ExitCode, Box<dyn Error>> {
    let Action::Test { url } = action;
    let policy = Policy::new(config.egress_allowlist.clone(), vec![config.addr]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let explanation = runtime.block_on(explain(url, &policy, &SystemResolver::default()))?;
    println!("{explanation}");
    Ok(if explanation.is_allowed() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
