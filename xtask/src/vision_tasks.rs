//! `cargo xtask vision-tasks`: whether runs of vision reach forty goals with models of different kinds, and
//! whether they say so truthfully. The logs of the applications decide.

mod baseline;
mod inject;
mod lures;
mod mind;
mod ocr;
mod pages;
mod provider;
mod stage;
mod table;
mod task;
mod tasks;

use std::{ffi::OsString, process::ExitCode, time::Instant};

use helmdeck_testkit::{Server, Site};
use serde_json::{Value, json};

pub use self::{mind::Kind, table::Table, task::Task, tasks::all};
use self::{
    mind::ScriptedModel,
    pages::Pages,
    provider::Provider,
    stage::{Map, Stage, Tried, read},
    table::Tried as Trial,
};

const USAGE: &str = "\
Usage: cargo xtask vision-tasks [OPTIONS]

  --list             Print the names of the tasks
  --only SUBSTRING   Only tasks whose name contains it; may be repeated
  --kind KIND        Only models of this kind: ocr, precise, sloppy, never-done, malformed, liar,
                     anthropic, or baseline for the loop of the reference, with which the tokens
                     of the other kinds are compared; may be repeated
  --model-only       Models decide every action, also where an element's name is enough. Their
                     part of the baseline's tokens is printed, and has no goal: it is for runs as
                     callers get them
  --inject           Only the pages that tell a model to do something else
  --verbose          Print the steps of every run, and not only of those that fail
  --sample           Only four tasks, with a precise model

Uses target/debug/helmdeck, or HELMDECK_BIN, and the packages of
`scripts/packages.sh install test corpus documents`. Fails if a kind misses its goal, or if one run says
`completed` and the application's log does not.";

/// Tasks of `--sample`: an element, a form, a picture, and one of several equal names.
const SAMPLE: [&str; 4] = ["112/new-tab", "form", "canvas-small", "row-small"];
const MOST_STEPS: u32 = 20;
const MOST_SECONDS: u32 = 120;

/// What to run.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Print the names only.
    pub list: bool,
    /// Parts of names.
    pub only: Vec<String>,
    /// Kinds; empty for all.
    pub kinds: Vec<Kind>,
    /// Whether the baseline is performed as well.
    pub baseline: bool,
    /// Only pages that tell a model to do something else.
    pub inject: bool,
    /// Whether models decide every action.
    pub model_only: bool,
    /// Only four tasks.
    pub sample: bool,
    /// Print all steps.
    pub verbose: bool,
}

/// Runs what the arguments say.
pub fn run(args: &[OsString]) -> ExitCode {
    let Some(options) = parse(args) else {
        println!("{USAGE}");
        return ExitCode::FAILURE;
    };
    if options.list {
        for task in select(&options) {
            println!("{}: {}", task.name, task.instruction);
        }
        return ExitCode::SUCCESS;
    }
    let Ok(runtime) = tokio::runtime::Runtime::new() else { return ExitCode::FAILURE };
    let passed = runtime.block_on(async {
        let table = check(&options).await;
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
            "--only" => options.only.push(words.next()?.to_owned()),
            "--inject" => options.inject = true,
            "--model-only" => options.model_only = true,
            "--verbose" => options.verbose = true,
            "--sample" => options.sample = true,
            "--kind" => match words.next()? {
                "baseline" => options.baseline = true,
                name => options.kinds.push(Kind::of(name)?),
            },
            _ => return None,
        }
    }
    let chosen = options.baseline || !options.kinds.is_empty();
    if options.sample && !chosen {
        options.kinds.push(Kind::Precise);
    } else if !chosen && !options.inject {
        options.baseline = true;
        options.kinds = Kind::ALL.iter().map(|(kind, ..)| *kind).collect();
        options.inject = options.only.is_empty();
    }
    Some(options)
}

/// The tasks that the options select.
pub fn select(options: &Options) -> Vec<Task> {
    let mut tasks = all();
    if options.sample {
        tasks.retain(|task| SAMPLE.contains(&task.name));
    }
    if !options.only.is_empty() {
        tasks.retain(|task| options.only.iter().any(|part| task.name.contains(part.as_str())));
    }
    tasks
}

/// A server whose models are ours.
struct TrialServer {
    server: Server,
    model_only: bool,
    provider: Provider,
    pages: Pages,
}

impl TrialServer {
    async fn open(model_only: bool) -> Option<Self> {
        let provider = Provider::start().await.ok()?;
        let mut env = provider.environment();
        let (name, value) = Site::REACHABLE;
        env.push((name.to_owned(), value.to_owned()));
        let env: Vec<_> = env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let server = Server::start_with(&env);
        Some(Self { server, model_only, provider, pages: Pages::start().await })
    }

    fn mind(&self, kind: Kind, task: &Task, session: &str) -> ScriptedModel {
        let client = self.server.client("mind", "admin");
        ScriptedModel::new(kind, task, Map::new(client, session), &self.pages.elsewhere())
    }

    /// Performs a task in the product's loop.
    async fn act(&self, stage: &Stage<'_>, kind: Kind, task: &Task) -> Tried<Value> {
        self.provider.think(self.mind(kind, task, &stage.desk.id)).await;
        let mut body = json!({
            "instruction": task.instruction, "model": kind.model(), "max_steps": MOST_STEPS,
            "timeout_s": MOST_SECONDS, "model_only": self.model_only,
        });
        if let (Some(success), Some(fields)) = (task.success(), body.as_object_mut()) {
            fields.insert("success".to_owned(), success);
        }
        let path = format!("/api/v1/sessions/{}/vision/act", stage.desk.id);
        let run = read("vision/act", &stage.desk.client.post(&path, &body).await)?;
        Ok(run)
    }

    /// Performs one task and judges it.
    async fn perform(&self, stage: &mut Stage<'_>, how: How, task: &Task) -> Tried<Trial> {
        stage.set_up(task).await?;
        let began = Instant::now();
        let mut trial = match how {
            How::Product(kind) => {
                let run = self.act(stage, kind, task).await?;
                Trial::of_run(&run, self.provider.asked().await)
            }
            How::Baseline(kind) => {
                let mind = self.mind(kind, task, &stage.desk.id);
                baseline::run(stage, mind, task).await?
            }
        };
        trial.ms = began.elapsed().as_millis();
        trial.log = stage.pages.log();
        trial.reached = stage.judge(task).await?;
        stage.clean_up().await?;
        Ok(trial)
    }
}

/// A loop, and the kind of its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// The product's loop.
    Product(Kind),
    /// The reference's.
    Baseline(Kind),
}

impl How {
    fn name(self) -> String {
        match self {
            Self::Product(kind) => kind.name().to_owned(),
            Self::Baseline(kind) => format!("baseline, {}", kind.name()),
        }
    }
}

/// Performs what the options select, on its own server.
pub async fn check(options: &Options) -> Table {
    let mut table = Table::new(options.model_only);
    let Some(trial_server) = TrialServer::open(options.model_only).await else {
        println!("no address is free");
        return table;
    };
    let client = trial_server.server.client("tasks", "admin");
    let tasks = select(options);
    let product = options.kinds.iter().map(|kind| How::Product(*kind));
    let kinds = Kind::ALL.iter().map(|(kind, ..)| *kind).filter(|kind| {
        // The reference has no vendor's tool: its precise model stands for that one.
        let compared = options.kinds.contains(kind)
            || (*kind == Kind::Precise && options.kinds.contains(&Kind::Anthropic));
        *kind != Kind::Anthropic && (options.kinds.is_empty() || compared)
    });
    let baseline = kinds.filter(|_| options.baseline).map(How::Baseline);
    for how in product.chain(baseline) {
        if how == How::Product(Kind::Ocr) && !mind::can_read().await {
            println!("tesseract is not installed");
            table.missing.push(how.name());
            continue;
        }
        let mut stage: Option<Stage<'_>> = None;
        for (index, task) in tasks.iter().enumerate() {
            let mut current = match stage.take() {
                Some(stage) => stage,
                None => Stage::open(&client, &trial_server.pages).await,
            };
            let trial = trial_server.perform(&mut current, how, task).await;
            let trial = trial.unwrap_or_else(Trial::broken);
            println!(
                "{} {}/{} {}: {}",
                how.name(),
                index + 1,
                tasks.len(),
                task.name,
                trial.line()
            );
            let again = trial.converged();
            if options.verbose || (!again && matches!(how, How::Product(_))) {
                println!("{}", trial.story(task));
            }
            table.add(how, task, trial);
            if again {
                stage = Some(current);
            } else {
                current.desk.end().await;
            }
        }
        if let Some(old) = stage {
            old.desk.end().await;
        }
    }
    if options.inject {
        lures::perform(&trial_server, &client, &mut table).await;
    }
    table
}
