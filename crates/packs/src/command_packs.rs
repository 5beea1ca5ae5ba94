//! Packs of the operator: every program in a folder is one, named `cmd.NAME` (ADR 56).
//!
//! A program gets its input as JSON on standard input and writes its output as JSON. It runs in a
//! session, never on the server.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::Arc,
};

use bytes::Bytes;
use helmdeck_schema::Schema;
use helmdeck_wire::{ErrorCode, exec::Exec, nature::Nature, session::Mode};
use parking_lot::Mutex;
use serde_json::{Map, Value};

use crate::{
    Context, Pack, PackError, PackResult, Routing, SessionNeed, context::command,
    manifest::Declared, session_file::JobFolder,
};

/// The ending of manifests.
const MANIFEST: &str = ".helmdeck-pack.yaml";
/// Most packs of a folder.
const MAX_PACKS: usize = 200;
/// Largest program.
const MAX_PROGRAM: u64 = 64 << 20;
/// Largest manifest.
const MAX_MANIFEST: u64 = 256 << 10;
/// How much of an output is kept at least.
const QUOTABLE: u32 = 64 << 10;
/// Longest name, without `cmd.`.
const MAX_NAME: usize = 50;

/// A folder with packs.
pub struct CommandPacks {
    folder: PathBuf,
    seen: Mutex<Option<Fingerprint>>,
}

/// What is in a folder: names with their times of change, sizes and modes.
type Fingerprint = BTreeMap<PathBuf, (i64, i64, u64, u32)>;

impl CommandPacks {
    /// The packs in this folder.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, seen: Mutex::new(None) }
    }

    /// The packs, if the folder changed since the last call.
    pub fn changed(&self) -> Option<Vec<Pack>> {
        let (now, problem) = match fingerprint(&self.folder) {
            Ok(now) => (now, None),
            Err(error) => (Fingerprint::new(), Some(error)),
        };
        let mut seen = self.seen.lock();
        if seen.as_ref() == Some(&now) {
            return None;
        }
        if let Some(error) = problem {
            tracing::warn!(%error, "The folder of the operator's packs cannot be read");
        }
        let packs = packs(&now);
        let broken = packs.iter().filter(|pack| pack.off.is_some()).count();
        tracing::info!(packs = packs.len(), broken, "Read the operator's packs");
        *seen = Some(now);
        Some(packs)
    }
}

fn fingerprint(folder: &Path) -> io::Result<Fingerprint> {
    let mut found = Fingerprint::new();
    for entry in fs::read_dir(folder)?.flatten() {
        let path = entry.path();
        // Follows links, because operators link programs.
        if let Ok(facts) = fs::metadata(&path)
            && facts.is_file()
        {
            let mode = facts.permissions().mode();
            found.insert(path, (facts.mtime(), facts.mtime_nsec(), facts.len(), mode));
        }
    }
    Ok(found)
}

fn packs(files: &Fingerprint) -> Vec<Pack> {
    let is_manifest = |path: &Path| path.to_string_lossy().ends_with(MANIFEST);
    let is_program = |mode: u32| mode & 0o111 != 0;
    let programs = files.iter().filter(|(path, facts)| is_program(facts.3) && !is_manifest(path));
    let mut programs = programs.map(|(path, facts)| (path.as_path(), facts.2));
    let mut taken: BTreeSet<String> =
        crate::packs::all().into_iter().map(|pack| pack.name).collect();
    let mut packs: Vec<_> = programs
        .by_ref()
        .take(MAX_PACKS)
        .filter_map(|(path, size)| {
            let name = name_of(path)?;
            let free = free_name(&taken, &name);
            taken.insert(free.clone());
            if free == name {
                return load(&name, path, size);
            }
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            Some(broken(&free, format!("{file}: the name {name} is taken; rename the program")))
        })
        .collect();
    let more = programs.count();
    if more > 0 {
        let reason = format!(
            "a folder has at most {MAX_PACKS} packs: {more} more programs are left out, the last ones by name"
        );
        packs.push(broken(&free_name(&taken, "cmd.left-out"), reason));
    }
    packs
}

/// The name of the pack of a program; `None` if it has no letters.
fn name_of(path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_str()?;
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = stem.chars().map(plain).take(MAX_NAME).collect();
    let name = name.trim_matches('-');
    (!name.is_empty()).then(|| format!("cmd.{name}"))
}

/// A name that no pack has: the second `cmd.run` is `cmd.run-2`.
fn free_name(taken: &BTreeSet<String>, name: &str) -> String {
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !taken.contains(name)).unwrap_or_default()
}

/// The pack of a program.
fn load(name: &str, path: &Path, size: u64) -> Option<Pack> {
    let stem = path.file_stem()?.to_str()?;
    let declared = if size > MAX_PROGRAM {
        Err(format!("the program has {size} bytes; the limit is {MAX_PROGRAM} bytes"))
    } else {
        manifest(&path.with_file_name(format!("{stem}{MANIFEST}")))
    };
    Some(match declared {
        Ok(declared) => pack(name, path.to_owned(), declared),
        Err(reason) => broken(name, reason),
    })
}

fn manifest(path: &Path) -> Result<Declared, String> {
    let shown = path.file_name().unwrap_or_default().to_string_lossy();
    match fs::metadata(path) {
        Err(_) => return Ok(Declared::default()),
        Ok(facts) if facts.len() > MAX_MANIFEST => return Err(format!("{shown} is too large")),
        Ok(_) => {}
    }
    let text = fs::read_to_string(path).map_err(|error| format!("{shown}: {error}"))?;
    let declared = Declared::parse(&text, |name| std::env::var(name).ok());
    declared.map_err(|error| format!("{shown}: {error}"))
}

/// A pack whose manifest is wrong: it is listed, and says so when it is called.
fn broken(name: &str, reason: String) -> Pack {
    let why = reason.clone();
    let run = move |_: Context, _: Map<String, Value>| {
        let error = PackError::new(ErrorCode::NotReady, why.clone()).permanent();
        std::future::ready(Err::<Value, _>(error))
    };
    let mut pack = Pack::new(name, run).doc("A program of the operator that cannot run.");
    pack.declared_input = Some(Declared::default().input);
    pack.off = Some(reason);
    pack
}

fn pack(name: &str, program: PathBuf, declared: Declared) -> Pack {
    let output = declared.output.clone().and_then(|schema| Schema::new(schema).ok()).map(Arc::new);
    let shared = Arc::new((program, declared.clone()));
    let run = move |context: Context, input: Map<String, Value>| {
        let (shared, output) = (shared.clone(), output.clone());
        async move {
            let (program, declared) = &*shared;
            let written = run(&context, program, declared, input).await?;
            if let Some(schema) = output {
                schema.check(&written).map_err(|wrong| {
                    PackError::new(ErrorCode::InvalidOutput, format!("its output: {wrong}"))
                })?;
            }
            Ok(written)
        }
    };
    let default = format!("Run {name}, a program of the operator.");
    // In a session of the caller, its programs could read the values.
    let session = match declared.from_server.is_empty() {
        true => SessionNeed::OneShot(Mode::Headless),
        false => SessionNeed::Private(Mode::Headless),
    };
    let mut pack = Pack::new(name, run)
        .doc(declared.description.as_deref().unwrap_or(&default))
        .nature(Nature { open_world: true, ..Nature::default().in_sandbox() })
        .session(session)
        .timeout_s(declared.timeout_s + 60)
        .routing(Routing {
            accepts: &["json"],
            produces: &["json"],
            intent_keywords: &["operator", "custom"],
            typical_use: "A program that the operator of this server provides.",
            limitations: &[],
        });
    pack.version = declared.version;
    pack.returns_handle = declared.returns_handle;
    pack.declared_input = Some(declared.input);
    pack
}

/// Copies the program into the session, runs it there, and reads its output.
async fn run(
    context: &Context,
    program: &Path,
    declared: &Declared,
    input: Map<String, Value>,
) -> PackResult<Value> {
    let gone = |error: io::Error| {
        PackError::new(ErrorCode::NotReady, format!("the program cannot be read: {error}"))
    };
    let values = declared.from_server.iter().filter_map(|name| declared.env.get(name));
    values.for_each(|value| context.secrets.add(value));
    let content = tokio::fs::read(program).await.map_err(gone)?;
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let folder = JobFolder::of(context);
    let path = folder.put(context, &name, Bytes::from(content)).await?;
    context.output(command(["chmod", "700", "--", &path])).await?;
    context.progress(0.3, "running the program");
    let exec = Exec {
        stdin: Some(Value::Object(input).to_string()),
        env: declared.env.clone(),
        timeout_s: declared.timeout_s,
        // Sessions leave out the middle, which may cut a value: not where an error quotes the output.
        max_output_bytes: declared.max_output_bytes.max(QUOTABLE),
        ..command([path.as_str()])
    };
    let state = context.exec(exec).await;
    let state = state?;
    if state.exit_code != Some(0) {
        return Err(context.failed(&name, &state));
    }
    let written = state.stdout.unwrap_or_default();
    let invalid = |message: String| PackError::new(ErrorCode::InvalidOutput, message);
    if state.stdout_truncated || written.len() > declared.max_output_bytes as usize {
        let most = declared.max_output_bytes;
        return Err(invalid(format!("{name} wrote more than {most} bytes, its max_output_bytes")));
    }
    if written.trim().is_empty() {
        return Err(invalid(format!("{name} wrote nothing; its output is one JSON value")));
    }
    serde_json::from_str(written.trim()).map_err(|error| {
        // Values are replaced before it is cut: a part of one would not be recognised.
        let start: String = context.secrets.redactor().apply(&written).chars().take(200).collect();
        invalid(format!("{name} did not write JSON ({error}): {start}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str, u32)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, content, mode) in files {
            let path = dir.path().join(name);
            fs::write(&path, content).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(*mode)).unwrap();
        }
        dir
    }

    #[test]
    fn every_program_is_a_pack_and_a_wrong_manifest_is_its_reason() {
        let dir = folder(&[
            ("Word-Count.sh", "#!/bin/sh\n", 0o755),
            ("Word-Count.helmdeck-pack.yaml", "description: Counts words.\nversion: v3\n", 0o755),
            ("bad.py", "", 0o700),
            ("bad.helmdeck-pack.yaml", "timeout: 3\n", 0o644),
            ("notes.txt", "", 0o644),
            ("plain", "", 0o755),
        ]);
        let folder = CommandPacks::new(dir.path().to_owned());
        let packs = folder.changed().unwrap();
        let names: Vec<_> = packs.iter().map(|pack| (&*pack.name, pack.version)).collect();
        assert_eq!(names, [("cmd.word-count", 3), ("cmd.bad", 1), ("cmd.plain", 1)]);
        assert_eq!(packs[0].doc, "Counts words.");
        let reason = packs[1].off.as_deref().unwrap();
        assert!(
            reason.starts_with("bad.helmdeck-pack.yaml: ") && reason.contains("timeout"),
            "{reason}"
        );
        assert!(folder.changed().is_none(), "nothing changed");
        fs::write(dir.path().join("bad.helmdeck-pack.yaml"), "timeout_s: 3\n").unwrap();
        assert!(folder.changed().unwrap().iter().all(|pack| pack.off.is_none()));
        fs::remove_file(dir.path().join("plain")).unwrap();
        assert_eq!(folder.changed().unwrap().len(), 2);
    }

    #[test]
    fn a_program_whose_name_is_taken_or_that_is_too_much_is_listed_with_a_reason() {
        let many: Vec<_> = (0..MAX_PACKS).map(|number| format!("p{number:03}")).collect();
        let mut files = vec![("a_b.py", "", 0o755), ("a-b.sh", "", 0o755), ("run", "", 0o755)];
        files.extend(many.iter().map(|name| (name.as_str(), "", 0o755)));
        let dir = folder(&files);
        let packs = CommandPacks::new(dir.path().to_owned()).changed().unwrap();
        assert_eq!(packs.len(), MAX_PACKS + 1);
        let off = packs.iter().filter_map(|pack| Some((&*pack.name, pack.off.as_deref()?)));
        let off: Vec<_> = off.collect();
        let left_out =
            "a folder has at most 200 packs: 3 more programs are left out, the last ones by name";
        assert_eq!(
            off,
            [
                ("cmd.a-b-2", "a_b.py: the name cmd.a-b is taken; rename the program"),
                ("cmd.left-out", left_out)
            ]
        );
        let dir = folder(&[("run", "", 0o755)]);
        let packs = CommandPacks::new(dir.path().to_owned()).changed().unwrap();
        assert_eq!(packs[0].name, "cmd.run-2");
        assert!(packs[0].off.as_deref().unwrap().contains("the name cmd.run is taken"));
    }

    #[test]
    fn a_folder_that_does_not_exist_has_no_packs() {
        let folder = CommandPacks::new("/no/such/folder".into());
        assert!(folder.changed().unwrap().is_empty());
    }
}
