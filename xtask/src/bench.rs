//! `cargo xtask bench`: our performance compared with peers, in one run on one display.

mod actions;
mod bombs;
mod egress;
mod mcp;
mod memory;
mod observe;
mod packs;
mod peers;
mod starts;
mod table;

use std::{
    ffi::OsString,
    process::{Command, ExitCode},
};

use helmdeck_testkit::Server;

const USAGE: &str = "\
Usage: cargo xtask bench [actions|starts|bombs|egress|mcp|packs|observe|all]

  actions   Click, move, scroll, type, screenshot, zoom over HTTP, against xdotool and scrot
  starts    Cold start of sessions in both modes, and the memory of server and guest
  bombs     A session's clicks while its neighbour forks, allocates and writes without end
  egress    What the proxy adds to a request, and its throughput
  mcp       Listings, calls and clients of MCP, against @playwright/mcp and chrome-devtools-mcp
  packs     What a job adds to a call, warm and new sessions, a queue of two callers
  observe   Settling against fixed sleeps, tokens of pictures, cost; settle, tokens or cost for one part
  all       Everything (default)

Needs xdotool, scrot, imagemagick, ffmpeg and tesseract. Builds the release binary first, or measures the one that
HELMDECK_BIN names. With XTASK_BENCH_DEBUG=1, the client is not optimised. Fails if a bar is missed or could not be
measured, after all tables.";

/// Runs the benchmark that `args` names.
pub fn run(args: Vec<OsString>) -> ExitCode {
    let which = args.first().and_then(|arg| arg.to_str()).unwrap_or("all").to_owned();
    if !matches!(
        which.as_str(),
        "actions" | "starts" | "bombs" | "egress" | "mcp" | "packs" | "observe" | "all"
    ) {
        println!("{USAGE}");
        return if which == "--help" { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    // An unoptimised client would distort the results.
    if cfg!(debug_assertions) && std::env::var_os("XTASK_BENCH_DEBUG").is_none() {
        return again_in_release(args);
    }
    if !build() {
        return ExitCode::FAILURE;
    }
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("no runtime: {error}");
            return ExitCode::FAILURE;
        }
    };
    let part = args.get(1).and_then(|arg| arg.to_str());
    let measured = runtime.block_on(async {
        let server = Server::start_with(&[("HELMDECK_EGRESS_ALLOWLIST", "127.0.0.1/32")]);
        let wanted = |name| which == name || which == "all";
        if wanted("actions") {
            actions::run(&server).await;
        }
        if wanted("starts") {
            starts::run(&server).await;
        }
        if wanted("egress") {
            egress::run(&server).await;
        }
        // The other tables do not depend on it.
        let mut measured = Ok(());
        if wanted("mcp") {
            measured = mcp::run(&server).await.map_err(|error| format!("bench mcp: {error}"));
        }
        if wanted("packs") {
            packs::run(&server).await;
        }
        if wanted("observe") {
            observe::run(&server, part).await;
        }
        if wanted("bombs") {
            bombs::run(&server).await;
        }
        measured
    });
    match verdict(measured, table::missed()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// Why the run failed.
fn verdict(measured: Result<(), String>, missed: usize) -> Result<(), String> {
    measured?;
    if missed == 0 { Ok(()) } else { Err(format!("{missed} bars were MISSED")) }
}

fn again_in_release(args: Vec<OsString>) -> ExitCode {
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--release", "--package", "xtask", "--", "bench"]).args(args);
    match command.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn build() -> bool {
    if std::env::var_os("HELMDECK_BIN").is_some() {
        return true;
    }
    let mut command = Command::new("cargo");
    command.args(["build", "--release", "--package", "helmdeck"]);
    command.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_bar_or_a_benchmark_that_cannot_run_fails_the_command() {
        assert_eq!(verdict(Ok(()), 0), Ok(()));
        assert!(verdict(Ok(()), 1).is_err());
        assert_eq!(verdict(Err("no npm".to_owned()), 0), Err("no npm".to_owned()));
        let before = table::missed();
        assert_eq!(table::bar("≤ 1 ms", true), "≤ 1 ms met");
        assert_eq!(table::missed(), before);
        assert_eq!(table::bar("≤ 1 ms", false), "≤ 1 ms MISSED");
        assert_eq!(table::missed(), before + 1);
    }
}
