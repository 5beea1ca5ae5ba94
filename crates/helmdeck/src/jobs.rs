//! `helmdeck jobs …`: list, show, wait for and cancel jobs.

use std::{error::Error, process::ExitCode};

use clap::builder::PossibleValuesParser;
use helmdeck_wire::job::{Job, JobId, JobList, JobState};
use serde_json::{Map, Value, json};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::{
    job_progress::{exit_code, follow},
    local::Config,
    remote::Remote,
    server_choice::ServerArgs,
    table::Table,
    tools::{block_on, call_tool, print_json},
};

/// What to do with jobs.
#[derive(clap::Subcommand)]
pub enum Action {
    /// List jobs, newest first.
    List(ListArgs),
    /// Show a job, with its output or error.
    Show(ShowArgs),
    /// Cancel jobs, with all programs that they run.
    Cancel(CancelArgs),
    /// Wait until a job ends, and print its output. Exits with 0 if it completed, 1 if it failed, 130
    /// if it was cancelled. Ctrl-C ends only this command.
    Wait(ShowArgs),
}

#[derive(clap::Args)]
pub struct ListArgs {
    /// Only jobs in this state.
    #[arg(long, value_parser = states())]
    state: Option<String>,
    /// Only jobs of this pack.
    #[arg(long)]
    pack: Option<String>,
    /// How many at most.
    #[arg(long, value_name = "NUMBER", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=200))]
    limit: u32,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(clap::Args)]
pub struct ShowArgs {
    /// The job's id.
    #[arg(value_name = "JOB")]
    id: String,
    /// Print the whole job as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(clap::Args)]
pub struct CancelArgs {
    /// The jobs' ids.
    #[arg(required = true, value_name = "JOB")]
    ids: Vec<String>,
    #[command(flatten)]
    server: ServerArgs,
}

/// Runs the command.
pub fn run(config: &Config, action: Action) -> Result<ExitCode, Box<dyn Error>> {
    match action {
        Action::List(args) => list(&args.server.remote(config)?, &args)?,
        Action::Show(args) => {
            let job = one(&args.server.remote(config)?, "job.show", &args.id)?;
            match args.json {
                true => print_value(&job)?,
                false => show(&job)?,
            }
        }
        Action::Cancel(args) => {
            let server = args.server.remote(config)?;
            for id in &args.ids {
                let job = one(&server, "job.cancel", id)?;
                println!("{} {}", job.job_id, job.state.as_str());
            }
        }
        Action::Wait(args) => {
            let (server, id) = (args.server.remote(config)?, JobId::new(args.id));
            return match block_on(follow(&server, &id, false))?? {
                Some(job) => finish(&job, args.json),
                None => Ok(ExitCode::from(crate::job_progress::CANCELLED)),
            };
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the result of a job that has ended.
pub fn finish(job: &Job, whole: bool) -> Result<ExitCode, Box<dyn Error>> {
    if whole {
        print_value(job)?;
    } else if let Some(output) = &job.output {
        print_value(output)?;
    }
    for artifact in &job.artifacts {
        eprintln!(
            "Artifact: {} ({} bytes, {})",
            artifact.key, artifact.size, artifact.content_type
        );
    }
    if let Some(session) = job.session_id.as_ref().filter(|_| job.state == JobState::Completed) {
        eprintln!("Session: {session}. Other packs work in it with _session_id={session}");
    }
    Ok(exit_code(job))
}

/// Prints a job as JSON.
pub fn print_value(value: &impl serde::Serialize) -> Result<(), Box<dyn Error>> {
    println!("{}", serde_json::to_string_pretty(value)?);
    Ok(())
}

fn list(server: &Remote, args: &ListArgs) -> Result<(), Box<dyn Error>> {
    let mut wanted = Map::from_iter([("limit".to_owned(), json!(args.limit))]);
    for (field, value) in [("state", &args.state), ("pack", &args.pack)] {
        if let Some(value) = value {
            wanted.insert(field.to_owned(), Value::String(value.clone()));
        }
    }
    let answer = call_tool(server, "job.list", wanted)?;
    if args.json {
        return print_json(&answer.body);
    }
    let list: JobList = serde_json::from_slice(&answer.body)?;
    if list.jobs.is_empty() {
        println!("No jobs. Run a pack: helmdeck pack run NAME");
        return Ok(());
    }
    let mut table = Table::new(["JOB", "PACK", "STATE", "PROGRESS", "STARTED", "TIME", "MESSAGE"]);
    for job in &list.jobs {
        table.row([
            job.job_id.as_str().to_owned(),
            job.pack.clone(),
            job.state.as_str().to_owned(),
            format!("{} %", job.progress),
            moment(job.created_at),
            format!("{:.1} s", job.duration_ms as f64 / 1000.0),
            words(job).chars().take(60).collect(),
        ]);
    }
    table.print()?;
    if list.next_cursor.is_some() {
        eprintln!("There are more: see --limit, --state and --pack");
    }
    Ok(())
}

/// One line about a job.
fn words(job: &Job) -> String {
    let said = match (&job.error, job.state) {
        (Some(error), _) => error.message.clone(),
        (None, JobState::Working) => job.message.clone().unwrap_or_default(),
        (None, _) => String::new(),
    };
    said.lines().next().unwrap_or_default().to_owned()
}

fn show(job: &Job) -> Result<(), Box<dyn Error>> {
    println!("Job:      {}", job.job_id);
    println!("Pack:     {} {}", job.pack, job.version);
    println!("State:    {}, {} %", job.state.as_str(), job.progress);
    println!("Started:  {}", moment(job.created_at));
    println!("Time:     {:.1} s", job.duration_ms as f64 / 1000.0);
    if let Some(session) = &job.session_id {
        println!("Session:  {session}");
    }
    if let Some(message) = job.message.as_ref().filter(|_| job.state == JobState::Working) {
        println!("Message:  {message}");
    }
    if let Some(error) = &job.error {
        println!("Error:    {} ({})", error.message, error.error);
    }
    for artifact in &job.artifacts {
        println!("Artifact: {} ({} bytes)", artifact.key, artifact.size);
    }
    match &job.output {
        Some(output) => print_value(output),
        None => Ok(()),
    }
}

fn one(server: &Remote, tool: &str, id: &str) -> Result<Job, Box<dyn Error>> {
    let wanted = Map::from_iter([("job_id".to_owned(), json!(id))]);
    Ok(serde_json::from_slice(&call_tool(server, tool, wanted)?.body)?)
}

/// A moment with whole seconds.
pub fn moment(at: OffsetDateTime) -> String {
    let at = at.replace_nanosecond(0).unwrap_or(at);
    at.format(&Rfc3339).unwrap_or_default()
}

fn states() -> PossibleValuesParser {
    use JobState::{Cancelled, Completed, Failed, Working};
    PossibleValuesParser::new([Working, Completed, Failed, Cancelled].map(JobState::as_str))
}
