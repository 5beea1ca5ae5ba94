//! `helmdeck egress`: tests what sessions may reach.

use std::{error::Error, process::ExitCode};

use helmdeck_egress::{Policy, SystemResolver, explain};
use helmdeck_server::Config;
use helmdeck_wire::{
    SessionId,
    egress::{EgressTested, TestEgress},
};

use crate::{remote::ConnectFailure, rest, server_choice::ServerArgs};

/// What to test.
#[derive(clap::Subcommand)]
pub enum Action {
    /// Test whether sessions of the running server may reach a URL, for each address, without
    /// connecting. If no server runs, use the settings of this command.
    Test {
        /// A URL, a host, or host:port.
        target: String,
        /// A session whose proxy is taken into account.
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        #[command(flatten)]
        server: ServerArgs,
    },
}

/// Prints the explanation. Succeeds if a connection would be attempted.
pub fn run(config: &Config, action: Action) -> Result<ExitCode, Box<dyn Error>> {
    let Action::Test { target, session, server } = action;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let named = server.is_named() || session.is_some();
    let asked = TestEgress { url: target.clone(), session_id: session.map(SessionId::new) };
    let asking = async {
        let server = server.remote(config);
        let server = server.map_err(|error| ConnectFailure::Unreachable(error.to_string()))?;
        rest::post::<EgressTested>(&server, "/api/v1/egress/test", &asked).await
    };
    let allowed = match helmdeck_task::block_on(&runtime, asking) {
        Ok(tested) => {
            println!("{}", tested.explanation);
            tested.allowed
        }
        // Fall back only if neither a server nor a session was named.
        Err(ConnectFailure::Unreachable(why)) if !named => {
            eprintln!("helmdeck: no server answers ({why}); using the settings of this command");
            let policy = Policy::new(config.egress_allowlist.clone(), vec![config.addr]);
            let resolver = SystemResolver::default();
            let explained =
                helmdeck_task::block_on(&runtime, explain(&target, &policy, None, &resolver))?;
            println!("{explained}");
            explained.is_allowed()
        }
        Err(error) => return Err(error.into()),
    };
    Ok(if allowed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
