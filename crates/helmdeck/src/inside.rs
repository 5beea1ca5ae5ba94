//! Commands that packs run inside a session, on untrusted files. They read options as JSON and write
//! their result as JSON.

use std::{
    error::Error,
    io::{self, Read, Write},
    path::Path,
    process::ExitCode,
};

use helmdeck_documents::DocumentError;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

/// Exit code for input that cannot be used.
const REFUSED: u8 = 2;
/// Most that is read of the options.
const MAX_OPTIONS: u64 = 1 << 20;

/// Maps the repository in the working directory.
pub fn repo_map() -> Result<ExitCode, Box<dyn Error>> {
    let options: helmdeck_repo_map::Options = options()?;
    match helmdeck_repo_map::map(Path::new("."), &options) {
        Ok(map) => print(&map),
        Err(error) => {
            eprintln!("{error}");
            Ok(ExitCode::from(REFUSED))
        }
    }
}

/// Reads a document as Markdown.
pub fn read_document(path: &Path) -> Result<ExitCode, Box<dyn Error>> {
    let options: helmdeck_documents::Options = options()?;
    match helmdeck_documents::read(path, &options) {
        Ok(document) => print(&document),
        Err(error) => {
            let program = match &error {
                DocumentError::MissingProgram(program) => Some(program),
                _ => None,
            };
            let (code, message) = (error.code(), error.to_string());
            print(&json!({ "error": code, "message": message, "program": program }))?;
            Ok(ExitCode::from(REFUSED))
        }
    }
}

fn options<T: DeserializeOwned>() -> Result<T, Box<dyn Error>> {
    let mut text = String::new();
    io::stdin().take(MAX_OPTIONS).read_to_string(&mut text)?;
    Ok(serde_json::from_str(if text.trim().is_empty() { "{}" } else { &text })?)
}

fn print(result: &impl Serialize) -> Result<ExitCode, Box<dyn Error>> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, result)?;
    out.write_all(b"\n")?;
    Ok(ExitCode::SUCCESS)
}
