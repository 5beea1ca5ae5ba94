//! `helmdeck login` and `helmdeck logout`: store a server address and a token.

use std::{
    error::Error,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use bytes::Bytes;
use http::Method;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    local::Config,
    prompt::read_secret,
    remote::Remote,
    rest::{DEADLINE, ask},
};

/// Which server, and how to log in.
#[derive(clap::Args)]
pub struct Args {
    /// The server, such as http://localhost:3000.
    #[arg(value_name = "URL")]
    url: String,
    /// Read a token from standard input instead of asking for a password.
    #[arg(long)]
    token_stdin: bool,
    /// The user name.
    #[arg(long, default_value = "admin")]
    username: String,
    /// A PEM file with certificates to trust, such as a self-signed server's own. It is remembered.
    #[arg(long, value_name = "FILE", env = "HELMDECK_CA_FILE")]
    ca_file: Option<PathBuf>,
}

/// A server and its token.
#[derive(Deserialize)]
pub struct Remembered {
    pub url: String,
    pub token: SecretString,
    /// Certificates to trust.
    #[serde(default)]
    pub ca_file: Option<PathBuf>,
}

/// Logs in and stores the login.
pub fn run(config: &Config, args: &Args) -> Result<(), Box<dyn Error>> {
    let url = args.url.trim_end_matches('/');
    // Later commands run elsewhere.
    let ca_file = args.ca_file.as_deref().map(std::path::absolute).transpose()?;
    let ca_file = ca_file.as_deref();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let token = if args.token_stdin {
        read_secret("Token", "a token")?.trim().to_owned()
    } else {
        let question = format!("Password of {} at {url}", args.username);
        let password = SecretString::from(read_secret(&question, "a password")?);
        let body = json!({ "username": args.username, "password": password.expose_secret() });
        let nobody = Remote::new(config, Some(url), Some(&SecretString::from("none")), ca_file)?;
        let body = Bytes::from(body.to_string());
        let login = ask(&nobody, Method::POST, "/api/v1/auth/login", body, DEADLINE);
        let answer = helmdeck_task::block_on(&runtime, login)?;
        let answer: serde_json::Value = serde_json::from_slice(&answer.body)?;
        answer.get("token").and_then(|token| token.as_str()).unwrap_or_default().to_owned()
    };
    let secret = SecretString::from(token.clone());
    let server = Remote::new(config, Some(url), Some(&secret), ca_file)?;
    let me = ask(&server, Method::GET, "/api/v1/auth/me", Bytes::new(), DEADLINE);
    let me: serde_json::Value =
        serde_json::from_slice(&helmdeck_task::block_on(&runtime, me)?.body)?;
    remember(url, &token, ca_file)?;
    let text = |name: &str| me.get(name).and_then(|it| it.as_str()).unwrap_or_default().to_owned();
    println!("Logged in to {url} as {} until {}.", text("subject"), text("expires_at"));
    Ok(())
}

/// Deletes the stored login.
pub fn forget() -> Result<(), Box<dyn Error>> {
    match fs::remove_file(path()?) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// The stored login, if there is one.
pub fn remembered() -> Result<Option<Remembered>, Box<dyn Error>> {
    let Ok(path) = path() else { return Ok(None) };
    match fs::read(&path) {
        Ok(text) => Ok(Some(serde_json::from_slice(&text).map_err(|error| {
            format!("{}: {error}; log in again: helmdeck login URL", path.display())
        })?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{}: {error}", path.display()).into()),
    }
}

/// Whether two addresses belong to the same server.
pub fn same_server(one: &str, other: &str) -> bool {
    one.trim_end_matches('/').eq_ignore_ascii_case(other.trim_end_matches('/'))
}

/// Stores the login, readable by this user only.
fn remember(url: &str, token: &str, ca_file: Option<&Path>) -> Result<(), Box<dyn Error>> {
    #[derive(Serialize)]
    struct Written<'a> {
        url: &'a str,
        token: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        ca_file: Option<&'a Path>,
    }
    let path = path()?;
    if let Some(dir) = path.parent() {
        private_dir().create(dir)?;
    }
    let new = path.with_extension("new");
    let mut file = private_file().open(&new)?;
    file.write_all(&serde_json::to_vec(&Written { url, token, ca_file })?)?;
    file.sync_all()?;
    fs::rename(&new, &path)?;
    Ok(())
}

fn path() -> Result<PathBuf, Box<dyn Error>> {
    let absolute =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let dir = if cfg!(windows) {
        absolute("APPDATA").ok_or("APPDATA is not set: the login cannot be stored")?
    } else {
        absolute("XDG_CONFIG_HOME")
            .or_else(|| absolute("HOME").map(|home| home.join(".config")))
            .ok_or("HOME is not set: the login cannot be stored")?
    };
    Ok(dir.join("helmdeck").join("login.json"))
}

/// Creates directories that only this user can enter. On Windows, the user's folder is private.
fn private_dir() -> fs::DirBuilder {
    let mut dir = fs::DirBuilder::new();
    dir.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut dir, 0o700);
    dir
}

/// Creates or replaces files that only this user can read.
fn private_file() -> fs::OpenOptions {
    let mut file = fs::OpenOptions::new();
    file.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut file, 0o600);
    file
}
