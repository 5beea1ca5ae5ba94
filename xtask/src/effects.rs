//! `cargo xtask effects`: whether the `effect` that actions report is what the application's own log
//! says.

mod case;
mod goals;
mod gtk;
mod office;
mod oracle;
mod site;
mod stage;
mod table;
mod terminal;
mod testbed;
mod web;
mod web_more;

use std::{ffi::OsString, process::ExitCode, time::Instant};

use self::{case::Fact, stage::Stage, table::Judged, testbed::Testbed};
pub use self::{
    case::{App, Case},
    table::Table,
};

const USAGE: &str = "\
Usage: cargo xtask effects [OPTIONS]

  --list             Print the names of the cases
  --only SUBSTRING   Only cases whose name contains it; may be repeated
  --frozen           Only the cases of xtask/effects/frozen.txt
  --sample N         N of these cases, spread evenly
  --goals N          Instead, pursue three goals N times each

Uses target/debug/helmdeck, or HELMDECK_BIN, and the packages of
`scripts/packages.sh install test corpus`. Fails below 99 % right.";

/// Cases that must not change, so that runs can be compared.
const FROZEN: &str = include_str!("../effects/frozen.txt");
/// Cases after which a session is replaced: what they leave on the screen stays there for a while.
const LEAVES_TRACES: [Fact; 2] = [Fact::Download, Fact::WindowOpened];

/// What to run.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Print the names only.
    pub list: bool,
    /// Parts of names.
    pub only: Vec<String>,
    /// Whole names.
    pub exactly: Vec<String>,
    /// Only frozen cases.
    pub frozen: bool,
    /// How many cases at most.
    pub sample: Option<usize>,
    /// How often to pursue the goals.
    pub goals: Option<usize>,
}

/// The pages and programs of the cases, which decide what an action does.
pub fn sources() -> Vec<&'static str> {
    let programs = stage::PROGRAMS.into_iter().map(|(_, text)| text);
    site::sources().into_iter().chain(programs).collect()
}

/// Runs what the arguments say.
pub fn run(args: &[OsString]) -> ExitCode {
    let Some(options) = parse(args) else {
        println!("{USAGE}");
        return ExitCode::FAILURE;
    };
    let cases = select(&options);
    if options.list {
        for case in &cases {
            println!("{}", case.name);
        }
        return ExitCode::SUCCESS;
    }
    let Ok(runtime) = tokio::runtime::Runtime::new() else { return ExitCode::FAILURE };
    let passed = runtime.block_on(async {
        let testbed = Testbed::start().await;
        if let Some(times) = options.goals {
            return goals::run(&testbed, times).await;
        }
        let table = perform(&testbed, &cases).await;
        println!("{table}");
        table.passes()
    });
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn parse(args: &[OsString]) -> Option<Options> {
    let mut options = Options::default();
    let mut words = args.iter().map(|arg| arg.to_str().unwrap_or_default());
    while let Some(word) = words.next() {
        match word {
            "--list" => options.list = true,
            "--frozen" => options.frozen = true,
            "--only" => options.only.push(words.next()?.to_owned()),
            "--sample" => options.sample = Some(words.next()?.parse().ok()?),
            "--goals" => options.goals = Some(words.next()?.parse().ok()?),
            _ => return None,
        }
    }
    Some(options)
}

/// All cases.
pub fn all() -> Vec<Case> {
    [web::cases(), gtk::cases(), terminal::cases(), office::cases()].concat()
}

/// The cases that the options select.
pub fn select(options: &Options) -> Vec<Case> {
    let mut cases = all();
    if options.frozen {
        cases.retain(|case| FROZEN.lines().any(|name| name == case.name));
    }
    if !options.exactly.is_empty() {
        cases.retain(|case| options.exactly.contains(&case.name));
    }
    if !options.only.is_empty() {
        cases.retain(|case| options.only.iter().any(|part| case.name.contains(part.as_str())));
    }
    let Some(most) = options.sample.filter(|most| *most < cases.len()) else { return cases };
    let picked: Vec<usize> = (0..most).map(|nth| nth * cases.len() / most).collect();
    let numbered = cases.into_iter().enumerate();
    numbered.filter(|(index, _)| picked.contains(index)).map(|(_, case)| case).collect()
}

/// Performs cases one after the other, and judges the replies.
async fn perform(testbed: &Testbed, cases: &[Case]) -> Table {
    let mut table = Table::default();
    let mut stage: Option<Stage<'_>> = None;
    let mut app = None;
    for (index, case) in cases.iter().enumerate() {
        if app != Some(case.app)
            && let Some(old) = stage.take()
        {
            old.close().await;
        }
        app = Some(case.app);
        let mut current = match stage.take() {
            Some(stage) => stage,
            None => Stage::open(testbed).await,
        };
        let began = Instant::now();
        let judged = Judged::new(case, current.perform(case).await);
        let ms = began.elapsed().as_millis();
        println!("{}/{} {}, {ms} ms", index + 1, cases.len(), judged.line());
        let broken = !judged.right || LEAVES_TRACES.contains(&case.fact);
        table.add(judged);
        if broken {
            current.close().await;
        } else {
            stage = Some(current);
        }
    }
    if let Some(old) = stage {
        old.close().await;
    }
    table
}

/// Performs the selected cases on their own server.
pub async fn check(options: &Options) -> Table {
    let testbed = Testbed::start().await;
    perform(&testbed, &select(options)).await
}
