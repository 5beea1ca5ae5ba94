//! `cargo xtask repo-map`: compares the symbols of `repo.map` with those of universal-ctags.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    path::Path,
    process::{Command, ExitCode, Stdio},
    time::Instant,
};

use helmdeck_repo_map::{Kind, Options, map, read};
use serde_json::Value;

const USAGE: &str = "\
Usage: cargo xtask repo-map [REPOSITORY...]

Maps each repository (by default, this one), and compares the functions, methods and types that are
found with those of universal-ctags. Fails if less than 95 % of them are found, or if a map exceeds its
budget of tokens. `--missing` lists what was not found.";

/// The part of the functions, methods and types of ctags that must be found.
const ENOUGH: f64 = 0.95;
/// Budgets to try.
const BUDGETS: [usize; 6] = [1, 100, 500, 1500, 10_000, 100_000];
/// The languages of ctags that we know.
const LANGUAGES: &str = "Rust,Go,Python,TypeScript,JavaScript,Java,C";
/// How many missing symbols are listed.
const SHOWN: usize = 40;

/// Symbols, by file and name.
type Found = BTreeSet<(String, String)>;

/// Compares.
pub fn run(root: &Path, args: &[OsString]) -> ExitCode {
    if args.iter().any(|arg| arg == "--help" || arg == "-h") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let lists = args.iter().any(|arg| arg == "--missing");
    let named: Vec<_> = args.iter().filter(|arg| *arg != "--missing").collect();
    let repositories: Vec<&Path> = match named.is_empty() {
        true => vec![root],
        false => named.iter().map(Path::new).collect(),
    };
    println!("| repository | files | symbols of ctags | found | budget kept | time |");
    println!("|---|---|---|---|---|---|");
    let results: Vec<_> = repositories.iter().map(|path| compare(path, lists)).collect();
    match results.iter().all(|good| *good) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn compare(repository: &Path, lists: bool) -> bool {
    let started = Instant::now();
    let files = match read(repository, &Options::default()) {
        Ok((files, _)) => files,
        Err(error) => {
            eprintln!("{}: {error}", repository.display());
            return false;
        }
    };
    let seconds = started.elapsed().as_secs_f64();
    let ours: Found = files
        .iter()
        .flat_map(|file| file.symbols.iter().map(move |symbol| (&file.path, symbol)))
        .filter(|(_, symbol)| !matches!(symbol.kind, Kind::Block))
        // ctags leaves out the mark of private names.
        .map(|(path, symbol)| (path.clone(), symbol.name.trim_start_matches('#').to_owned()))
        .collect();
    let paths: Vec<_> = files.iter().map(|file| file.path.as_str()).collect();
    let Some(theirs) = ctags(repository, &paths) else { return false };
    let missing: Vec<_> = theirs.difference(&ours).collect();
    let part = 1.0 - missing.len() as f64 / theirs.len().max(1) as f64;
    let kept = BUDGETS.iter().all(|budget| {
        let options = Options { token_budget: *budget, ..Options::default() };
        map(repository, &options).is_ok_and(|map| {
            map.tokens_estimated <= *budget && map.map.len().div_ceil(4) <= *budget
        })
    });
    let name = repository.canonicalize().unwrap_or_else(|_| repository.to_owned());
    let name = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
    println!(
        "| {name} | {} | {} | {:.2} % | {} | {seconds:.2} s |",
        files.len(),
        theirs.len(),
        100.0 * part,
        if kept { "yes" } else { "NO" },
    );
    if lists {
        let mut by_ending: BTreeMap<&str, usize> = BTreeMap::new();
        for (path, _) in &missing {
            *by_ending.entry(path.rsplit('.').next().unwrap_or_default()).or_default() += 1;
        }
        eprintln!("missing by language: {by_ending:?}");
        for (path, name) in missing.iter().take(SHOWN) {
            eprintln!("missing: {path}: {name}");
        }
    }
    kept && part >= ENOUGH
}

/// The functions, methods and types that ctags finds.
fn ctags(repository: &Path, paths: &[&str]) -> Option<Found> {
    use std::io::Write;
    let mut child = Command::new("ctags")
        .args(["--output-format=json", "--fields=+KlZ", "-f", "-", "-L", "-"])
        .arg(format!("--languages={LANGUAGES}"))
        // Headers of C, not of C++.
        .args(["--map-C=+.h", "--map-TypeScript=+.tsx", "--kinds-C=+p", "--kinds-Go=+n"])
        .current_dir(repository)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| {
            eprintln!("ctags: {error}; install it with scripts/packages.sh install test")
        })
        .ok()?;
    let list = paths.join("\n");
    let mut stdin = child.stdin.take()?;
    let writing = std::thread::spawn(move || stdin.write_all(list.as_bytes()));
    let output = child.wait_with_output().ok()?;
    let _ = writing.join();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(text.lines().filter_map(|line| wanted(&serde_json::from_str(line).ok()?)).collect())
}

/// Kinds of ctags that are functions, methods or types.
#[rustfmt::skip]
const KINDS: [&str; 19] = [
    "alias", "annotation", "class", "enum", "func", "function", "generator", "getter", "interface", "method",
    "methodSpec", "record", "setter", "struct", "talias", "trait", "type", "typedef", "union",
];

/// A tag of ctags that we should find.
fn wanted(tag: &Value) -> Option<(String, String)> {
    let text = |field: &str| tag.get(field).and_then(Value::as_str);
    let (kind, name, path) = (text("kind")?, text("name")?, text("path")?);
    let (language, line) = (text("language")?, text("pattern").unwrap_or_default());
    let is_wanted = match (language, kind) {
        // Prototypes outside headers only announce what follows.
        ("C", "prototype") => path.ends_with(".h"),
        // ctags calls methods members.
        ("Python", "member") => true,
        // It takes object literals for classes.
        ("JavaScript", "class") => line.contains("class") || line.contains("function"),
        (_, kind) => KINDS.contains(&kind),
    };
    let made_up = ["__anon", "anonymous", "AnonymousFunction"];
    let is_named = !name.is_empty() && !made_up.iter().any(|start| name.starts_with(start));
    (is_wanted && is_named).then(|| (path.to_owned(), name.to_owned()))
}
