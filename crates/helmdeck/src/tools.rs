//! `helmdeck tools` and `helmdeck call`: list and call the server's tools.

use std::{
    error::Error,
    fs,
    io::{ErrorKind, IsTerminal, Read, Write, stdin, stdout},
    path::PathBuf,
    time::Duration,
};

use bytes::Bytes;
use helmdeck_schema::Schema;
use http::Method;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    local::Config,
    remote::Remote,
    rest::{Answer, DEADLINE, ask},
    server_choice::ServerArgs,
    table::Table,
};

/// Deadline of a call: slightly more than the longest program in a session.
const CALL_DEADLINE: Duration = Duration::from_secs(3700);

/// Which tools to list, and how.
#[derive(clap::Args)]
pub struct ListArgs {
    /// Only tools whose name or description contains these words.
    #[arg(long, value_name = "WORDS")]
    search: Option<String>,
    /// Print JSON, with the schemas of arguments and replies.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

/// Which tool to call, and its arguments.
#[derive(clap::Args)]
pub struct CallArgs {
    /// The tool, such as desktop.click; `helmdeck tools` lists all tools.
    tool: String,
    /// Arguments. Values are text, numbers or JSON, depending on the tool.
    #[arg(value_name = "KEY=VALUE")]
    args: Vec<String>,
    /// Read all arguments as one JSON object from this file; `-` for standard input.
    #[arg(long, value_name = "FILE", conflicts_with = "args")]
    json: Option<PathBuf>,
    /// Write the reply to this file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Deserialize)]
struct ToolList {
    tools: Vec<ToolInfo>,
}

#[derive(Deserialize)]
struct ToolInfo {
    name: String,
    description: String,
    input_schema: Option<Value>,
}

/// Lists tools.
pub fn list(config: &Config, args: &ListArgs) -> Result<(), Box<dyn Error>> {
    let server = args.server.remote(config)?;
    let search = args.search.as_deref().map(|words| format!("&search={}", escape(words)));
    let path = format!("/api/v1/tools?schemas={}{}", args.json, search.unwrap_or_default());
    let answer = block_on(ask(&server, Method::GET, &path, Bytes::new(), DEADLINE))??;
    if args.json {
        return print_json(&answer.body);
    }
    let list: ToolList = serde_json::from_slice(&answer.body)?;
    if list.tools.is_empty() {
        println!("No tool matches. `helmdeck tools` lists all that your token allows.");
        return Ok(());
    }
    let mut table = Table::new(["TOOL", "WHAT IT DOES"]);
    for tool in list.tools {
        table.row([tool.name, first_sentence(&tool.description).to_owned()]);
    }
    table.print()
}

/// The first sentence of a description, without its full stop.
pub fn first_sentence(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    line.split_once(". ").map_or(line, |it| it.0).trim_end_matches('.')
}

/// Calls a tool.
pub fn call(config: &Config, args: &CallArgs) -> Result<(), Box<dyn Error>> {
    let server = args.server.remote(config)?;
    let arguments = match &args.json {
        Some(file) => read_object(file)?,
        None => typed(&server, &args.tool, &args.args)?,
    };
    let answer = call_tool(&server, &args.tool, arguments)?;
    show(&answer, args.output.as_ref())
}

/// Calls a tool and waits for the reply.
pub fn call_tool(
    server: &Remote,
    tool: &str,
    arguments: Map<String, Value>,
) -> Result<Answer, Box<dyn Error>> {
    let body = Bytes::from(Value::Object(arguments).to_string());
    let path = format!("/api/v1/tools/{}", escape(tool));
    Ok(block_on(ask(server, Method::POST, &path, body, CALL_DEADLINE))??)
}

/// Converts arguments according to the tool's schema.
pub fn typed(
    server: &Remote,
    tool: &str,
    args: &[String],
) -> Result<Map<String, Value>, Box<dyn Error>> {
    let path = format!("/api/v1/tools?name={}", escape(tool));
    let answer = block_on(ask(server, Method::GET, &path, Bytes::new(), DEADLINE))??;
    let list: ToolList = serde_json::from_slice(&answer.body)?;
    let known = list.tools.into_iter().find_map(|it| it.input_schema);
    let Some(schema) = known else {
        return Err(format!(
            "the tool {tool:?} does not exist, or your token does not allow it: see `helmdeck tools`"
        )
        .into());
    };
    coerced(schema, args)
}

/// Converts arguments according to a schema.
pub fn coerced(schema: Value, args: &[String]) -> Result<Map<String, Value>, Box<dyn Error>> {
    let schema = Schema::new(schema)?;
    let mut object = Map::new();
    for arg in args {
        let (name, text) = arg
            .split_once('=')
            .ok_or_else(|| format!("{arg:?} is not an argument: expected KEY=VALUE"))?;
        object.insert(name.to_owned(), schema.coerce(name, text));
    }
    Ok(object)
}

/// Prints a reply, or writes it to a file.
pub fn show(answer: &Answer, output: Option<&PathBuf>) -> Result<(), Box<dyn Error>> {
    if let Some(file) = output {
        fs::write(file, &answer.body).map_err(|error| format!("{}: {error}", file.display()))?;
        eprintln!("{} bytes of {} in {}", answer.body.len(), answer.media_type(), file.display());
        return Ok(());
    }
    match answer.media_type() {
        "application/json" => print_json(&answer.body),
        kind if !kind.starts_with("text/") && !kind.is_empty() && stdout().is_terminal() => {
            Err(format!(
                "the reply is {} bytes of {kind}: write it to a file with --output FILE",
                answer.body.len()
            )
            .into())
        }
        _ => Ok(stdout().write_all(&answer.body)?),
    }
}

/// Pretty-prints JSON. A closed pipe is not an error.
pub fn print_json(text: &[u8]) -> Result<(), Box<dyn Error>> {
    let value: Value = serde_json::from_slice(text)?;
    match writeln!(stdout(), "{}", serde_json::to_string_pretty(&value)?) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

/// Reads a JSON object from a file; `-` for standard input.
pub fn read_object(file: &PathBuf) -> Result<Map<String, Value>, Box<dyn Error>> {
    let mut text = String::new();
    if file.as_os_str() == "-" {
        stdin().read_to_string(&mut text)?;
    } else {
        text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(serde_json::from_str(&text).map_err(|error| format!("expected a JSON object: {error}"))?)
}

/// Percent-encodes a text for a URL.
pub fn escape(text: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    text.bytes()
        .map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") })
        .collect()
}

/// Waits for the server's reply.
pub fn block_on<T>(work: impl Future<Output = T>) -> std::io::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(helmdeck_task::block_on(&runtime, work))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_listed_with_one_line() {
        assert_eq!(first_sentence("Scale it.\n\nSizes are in headers. More."), "Scale it");
        assert_eq!(first_sentence("Click. Then wait."), "Click");
    }
}
