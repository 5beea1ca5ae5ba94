//! Changes the settings of a client, or runs the client's own program to do it.

use std::{error::Error, process::Stdio, time::Duration};

use helmdeck_wire::connect::{
    ClientCommand, Format, KnownClient, Place, SERVER_NAME, SettingsFile, Setup,
};
use serde_json::Value;
use tokio::{process::Command, time::timeout};

use super::{config_file::ConfigFile, json, paths, toml, yaml};
use crate::tools::block_on;

/// Deadline of a client's own program.
const PROGRAM_DEADLINE: Duration = Duration::from_secs(60);

/// Fails if [`apply`] would, without changing anything.
pub fn check(client: &KnownClient, setup: &Setup<'_>) -> Result<(), Box<dyn Error>> {
    match client.place {
        Place::Command { program } if paths::find_program(program).is_none() => Err(format!(
            "there is no program `{program}` on the PATH: install {}, or print what to do with \
             --print",
            client.title
        )
        .into()),
        Place::File(file) => {
            changed(client, file, setup)?;
            Ok(())
        }
        Place::Command { .. } | Place::Unknown => Ok(()),
    }
}

/// Adds helmdeck to the client's settings. Returns what was done, line by line.
pub fn apply(client: &KnownClient, setup: &Setup<'_>) -> Result<Vec<String>, Box<dyn Error>> {
    match client.place {
        Place::Command { .. } => {
            let command = client.command(setup).ok_or("the client has no command")?;
            run(client, &command, setup.token)
        }
        Place::File(file) => {
            let (config, text) = changed(client, file, setup)?;
            let path = config.path().display().to_string();
            let backup = config.replace(&text)?;
            let mut done = vec![format!("Added helmdeck to {path}.")];
            if let Some(backup) = backup {
                done.push(format!("The file as it was before: {}", backup.display()));
            }
            if config.is_readable_by_others() {
                done.push(format!("Others on this machine can read the token: chmod 600 {path}"));
            }
            Ok(done)
        }
        Place::Unknown => Err("there is nothing to write for this client".into()),
    }
}

/// The file, and its new text.
fn changed(
    client: &KnownClient,
    file: SettingsFile,
    setup: &Setup<'_>,
) -> Result<(ConfigFile, String), Box<dyn Error>> {
    let config = ConfigFile::read(paths::settings_file(file)?)?;
    let entry = client.entry(setup);
    let text = match file.format {
        Format::Json if client.id == "opencode" => {
            put_for_opencode(config.text(), file.keys, entry)
        }
        Format::Json => json::put(config.text(), file.keys, &entry),
        Format::Toml => toml::put(config.text(), file.keys, &entry),
        Format::Yaml => yaml::put(config.text(), file.keys, &entry),
    };
    let text = text.map_err(|why| {
        format!(
            "{}: {why}. Nothing was changed: correct the file, or add the entry yourself with \
             --print",
            config.path().display()
        )
    })?;
    Ok((config, text))
}

/// opencode 2 has servers one level deeper, and still reads the settings of version 1.
fn put_for_opencode(text: &str, keys: &[&str], mut entry: Value) -> Result<String, String> {
    if !json::has_object(text, &["mcp", "servers"]) {
        return json::put(text, keys, &entry);
    }
    if let Value::Object(entry) = &mut entry {
        entry.remove("enabled");
    }
    json::put(text, &["mcp", "servers", SERVER_NAME], &entry)
}

fn run(
    client: &KnownClient,
    command: &ClientCommand,
    token: &str,
) -> Result<Vec<String>, Box<dyn Error>> {
    let ClientCommand { program, add, remove, remove_first } = command;
    if *remove_first {
        // Fails if helmdeck is not there.
        let _ = start(program, remove)?;
    }
    let (succeeded, said) = start(program, add)?;
    if !succeeded {
        let said = said.replace(token, "<token>");
        return Err(format!("`{program}` failed: {}", said.trim()).into());
    }
    Ok(vec![format!("Added helmdeck to {} with `{program}`, for all projects.", client.title)])
}

/// Whether a program succeeded, and its output.
fn start(program: &str, args: &[String]) -> Result<(bool, String), Box<dyn Error>> {
    let mut child = Command::new(program);
    child.args(args).stdin(Stdio::null()).kill_on_drop(true);
    let output = block_on(async { timeout(PROGRAM_DEADLINE, child.output()).await })?;
    let late = |_| format!("`{program}` takes longer than {} s", PROGRAM_DEADLINE.as_secs());
    let output = output.map_err(late)?.map_err(|error| format!("`{program}`: {error}"))?;
    let said = [output.stdout, output.stderr].concat();
    Ok((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
}
