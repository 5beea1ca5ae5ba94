//! Generates `docs/PACKS.md` from the packs, and checks that it is current.

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use helmdeck_wire::{
    nature::{Effect, Surface},
    session::Mode,
};

use crate::{Example, ModelNeed, Pack, SessionNeed, packs};

const BEFORE: &str = "\
# Packs

<!-- Generated from crates/packs/src/packs. Do not edit: see \"Update this page\" below. -->

Every pack of this version. `GET /api/v1/packs/{name}` has the schemas of input and output, and says if a pack
is unavailable on a server, and why. The [guide](packs-guide.md) explains how to call them.

| pack | what it does | session | needs | surface | changes | tested |
|---|---|---|---|---|---|---|
";

const AFTER: &str = "
**session**: *new* ends with the call, *kept* stays for the next one, *existing* is one that an earlier call left.
All but those with *none* take `_session_id` or `workspace` for a session of yours. **surface**: whether people who
watch can see it. **tested**: a test calls the pack by name, *API* with a fake guest over HTTP, *real* with the real
programs in a sandbox. Packs without a session run no programs there. One test gives every pack input that
its schema refuses, and one checks every example of this page.

Operators can add their own packs: see [the guide](packs-guide.md#your-own-packs). They can disable those that act
outside of sessions, with the [settings](settings.md) `HELMDECK_EMAIL_ENABLED`, `HELMDECK_GITHUB_ENABLED`,
`HELMDECK_HTTP_FETCH_ENABLED` and `HELMDECK_REPO_PUSH_ENABLED`.

## Examples

Inputs for `POST /api/v1/packs/{name}`. `helmdeck pack describe NAME` shows them as commands.

| pack | | input |
|---|---|---|
EXAMPLES
## Update this page

A test compares this page with the packs. After a change, run:

```sh
HELMDECK_UPDATE_SNAPSHOTS=1 cargo nextest run -p helmdeck-packs packs_page
```
";

#[test]
fn the_packs_page_describes_every_pack_and_how_it_is_tested() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let fakes = sources(&crates.join("server/tests/api"), |_| true);
    // Some tests of the command line call servers with fake guests.
    let real = sources(&crates.join("helmdeck/tests/e2e"), |text| !text.contains("FakeServer"));
    let mut page = BEFORE.to_owned();
    let mut packs = packs::all();
    packs.sort_by(|a, b| a.name.cmp(&b.name));
    for pack in &packs {
        // As the argument of a call, or at the end of a path.
        let (argument, path) = (format!("\"{}\",", pack.name), format!("/{}\"", pack.name));
        let is_called = |sources: &str| sources.contains(&argument) || sources.contains(&path);
        // Without a session, it runs nothing in a sandbox.
        let in_sandbox = pack.needs.session != SessionNeed::None;
        let tested = match (is_called(&fakes), in_sandbox && is_called(&real)) {
            (true, true) => "API, real",
            (true, false) => "API",
            (false, true) => "real",
            (false, false) => panic!("no test calls {}", pack.name),
        };
        writeln!(page, "{} {tested} |", row(pack)).unwrap();
    }
    let examples: String = packs.iter().map(examples).collect();
    page += &AFTER.replace("EXAMPLES\n", &format!("{examples}\n"));
    let path = crates.join("../docs/PACKS.md");
    if std::env::var_os("HELMDECK_UPDATE_SNAPSHOTS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap_or_default() == page,
        "the packs changed: run HELMDECK_UPDATE_SNAPSHOTS=1 cargo nextest run -p helmdeck-packs \
         packs_page, and commit docs/PACKS.md"
    );
}

#[test]
fn packs_spend_money_if_they_use_a_model() {
    for pack in packs::all() {
        let spends = pack.nature.effect == Effect::SpendsMoney;
        assert_eq!(spends, pack.needs.model != ModelNeed::None, "{}", pack.name);
    }
}

fn row(pack: &Pack) -> String {
    let doc = pack.doc.replace('|', "\\|");
    let first = doc.split_once(". ").map_or(doc.as_str(), |(first, _)| first);
    let mode = |mode| if mode == Mode::Desktop { " desktop" } else { "" };
    let session = match pack.needs.session {
        SessionNeed::None => "none".to_owned(),
        SessionNeed::OneShot(of) | SessionNeed::Private(of) => format!("new{}", mode(of)),
        SessionNeed::Keeps(of) => format!("kept{}", mode(of)),
        SessionNeed::Existing => "existing".to_owned(),
    };
    let code = |name: &&str| format!("`{name}`");
    let mut needs: Vec<_> = pack.needs.programs.iter().map(code).collect();
    needs
        .extend(pack.needs.optional_programs.iter().map(|name| format!("`{name}` for part of it")));
    needs.extend(pack.needs.credential.map(|name| format!("credential `{name}`")));
    needs.extend(match pack.needs.model {
        ModelNeed::None => None,
        ModelNeed::Vision => Some("a model in vision mode".to_owned()),
        ModelNeed::Always => Some("a model".to_owned()),
    });
    let surface = match pack.nature.surface {
        Surface::Headless => "not visible",
        Surface::Visible => "visible",
        Surface::Both => "visible on a desktop",
    };
    let changes = pack.nature.effect.words();
    let (name, first, needs) = (&pack.name, first.trim_end_matches('.'), needs.join(", "));
    format!("| `{name}` | {first} | {session} | {needs} | {surface} | {changes} |")
}

fn examples(pack: &Pack) -> String {
    let row = |example: &Example| {
        let input = example.input.to_string().replace('|', "\\|");
        format!("| `{}` | {} | `{input}` |\n", pack.name, example.title)
    };
    pack.examples.iter().map(row).collect()
}

/// The text of the wanted sources in a folder, and in its folders.
fn sources(folder: &Path, wanted: impl Fn(&str) -> bool) -> String {
    let mut text = String::new();
    let mut open: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => open.push(path),
                false => {
                    let source = fs::read_to_string(path).unwrap_or_default();
                    text += if wanted(&source) { &source } else { "" };
                }
            }
        }
    }
    text
}
