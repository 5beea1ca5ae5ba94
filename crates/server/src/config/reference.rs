//! Generates `docs/settings.md` from the doc comments of the settings, and checks that it is
//! current.

use std::{fmt::Write, fs, path::Path};

use super::{Config, ConfigError};

/// Files whose doc comments describe settings.
const SOURCES: [&str; 13] = [
    include_str!("../config.rs"),
    include_str!("action_log.rs"),
    include_str!("artifacts.rs"),
    include_str!("s3.rs"),
    include_str!("audit_log.rs"),
    include_str!("documents.rs"),
    include_str!("pack_switches.rs"),
    include_str!("live.rs"),
    include_str!("models.rs"),
    include_str!("endpoints.rs"),
    include_str!("tls.rs"),
    include_str!("tracing.rs"),
    include_str!("vault.rs"),
];

const BEFORE: &str = "\
# Settings

<!-- Generated from crates/server/src/config.rs. Do not edit: see \"Update this page\" below. -->

Set an environment variable, or write the same name without the prefix and in lower case in
`helmdeck.toml` in the data directory:

```toml
addr = \"127.0.0.1:3001\"
max_sessions = 8
```

A variable overrides the file; an empty variable counts as unset. An unknown key in the file stops the
server, and an unknown `HELMDECK_*` variable logs a warning. `helmdeck config` prints every setting with its
value and where the value comes from; secrets are hidden. Settings are read when the server starts; `make up`
restarts a running server whose settings changed.

";

const AFTER: &str = "
These variables are not settings of the server:

| variable | meaning |
|---|---|
| `HELMDECK_CONFIG` | the settings file to read instead of `helmdeck.toml` in the data directory |
| `HELMDECK_URL` | the server that commands such as `helmdeck session` and `helmdeck attach` call |
| `HELMDECK_TOKEN` | the token that these commands send |
| `HELMDECK_CA_FILE` | a PEM file with certificates that these commands trust besides those of the system |
| `HELMDECK_BIN` | the binary that the scripts and tests of this repository use instead of building one |

## Update this page

A test compares this page with the doc comments in the source. After changing a setting, run:

```sh
HELMDECK_UPDATE_SNAPSHOTS=1 cargo nextest run -p helmdeck-server settings_page
```
";

/// Invalid values. Every setting with a rule refuses at least one of them, and names its rule.
fn bad_values() -> [String; 3] {
    ["\u{7f}".to_owned(), "=".to_owned(), "x".repeat(1000)]
}

struct Documented {
    variables: Vec<String>,
    meaning: String,
    default: String,
}

#[test]
fn the_settings_page_describes_every_setting() {
    let dir = tempfile::tempdir().unwrap();
    let load = |name: &str, value: &str| {
        let here = ("HELMDECK_DATA_DIR".to_owned(), dir.path().to_str().unwrap().to_owned());
        Config::load(None, [here, (name.to_owned(), value.to_owned())].into_iter())
    };
    let known: Vec<_> = load("HELMDECK_BIN", "")
        .unwrap()
        .origins
        .iter()
        .map(|(key, _)| format!("HELMDECK_{}", key.to_ascii_uppercase()))
        .collect();
    let documented: Vec<_> = SOURCES.into_iter().flat_map(documented).collect();

    let mut page =
        format!("{BEFORE}| variable | default | values | meaning |\n|---|---|---|---|\n");
    let mut listed = Vec::new();
    for variable in &known {
        if listed.contains(variable) {
            continue;
        }
        let setting = documented.iter().find(|setting| setting.variables.contains(variable));
        let setting = setting.unwrap_or_else(|| panic!("{variable} has no doc comment"));
        let names: Vec<_> = setting.variables.iter().map(|name| format!("`{name}`")).collect();
        let mut values: Vec<_> = setting
            .variables
            .iter()
            .filter_map(|name| {
                bad_values().iter().find_map(|value| match load(name, value) {
                    Err(ConfigError::Value { allowed, .. }) => Some(allowed),
                    _ => None,
                })
            })
            .collect();
        // Settings of one kind share their rule.
        if setting.variables.len() > 2 {
            values.dedup();
        }
        let (names, values) = (names.join("<br>"), values.join("<br>"));
        let Documented { meaning, default, .. } = setting;
        writeln!(page, "| {names} | {default} | {values} | {meaning} |").unwrap();
        listed.extend(setting.variables.iter().cloned());
    }
    page += AFTER;
    for name in documented.iter().flat_map(|setting| &setting.variables) {
        assert!(known.contains(name), "{name} has a doc comment and is not a setting");
    }

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/settings.md");
    if std::env::var_os("HELMDECK_UPDATE_SNAPSHOTS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap() == page,
        "the settings changed: run HELMDECK_UPDATE_SNAPSHOTS=1 cargo nextest run -p helmdeck-server \
         settings_page, and commit docs/settings.md"
    );
}

/// Doc comments of a source file that begin with a variable's name.
fn documented(source: &str) -> Vec<Documented> {
    let mut found = Vec::new();
    let mut comment = String::new();
    for line in source.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("///") {
            comment += text;
            continue;
        }
        let text = std::mem::take(&mut comment);
        let text = text.trim();
        if !text.starts_with("`HELMDECK_") {
            continue;
        }
        let (names, rest) = text.split_once(": ").unwrap();
        let (meaning, default) = rest
            .split_once(" Default")
            .unwrap_or_else(|| panic!("{names}: the doc comment has to end with \"Default …\""));
        found.push(Documented {
            variables: names.split('`').skip(1).step_by(2).map(str::to_owned).collect(),
            meaning: sentence(meaning),
            default: default.trim_start_matches(':').trim().trim_end_matches('.').to_owned(),
        });
    }
    found
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
