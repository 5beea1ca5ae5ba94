//! `helmdeck pack …`: list, describe and run packs.

use std::{error::Error, path::PathBuf, process::ExitCode};

use bytes::Bytes;
use helmdeck_wire::job::Job;
use http::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    job_progress::{CANCELLED, follow},
    jobs::{finish, print_value},
    local::Config,
    remote::{ConnectFailure, Remote},
    rest::{DEADLINE, ask},
    server_choice::ServerArgs,
    table::Table,
    tools::{block_on, coerced, escape, first_sentence, print_json, read_object},
};

/// What to do with packs.
#[derive(clap::Subcommand)]
pub enum Action {
    /// List packs.
    List(ListArgs),
    /// Describe a pack and its inputs.
    Describe(DescribeArgs),
    /// Run a pack and print its output: helmdeck pack run repo.fetch url=https://…
    ///
    /// Progress is shown on standard error. Exits with 0 if it completed, 1 if it failed, and 130 if
    /// it was cancelled. Ctrl-C cancels it.
    Run(RunArgs),
}

#[derive(clap::Args)]
pub struct ListArgs {
    /// Only packs whose name, description or keywords contain these words.
    #[arg(long, value_name = "WORDS")]
    search: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(clap::Args)]
pub struct DescribeArgs {
    /// The pack, such as repo.fetch.
    pack: String,
    /// Print JSON, with the schemas of input and output.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(clap::Args)]
pub struct RunArgs {
    /// The pack, such as repo.fetch; `helmdeck pack list` lists all packs.
    pack: String,
    /// Inputs. Values are text, numbers or JSON, depending on the pack. A single `-` reads a JSON
    /// object from standard input.
    #[arg(value_name = "KEY=VALUE")]
    inputs: Vec<String>,
    /// The same, as an option; can be repeated.
    #[arg(long, short, value_name = "KEY=VALUE")]
    input: Vec<String>,
    /// Read all inputs as one JSON object from this file; `-` for standard input.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["inputs", "input"])]
    json: Option<PathBuf>,
    /// Start it, print its job id, and do not wait.
    #[arg(long, short)]
    detach: bool,
    /// Print the whole job, not only its output.
    #[arg(long)]
    whole: bool,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Deserialize)]
struct PackList {
    packs: Vec<PackInfo>,
}

#[derive(Deserialize)]
struct PackInfo {
    name: String,
    description: String,
    session: String,
    #[serde(default)]
    programs: Vec<String>,
    credential: Option<String>,
    unavailable: Option<String>,
    #[serde(default)]
    examples: Vec<Example>,
    input_schema: Option<Value>,
}

/// A call that shows how a pack is used.
#[derive(Deserialize)]
struct Example {
    title: String,
    input: Map<String, Value>,
}

/// Runs the command.
pub fn run(config: &Config, action: Action) -> Result<ExitCode, Box<dyn Error>> {
    match action {
        Action::List(args) => list(&args.server.remote(config)?, &args)?,
        Action::Describe(args) => {
            let shown = show(&args.server.remote(config)?, &args.pack)?;
            match args.json {
                true => print_json(&shown)?,
                false => print!("{}", description(&serde_json::from_slice(&shown)?)),
            }
        }
        Action::Run(args) => return start(&args.server.remote(config)?, args),
    }
    Ok(ExitCode::SUCCESS)
}

fn list(server: &Remote, args: &ListArgs) -> Result<(), Box<dyn Error>> {
    let search = args.search.as_deref().map(|words| format!("?search={}", escape(words)));
    let path = format!("/api/v1/packs{}", search.unwrap_or_default());
    let answer = block_on(ask(server, Method::GET, &path, Bytes::new(), DEADLINE))??;
    if args.json {
        return print_json(&answer.body);
    }
    let list: PackList = serde_json::from_slice(&answer.body)?;
    if list.packs.is_empty() {
        println!("No pack matches. `helmdeck pack list` lists all packs.");
        return Ok(());
    }
    let mut table = Table::new(["PACK", "WHAT IT DOES"]);
    for pack in list.packs {
        let sentence = first_sentence(&pack.description);
        let sentence = match pack.unavailable {
            Some(_) => format!("{sentence} (unavailable)"),
            None => sentence.to_owned(),
        };
        table.row([pack.name, sentence]);
    }
    table.print()
}

/// A pack with its schemas, as JSON.
fn show(server: &Remote, pack: &str) -> Result<Bytes, Box<dyn Error>> {
    let path = format!("/api/v1/packs/{}", escape(pack));
    Ok(block_on(ask(server, Method::GET, &path, Bytes::new(), DEADLINE))?
        .map_err(for_terminal)?
        .body)
}

/// Names the command where the server names its API.
fn for_terminal(error: ConnectFailure) -> ConnectFailure {
    match error {
        ConnectFailure::Refused(status, why) => ConnectFailure::Refused(
            status,
            why.replace("GET /api/v1/packs lists", "`helmdeck pack list` lists"),
        ),
        error => error,
    }
}

fn start(server: &Remote, args: RunArgs) -> Result<ExitCode, Box<dyn Error>> {
    let standard_input = args.inputs == ["-"] && args.input.is_empty();
    let file = args.json.or(standard_input.then(|| PathBuf::from("-")));
    let mut input = match &file {
        Some(file) => read_object(file)?,
        None => {
            let pack: PackInfo = serde_json::from_slice(&show(server, &args.pack)?)?;
            let inputs = [args.inputs, args.input].concat();
            coerced(pack.input_schema.unwrap_or_default(), &inputs)?
        }
    };
    input.insert("wait_s".to_owned(), json!(0));
    let path = format!("/api/v1/packs/{}", escape(&args.pack));
    let body = Bytes::from(Value::Object(input).to_string());
    block_on(async {
        let answer =
            ask(server, Method::POST, &path, body, DEADLINE).await.map_err(for_terminal)?;
        let job: Job = serde_json::from_slice(&answer.body)?;
        if args.detach {
            match args.whole {
                true => print_value(&job)?,
                false => println!("{}", job.job_id),
            }
            return Ok(ExitCode::SUCCESS);
        }
        match follow(server, &job.job_id, true).await? {
            Some(job) => finish(&job, args.whole),
            None => Ok(ExitCode::from(CANCELLED)),
        }
    })?
}

/// A pack as text.
fn description(pack: &PackInfo) -> String {
    let mut text = format!("{}\n\n{}\n\n", pack.name, pack.description);
    if let Some(why) = &pack.unavailable {
        text.push_str(&format!("It cannot run on this server: {why}\n\n"));
    }
    let session = match pack.session.as_str() {
        "none" => "none",
        "one_shot" => "_session_id, or a new one that ends with the job",
        "keeps" => "_session_id, or a new one that stays for the next call",
        _ => "_session_id of an earlier call",
    };
    text.push_str(&format!("Session:    {session}\n"));
    if !pack.programs.is_empty() {
        text.push_str(&format!("Programs:   {}\n", pack.programs.join(", ")));
    }
    if let Some(credential) = &pack.credential {
        text.push_str(&format!("Credential: {credential}\n"));
    }
    if let Some(schema) = &pack.input_schema {
        text.push_str("\nInputs:\n");
        text.push_str(&inputs(schema));
    }
    if !pack.examples.is_empty() {
        text.push_str("\nExamples:\n");
    }
    for Example { title, input } in &pack.examples {
        text.push_str(&format!("  # {title}\n  {}\n", command(&pack.name, input)));
    }
    text
}

/// The command that runs a pack with this input.
fn command(pack: &str, input: &Map<String, Value>) -> String {
    let mut line = format!("helmdeck pack run {pack}");
    for (name, value) in input {
        let value = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        line.push_str(&format!(" {name}={}", quoted(&value)));
    }
    line
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// The inputs of a schema, required ones first.
fn inputs(schema: &Value) -> String {
    let none = Map::new();
    let fields = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let mut named: Vec<_> = fields.iter().filter(|(name, _)| *name != "wait_s").collect();
    named.sort_by_key(|(name, _)| !required.contains(&name.as_str()));
    let mut text = String::new();
    for (name, field) in named {
        let mut facts = vec![kind(schema, field)];
        if required.contains(&name.as_str()) {
            facts.push("required".to_owned());
        }
        if let Some(usual) = field.get("default").filter(|usual| !usual.is_null()) {
            facts.push(format!("default {usual}"));
        }
        text.push_str(&format!("  {name} ({})\n", facts.join(", ")));
        if let Some(doc) = field.get("description").and_then(Value::as_str) {
            text.push_str(&format!("      {}\n", doc.replace('\n', "\n      ")));
        }
    }
    text
}

/// The type of a field, in a word or as its choices.
fn kind(root: &Value, field: &Value) -> String {
    if let Some(target) = field.get("$ref").and_then(Value::as_str) {
        let pointer = target.trim_start_matches('#');
        return root.pointer(pointer).map_or_else(|| "JSON".to_owned(), |it| kind(root, it));
    }
    if let Some(choices) = field.get("enum").and_then(Value::as_array) {
        let texts = choices.iter().filter_map(Value::as_str);
        return texts.collect::<Vec<_>>().join(" | ");
    }
    let types = match field.get("type") {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    match types.iter().find(|name| **name != "null") {
        Some(&"array") => "list".to_owned(),
        Some(&"string") => "text".to_owned(),
        Some(name) => (*name).to_owned(),
        None => "JSON".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_is_a_command_that_a_shell_reads_back() {
        let input = json!({ "code": "print('hi')", "count": 3, "tags": ["a", "b"], "url": "https://a.example/x" });
        assert_eq!(
            command("python.run", input.as_object().unwrap()),
            "helmdeck pack run python.run code='print('\\''hi'\\'')' count=3 tags='[\"a\",\"b\"]' \
             url=https://a.example/x"
        );
    }

    #[test]
    fn inputs_are_listed_with_type_default_and_meaning_required_ones_first() {
        let schema = json!({
            "$defs": { "Path": { "type": "string" } },
            "properties": {
                "depth": { "type": "integer", "default": 1 },
                "mode": { "enum": ["fast", "slow"] },
                "path": { "$ref": "#/$defs/Path", "description": "Where.\nRelative." },
                "tags": { "type": ["array", "null"], "default": null },
                "wait_s": { "type": "integer" },
            },
            "required": ["path"],
        });
        assert_eq!(
            inputs(&schema),
            "  path (text, required)\n      Where.\n      Relative.\n  depth (integer, default 1)\n  \
             mode (fast | slow)\n  tags (list)\n"
        );
    }
}
