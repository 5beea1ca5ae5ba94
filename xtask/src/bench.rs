//! `cargo xtask bench`: how fast we are, beside what peers use, in one run on one display.

mod actions;
mod memory;
mod peers;
mod starts;
mod table;

use std::{
    ffi::OsString,
    process::{Command, ExitCode},
};

use helmdeck_testkit::Server;

const USAGE: &str = "\
Usage: cargo xtask bench [actions|starts|all]

  actions   Click, move, scroll, type, screenshot, zoom over HTTP, against xdotool and scrot
  starts    Cold start of sessions in both modes, and the memory of server and guest
  all       Both (default)

Needs xdotool, scrot and imagemagick; builds the release binary first.";

/// Runs the benchmark that `args` names.
pub fn run(args: Vec<OsString>) -> ExitCode {
    let which = args.first().and_then(|arg| arg.to_str()).unwrap_or("all").to_owned();
    if !matches!(which.as_str(), "actions" | "starts" | "all") {
        println!("{USAGE}");
        return if which == "--help" { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    // An unoptimised client would measure itself.
    if cfg!(debug_assertions) {
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
    runtime.block_on(async {
        let server = Server::start();
        if which != "starts" {
            actions::run(&server).await;
        }
        if which != "actions" {
            starts::run(&server).await;
        }
    });
    ExitCode::SUCCESS
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
    let mut command = Command::new("cargo");
    command.args(["build", "--release", "--package", "helmdeck"]);
    command.status().is_ok_and(|status| status.success())
}
