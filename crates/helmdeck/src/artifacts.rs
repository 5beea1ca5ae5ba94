//! `helmdeck artifacts …`: list, get, put, delete and share artifacts.

use std::{
    error::Error,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use bytes::Bytes;
use helmdeck_wire::artifact::{ArtifactKey, ArtifactLink, Uploaded, percent_encoded};
use http::{HeaderMap, HeaderValue, Method, header};
use http_body_util::BodyExt;
use serde_json::{Map, Value, json};
use tokio::{
    fs::{File, OpenOptions},
    time::timeout,
};

use crate::{
    local::Config,
    remote::Remote,
    rest::DEADLINE,
    server_choice::ServerArgs,
    table::Table,
    token_options::duration,
    tools::{block_on, call_tool, print_json},
    transfer::{self, Failure, call},
};

/// What to do with artifacts.
#[derive(clap::Subcommand)]
pub enum Action {
    /// List artifacts, newest first.
    List(ListArgs),
    /// Download an artifact, to a file with its name.
    Get(GetArgs),
    /// Upload a file and print its key.
    Put(PutArgs),
    /// Delete artifacts.
    Delete(DeleteArgs),
    /// Print a link to an artifact that works without a token until it expires.
    Link(LinkArgs),
}

#[derive(clap::Args)]
pub struct ListArgs {
    /// Only of this pack; operator-uploads for uploads.
    #[arg(long)]
    pack: Option<String>,
    /// Only names that contain this text.
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// How many at most.
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    limit: u32,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(clap::Args)]
pub struct GetArgs {
    /// The artifact's key.
    #[arg(value_parser = key)]
    key: ArtifactKey,
    /// Write to this file, which may exist; `-` for standard output.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(clap::Args)]
pub struct PutArgs {
    /// The file; `-` for standard input.
    file: PathBuf,
    /// Another name than the file's.
    #[arg(long)]
    name: Option<String>,
    /// Media type, such as image/png. By default, the server tells by the name.
    #[arg(long = "type", value_name = "TYPE")]
    content_type: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(clap::Args)]
pub struct DeleteArgs {
    /// The artifacts' keys.
    #[arg(required = true, value_parser = key)]
    keys: Vec<ArtifactKey>,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(clap::Args)]
pub struct LinkArgs {
    /// The artifact's key.
    #[arg(value_parser = key)]
    key: ArtifactKey,
    /// Lifetime: 90s, 30m, 12h, 7d.
    #[arg(long, value_name = "TIME", default_value = "15m", value_parser = duration)]
    ttl: Duration,
    #[command(flatten)]
    server: ServerArgs,
}

fn key(text: &str) -> Result<ArtifactKey, String> {
    ArtifactKey::parse(text)
        .ok_or_else(|| "this is not a key: `helmdeck artifacts list` shows them".to_owned())
}

/// Runs the command.
pub fn run(config: &Config, action: Action) -> Result<(), Box<dyn Error>> {
    match action {
        Action::List(args) => list(config, &args),
        Action::Get(args) => get(config, &args),
        Action::Put(args) => put(config, &args),
        Action::Delete(args) => {
            let server = args.server.remote(config)?;
            for key in &args.keys {
                let one = Map::from_iter([("key".to_owned(), json!(key))]);
                call_tool(&server, "artifacts.delete", one)?;
            }
            Ok(())
        }
        Action::Link(args) => {
            let wanted = [("key", json!(args.key)), ("ttl_seconds", json!(args.ttl.as_secs()))];
            let wanted = wanted.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            let answer = call_tool(&args.server.remote(config)?, "artifacts.link", wanted)?;
            println!("{}", serde_json::from_slice::<ArtifactLink>(&answer.body)?.url);
            Ok(())
        }
    }
}

fn list(config: &Config, args: &ListArgs) -> Result<(), Box<dyn Error>> {
    let mut wanted = Map::new();
    wanted.insert("limit".to_owned(), json!(args.limit));
    for (field, value) in [("pack", &args.pack), ("name", &args.name)] {
        if let Some(value) = value {
            wanted.insert(field.to_owned(), Value::String(value.clone()));
        }
    }
    let answer = call_tool(&args.server.remote(config)?, "artifacts.list", wanted)?;
    if args.json {
        return print_json(&answer.body);
    }
    let list: Value = serde_json::from_slice(&answer.body)?;
    let artifacts = list.get("artifacts").and_then(Value::as_array).cloned().unwrap_or_default();
    if artifacts.is_empty() {
        println!("No artifacts. Upload one: helmdeck artifacts put FILE");
        return Ok(());
    }
    let mut table = Table::new(["KEY", "SIZE", "TYPE", "OWNER", "CREATED"]);
    for artifact in &artifacts {
        table.row(["key", "size", "content_type", "owner", "created_at"].map(|field| {
            match artifact.get(field) {
                Some(Value::String(text)) => text.clone(),
                other => other.map(ToString::to_string).unwrap_or_default(),
            }
        }));
    }
    table.print()?;
    if list.get("next_before").is_some_and(|next| !next.is_null()) {
        eprintln!("There are more: see --limit, --name and --pack");
    }
    Ok(())
}

fn get(config: &Config, args: &GetArgs) -> Result<(), Box<dyn Error>> {
    let server = args.server.remote(config)?;
    let saved = block_on(download(&server, &args.key, args.output.as_deref()))?;
    if let Some((size, file)) = saved.map_err(|failed| failed as Box<dyn Error>)? {
        eprintln!("{size} bytes in {}", file.display());
    }
    Ok(())
}

/// Writes an artifact to a file, and returns its size and the file; `None` for standard output.
async fn download(
    server: &Remote,
    key: &ArtifactKey,
    output: Option<&Path>,
) -> Result<Option<(u64, PathBuf)>, Failure> {
    let (path, headers) = (key.download_path(), HeaderMap::new());
    let response = call(server, Method::GET, &path, headers, transfer::empty()).await?;
    if output == Some(Path::new("-")) {
        transfer::save(response, &mut tokio::io::stdout()).await?;
        return Ok(None);
    }
    // Without the option, no existing file is replaced.
    let (file, replace) = match output {
        Some(file) => (file.to_owned(), true),
        None => (PathBuf::from(key.name()), false),
    };
    let shown = |error: io::Error| format!("{}: {error}", file.display());
    let mut options = OpenOptions::new();
    let options = options.write(true).create(replace).truncate(replace).create_new(!replace);
    let mut opened = options.open(&file).await.map_err(shown)?;
    match transfer::save(response, &mut opened).await {
        Ok(size) => Ok(Some((size, file))),
        Err(failed) => {
            // Part of a file is worse than none.
            let _ = tokio::fs::remove_file(&file).await;
            Err(failed)
        }
    }
}

fn put(config: &Config, args: &PutArgs) -> Result<(), Box<dyn Error>> {
    let server = args.server.remote(config)?;
    let own = args.file.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = args.name.clone().or(own.filter(|name| name != "-"));
    let path = match name {
        Some(name) => {
            format!("/api/v1/artifacts/upload?filename={}", percent_encoded(&name, ""))
        }
        None => "/api/v1/artifacts/upload".to_owned(),
    };
    let kind = args.content_type.as_deref().unwrap_or("application/octet-stream");
    let answer = block_on(upload(&server, &path, kind, &args.file))?;
    let answer = answer.map_err(|failed| failed as Box<dyn Error>)?;
    if args.json {
        return print_json(&answer);
    }
    println!("{}", serde_json::from_slice::<Uploaded>(&answer)?.artifact_key);
    Ok(())
}

async fn upload(server: &Remote, path: &str, kind: &str, file: &Path) -> Result<Bytes, Failure> {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::try_from(kind)?);
    let body = if file == Path::new("-") {
        transfer::body_of(tokio::io::stdin())
    } else {
        let shown = |error: io::Error| format!("{}: {error}", file.display());
        let opened = File::open(file).await.map_err(shown)?;
        let facts = opened.metadata().await.map_err(shown)?;
        // The server can refuse a file that is too large at once.
        if facts.is_file() {
            headers.insert(header::CONTENT_LENGTH, facts.len().into());
        }
        transfer::body_of(opened)
    };
    let response = call(server, Method::POST, path, headers, body).await?;
    let answer = timeout(DEADLINE, response.into_body().collect()).await??;
    Ok(answer.to_bytes())
}
