//! `cargo xtask`: tasks of the project that are programs rather than scripts.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use xtask::{effects, tidy, vision_tasks};

mod bench;
mod clients;
mod fresh;
mod job_kills;
mod mcp_clients;
mod mcp_conformance;
mod mcp_packages;
mod model_clients;
mod repo_map;
mod schemathesis;
mod soak;

const USAGE: &str = "\
Usage: cargo xtask COMMAND

  tidy         Check the shape of the repository: layers, names, lengths, documents
  bench ...    Measure actions on a real display (bench --help says more)
  effects ...  Check whether actions report what happened (effects --help says more)
  soak ...     Create and end many sessions, and see that nothing grows
  job-kills .. Kill the server amid jobs, and account for every one of them
  clients      Generate clients from docs/openapi.json, and drive a server with them
  mcp-clients  Connect unmodified MCP clients to a server (mcp-clients --help says more)
  mcp-conformance  Run the official MCP conformance suite
  model-clients .. Call models with unmodified SDKs (model-clients --help says more)
  repo-map ... Compare the symbols of repo.map with those of universal-ctags
  schemathesis Send generated requests to the API (schemathesis --help says more)
  vision-tasks Reach forty goals with scripted models (vision-tasks --help says more)
  fresh ...    Run make up and make test on a new minimal Debian (fresh --help says more)
  ci           Run everything that CI runs";

fn main() -> ExitCode {
    let mut args = env::args_os().skip(1);
    let command = args.next().unwrap_or_default();
    let rest: Vec<OsString> = args.collect();
    match command.to_str() {
        Some("tidy") if rest.is_empty() => tidy(),
        Some("bench") => bench::run(rest),
        Some("effects") => effects::run(&rest),
        Some("soak") => soak::run(rest),
        Some("job-kills") => job_kills::run(&rest),
        Some("clients") => clients::run(&root(), &rest),
        Some("mcp-clients") => mcp_clients::run(&root(), &rest),
        Some("mcp-conformance") => mcp_conformance::run(&root(), &rest),
        Some("model-clients") => model_clients::run(&root(), &rest),
        Some("repo-map") => repo_map::run(&root(), &rest),
        Some("schemathesis") => schemathesis::run(&root(), &rest),
        Some("vision-tasks") => vision_tasks::run(&rest),
        Some("fresh") => fresh::run(&root(), rest),
        Some("ci") if rest.is_empty() => ci(),
        Some("help" | "--help" | "-h") => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::FAILURE
        }
    }
}

fn tidy() -> ExitCode {
    let report = tidy::check(&root());
    println!("{report}");
    if report.violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn ci() -> ExitCode {
    match Command::new(root().join("scripts/test.sh")).status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("scripts/test.sh could not be started: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The repository this binary was built from.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
