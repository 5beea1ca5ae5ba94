//! `cargo xtask fresh`: runs README's commands on a minimal Debian.
//!
//! A dependency that no list names is installed on its author's machine, so it is not noticed there.
//! This command creates a system with debootstrap, enters it with `pivot_root`, and gives it only the
//! Rust toolchain, cargo-nextest and access to the package registries.

mod access;
mod plan;
mod readme;
mod summary;
mod system;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use plan::{Plan, Step};
use summary::Outcome;
use system::System;

/// Creates the system, runs the steps, prints the results.
pub fn run(root: &Path, args: Vec<OsString>) -> ExitCode {
    let plan = match Plan::parse(root, args) {
        Ok(Some(plan)) => plan,
        Ok(None) => {
            println!("{}", plan::USAGE);
            return ExitCode::SUCCESS;
        }
        Err(wrong) => {
            eprintln!("{wrong}\n\n{}", plan::USAGE);
            return ExitCode::FAILURE;
        }
    };
    match attempt(root, &plan) {
        Ok(outcomes) => {
            println!("\n{}", summary::table(&plan, &outcomes));
            let passed = outcomes.iter().all(|outcome| outcome.exit == Some(0));
            if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("fresh: {error}");
            ExitCode::FAILURE
        }
    }
}

fn attempt(root: &Path, plan: &Plan) -> Result<Vec<Outcome>, String> {
    let began = Instant::now();
    let system = System::prepare(root, plan)?;
    let mut outcomes = vec![Outcome::new("system", began.elapsed(), Some(0), String::new())];
    for step in &plan.steps {
        let began = Instant::now();
        let log = plan.log(*step);
        let exit = system.run(&step.script(plan)?, &log)?;
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        let counts = match step {
            Step::Prerequisites | Step::Packages | Step::Up => String::new(),
            Step::Test => summary::counts(&text),
        };
        outcomes.push(Outcome::new(step.name(), began.elapsed(), exit, counts));
    }
    Ok(outcomes)
}
