//! `helmdeck session …`: create, list, show, end and open sessions, and run programs in them.

use std::{
    error::Error,
    process::{Command, ExitCode, Stdio},
};

use serde_json::{Map, Value, json};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::{
    exec, forward,
    jobs::moment,
    local::Config,
    server_choice::ServerArgs,
    table::Table,
    tools::{call_tool, print_json, typed},
};

/// What to do with sessions.
#[derive(clap::Subcommand)]
pub enum Action {
    /// Create a session and print its id when it is ready.
    Create(CreateArgs),
    /// List sessions.
    List(ListArgs),
    /// Show one session.
    Show(OneArgs),
    /// End a session and remove everything of it.
    End(OneArgs),
    /// Run a program in a session. Output and exit code are those of the program.
    Exec(exec::Args),
    /// Open the page of a session in the default browser.
    Open(OneArgs),
    /// Alias of `helmdeck forward`.
    Forward(forward::Args),
}

#[derive(clap::Args)]
pub struct CreateArgs {
    /// Create a desktop that people can watch, instead of a headless browser.
    #[arg(long)]
    desktop: bool,
    /// A name for people.
    #[arg(long)]
    label: Option<String>,
    /// Page that the browser opens first.
    #[arg(long, value_name = "URL")]
    start_url: Option<String>,
    /// Other fields of the session, such as timeout_seconds=600.
    #[arg(value_name = "KEY=VALUE")]
    fields: Vec<String>,
    /// Print the whole session as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(clap::Args)]
pub struct ListArgs {
    /// List ended sessions.
    #[arg(long)]
    ended: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(clap::Args)]
pub struct OneArgs {
    /// The session's id.
    session: String,
    #[command(flatten)]
    server: ServerArgs,
}

/// Runs the command.
pub fn run(config: &Config, action: Action) -> Result<ExitCode, Box<dyn Error>> {
    match action {
        Action::Create(args) => create(config, &args)?,
        Action::List(args) => list(config, &args)?,
        Action::Show(args) => {
            print_json(&call(config, &args.server, "session.show", one(&args.session))?)?;
        }
        Action::End(args) => {
            call(config, &args.server, "session.end", one(&args.session))?;
        }
        Action::Exec(args) => return exec::run(config, &args),
        Action::Open(args) => open(config, &args)?,
        Action::Forward(args) => forward::run(config, args)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn call(
    config: &Config,
    server: &ServerArgs,
    tool: &str,
    arguments: Map<String, Value>,
) -> Result<Vec<u8>, Box<dyn Error>> {
    Ok(call_tool(&server.remote(config)?, tool, arguments)?.body.to_vec())
}

fn one(session: &str) -> Map<String, Value> {
    Map::from_iter([("session_id".to_owned(), json!(session))])
}

fn create(config: &Config, args: &CreateArgs) -> Result<(), Box<dyn Error>> {
    let server = args.server.remote(config)?;
    let mut arguments = typed(&server, "session.create", &args.fields)?;
    if args.desktop {
        arguments.insert("mode".to_owned(), json!("desktop"));
    }
    for (name, value) in [("label", &args.label), ("start_url", &args.start_url)] {
        if let Some(value) = value {
            arguments.insert(name.to_owned(), json!(value));
        }
    }
    let session = call_tool(&server, "session.create", arguments)?.body;
    if args.json {
        return print_json(&session);
    }
    let session: Value = serde_json::from_slice(&session)?;
    println!("{}", text(&session, "id"));
    Ok(())
}

fn list(config: &Config, args: &ListArgs) -> Result<(), Box<dyn Error>> {
    let wanted = args.ended.then(|| ("state".to_owned(), json!("ended")));
    let list = call(config, &args.server, "session.list", wanted.into_iter().collect())?;
    if args.json {
        return print_json(&list);
    }
    let list: Value = serde_json::from_slice(&list)?;
    let sessions = list.get("sessions").and_then(Value::as_array).cloned().unwrap_or_default();
    if sessions.is_empty() {
        println!("No sessions. Create one: helmdeck session create --desktop");
        return Ok(());
    }
    let mut table = Table::new(["ID", "STATUS", "MODE", "LABEL", "OWNER", "CREATED"]);
    for session in &sessions {
        let label = session.get("spec").map(|spec| text(spec, "label")).unwrap_or_default();
        table.row([
            text(session, "id"),
            text(session, "status"),
            text(session, "mode"),
            label,
            text(session, "owner"),
            whole_seconds(&text(session, "created_at")),
        ]);
    }
    table.print()
}

fn open(config: &Config, args: &OneArgs) -> Result<(), Box<dyn Error>> {
    let server = args.server.remote(config)?;
    call_tool(&server, "session.show", one(&args.session))?;
    let url = format!("{}/sessions/{}", server.url(), args.session);
    println!("{url}");
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    let opened = Command::new(opener)
        .arg(&url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if opened.is_err() {
        eprintln!("helmdeck: found no program to open pages; open the address yourself");
    }
    Ok(())
}

/// A moment in RFC 3339 without fractions of seconds.
fn whole_seconds(at: &str) -> String {
    OffsetDateTime::parse(at, &Rfc3339).map_or_else(|_| at.to_owned(), moment)
}

fn text(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}
