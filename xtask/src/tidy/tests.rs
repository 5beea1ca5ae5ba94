//! Every rule fails on a planted violation, and this repository passes.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::{Crate, Dependency, Package, Report, Repository, check, check_repository};

/// A small repository without violations until one is planted.
struct Planted {
    dir: TempDir,
    crates: Vec<Crate>,
    packages: Vec<Package>,
}

impl Planted {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let planted = Self { dir, crates: Vec::new(), packages: Vec::new() };
        planted.file("ARCHITECTURE.md", "# Architecture\n")
    }

    fn file(self, path: &str, text: &str) -> Self {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn with_crate(mut self, name: &str, dependencies: &[(&str, bool)]) -> Self {
        let manifest = format!("crates/{}/Cargo.toml", name.trim_start_matches("helmdeck-"));
        let dependencies = dependencies
            .iter()
            .map(|(name, dev)| (name.trim_end_matches('*'), *dev, name.ends_with('*')))
            .map(|(name, dev, any_version)| Dependency { name: name.to_owned(), dev, any_version });
        self.crates.push(Crate {
            name: name.to_owned(),
            manifest,
            dependencies: dependencies.collect(),
        });
        self
    }

    fn with_package(mut self, name: &str, licence: Option<&str>, source: &str) -> Self {
        let (name, version, source) = (name.to_owned(), "1.0.0".to_owned(), source.to_owned());
        let licence = licence.map(str::to_owned);
        self.packages.push(Package { name, version, licence, source });
        self
    }

    fn report(self) -> Report {
        let repository = Repository::with_crates(self.dir.path(), self.crates).unwrap();
        let repository = repository.with_packages(self.packages);
        let mut report = Report::default();
        check_repository(&repository, &mut report);
        report
    }

    /// `path:line: what` of each violation.
    fn violations(self) -> Vec<String> {
        let violations = self.report().violations;
        violations.iter().map(|v| format!("{}:{}: {}", v.path, v.line, v.what)).collect()
    }
}

#[test]
fn this_repository_is_tidy() {
    let report = check(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    assert!(report.files > 0);
    assert!(report.violations.is_empty(), "\n{report}");
}

#[test]
fn an_empty_repository_is_tidy() {
    assert_eq!(Planted::new().violations(), [""; 0]);
}

#[test]
fn a_crate_may_not_depend_on_its_own_row_or_a_higher_one() {
    let planted = Planted::new()
        .file("ARCHITECTURE.md", "`link` `helmdeck-wire` `crates/guest/src/lib.rs`")
        .file("crates/guest/src/lib.rs", "//! Guest.\n")
        .file("crates/link/Cargo.toml", "[dependencies]\nhelmdeck-runtime.workspace = true\n")
        .with_crate("helmdeck-link", &[("helmdeck-runtime", false), ("helmdeck-wire", false)])
        .with_crate("helmdeck-wire", &[("serde", false), ("helmdeck-sessions", true)])
        .with_crate("helmdeck-guest", &[("helmdeck-testkit", true), ("helmdeck-link", false)]);
    assert_eq!(
        planted.violations(),
        ["crates/link/Cargo.toml:2: helmdeck-link (row 1) depends on helmdeck-runtime (row 1); \
          only lower rows are allowed"]
    );
}

#[test]
fn only_tests_may_use_the_testkit() {
    let planted = Planted::new()
        .file("ARCHITECTURE.md", "`guest`")
        .with_crate("helmdeck-guest", &[("helmdeck-testkit", false)]);
    assert_eq!(
        planted.violations(),
        ["crates/guest/Cargo.toml:1: helmdeck-guest depends on helmdeck-testkit outside its tests"]
    );
}

#[test]
fn a_crate_without_a_row_is_refused() {
    let planted = Planted::new().file("ARCHITECTURE.md", "`new`").with_crate("helmdeck-new", &[]);
    assert_eq!(
        planted.violations(),
        ["crates/new/Cargo.toml:1: the crate helmdeck-new has no row"]
    );
}

#[test]
fn a_crate_that_architecture_does_not_name_is_refused() {
    let planted = Planted::new().with_crate("helmdeck-wire", &[]);
    assert_eq!(planted.violations(), ["ARCHITECTURE.md:1: the crate helmdeck-wire is not named"]);
}

#[test]
fn architecture_stays_under_three_hundred_lines() {
    let planted = Planted::new().file("ARCHITECTURE.md", &"line\n".repeat(350));
    assert_eq!(planted.violations(), ["ARCHITECTURE.md:350: 350 lines; it must stay under 350"]);
}

#[test]
fn a_file_of_more_than_eight_hundred_lines_is_refused_and_of_four_hundred_warned_about() {
    let lines = |count: usize| format!("//! Long.\n{}", "\n".repeat(count - 1));
    let tested = format!("{}#[cfg(test)]\n{}", lines(400), "\n".repeat(900));
    let report = Planted::new()
        .file("crates/a/src/hard.rs", &lines(801))
        .file("crates/a/src/soft.rs", &lines(401))
        .file("crates/a/src/tested.rs", &tested)
        .file("web/src/page.tsx", &"\n".repeat(801))
        .report();
    let paths = |found: &[super::Violation]| -> Vec<String> {
        found.iter().map(|violation| violation.path.clone()).collect()
    };
    assert_eq!(paths(&report.violations), ["crates/a/src/hard.rs", "web/src/page.tsx"]);
    assert_eq!(paths(&report.warnings), ["crates/a/src/soft.rs"]);
}

#[test]
fn a_file_without_a_header_is_refused() {
    let planted = Planted::new().file("crates/a/src/lib.rs", "use std::io;\n//! Too late.\n");
    assert_eq!(planted.violations(), ["crates/a/src/lib.rs:1: no `//!` header"]);
}

#[test]
fn names_that_say_nothing_are_refused() {
    let planted = Planted::new()
        .file("crates/a/src/data.rs", "//! Rows.\n")
        .file("crates/a/src/data_dir.rs", "//! Fine.\n")
        .file("crates/a/src/session_manager.rs", "//! Sessions.\n")
        .file("crates/a/src/tree.rs", "//! A tree.\n\npub(crate) mod helpers {\n}\n")
        .file("scripts/common.sh", "")
        .file("web/src/utils/date.ts", "");
    assert_eq!(
        planted.violations(),
        [
            "crates/a/src/data.rs:1: `data` in the path says nothing",
            "crates/a/src/session_manager.rs:1: `manager` in the path says nothing",
            "scripts/common.sh:1: `common` in the path says nothing",
            "web/src/utils/date.ts:1: `utils` in the path says nothing",
            "crates/a/src/tree.rs:3: `helpers` in `mod helpers`",
        ]
    );
}

#[test]
fn routes_without_tests_are_refused() {
    let planted = Planted::new()
        .file("crates/server/src/routes/health.rs", "//! Health.\n")
        .file("crates/server/src/routes/login.rs", "//! Login.\n")
        .file("crates/server/src/routes/screen.rs", "//! Screen.\n")
        .file("crates/server/tests/api/login.rs", "//! Login.\n")
        .file("crates/helmdeck/tests/e2e/screen.rs", "//! Screen.\n");
    assert_eq!(
        planted.violations(),
        ["crates/server/src/routes/health.rs:1: these routes have no tests"]
    );
}

#[test]
fn a_quoted_path_that_does_not_exist_is_refused() {
    let planted = Planted::new()
        .file("scripts/up.sh", "")
        .file(
            "docs/start.md",
            "Run `scripts/up.sh now`.\nSee `crates/gone/src/lib.rs:12`, `docs/start.md#top`.\n\
             A pattern: `crates/<name>/src`, not ours: `usr/bin`, plain: crates/none\n",
        )
        .file("notes.md", "`crates/none`");
    assert_eq!(planted.violations(), ["docs/start.md:2: `crates/gone/src/lib.rs` does not exist"]);
}

#[test]
fn a_promise_whose_test_does_not_exist_is_refused() {
    let planted = Planted::new()
        .file("SECURITY.md", "| a | `e2e/a.rs::is_kept` | `e2e/a.rs::is_broken`, `e2e/b.rs::c` |\n")
        .file("crates/helmdeck/tests/e2e/a.rs", "//! A.\nfn is_kept() {}\n");
    assert_eq!(
        planted.violations(),
        [
            "SECURITY.md:1: there is no test `e2e/a.rs::is_broken`",
            "SECURITY.md:1: there is no test `e2e/b.rs::c`",
        ]
    );
}

#[test]
fn decision_records_have_unique_numbers() {
    let planted = Planted::new()
        .file("docs/adr/0001-first.md", "")
        .file("docs/adr/0001-second.md", "")
        .file("docs/adr/2-Third.md", "")
        .file("docs/adr/README.md", "");
    assert_eq!(
        planted.violations(),
        [
            "docs/adr/0001-second.md:1: docs/adr/0001-first.md has the same number",
            "docs/adr/2-Third.md:1: not named like a decision record",
        ]
    );
}

#[test]
fn a_note_without_a_reason_is_refused() {
    let mark = concat!("TO", "DO");
    let text = format!("//! Notes.\n// {mark}\n// {mark}: later\n// {mark}: waits for the store\n");
    let planted = Planted::new().file("crates/a/src/lib.rs", &text);
    let what = format!("`{mark}` without a reason");
    assert_eq!(
        planted.violations(),
        [format!("crates/a/src/lib.rs:2: {what}"), format!("crates/a/src/lib.rs:3: {what}")]
    );
}

#[test]
fn paths_of_a_machine_and_package_hosts_are_refused() {
    let (folder, host) = (concat!("/ro", "ot/"), concat!("crates", ".io"));
    let allowed = concat!("tidy:", " allow, ");
    let text = format!(
        "cp {folder}x y\n\"ch{folder}x\"\nhttps://{host}\ncp {folder}y # {allowed}a reason\n"
    );
    let planted = Planted::new().file("scripts/copy.sh", &text).file("Cargo.lock", host);
    assert_eq!(
        planted.violations(),
        [
            format!("scripts/copy.sh:1: the absolute path {folder} exists on one machine only"),
            format!("scripts/copy.sh:3: names the package host {host}"),
        ]
    );
}

const PACKAGE_LIST: &str = "list() {\n  cat <<'PACKAGES'\nruntime bubblewrap makes sandboxes\n\
    test curl fetches\ncorpus mousepad edits\nPACKAGES\n}\n";

#[test]
fn a_program_that_no_listed_package_has_is_refused() {
    let planted = Planted::new()
        .file("scripts/packages.sh", PACKAGE_LIST)
        .file(
            "crates/a/tests/world.rs",
            "//! World.\nfn a() {\n    Command::new(\"bwrap\");\n    world.run(\"openbox\", &[]);\n\
             desk.shell(&format!(\"cat x | gdb -p {pid}\"));\n    desk.run(\"document.title\");\n\
             json!({ \"command\": \"/usr/bin/gimp\" });\n// Command::new(\"said\")\n}\n",
        )
        .file("web/e2e/x.test.mjs", "spawn(\"Xvfb\", []);\nspawn(binary, []);\n")
        .file("web/tests/y.test.ts", "import x;\nexecFile('ghostscript', []);\n")
        .file(
            "crates/a/tests/z.py",
            "# subprocess.run([\"said\"])\nsubprocess.run(\n    ['curl', url])\n\
             subprocess.Popen([\"sox\"], stdout=x)\nos.system(\"cat x | bc\")\nsubprocess.run(line)\n",
        );
    let what = |program: &str| {
        format!(
            "`{program}` is started, but no package of scripts/packages.sh has it in the groups \
             runtime, build, web, documents, media, test"
        )
    };
    assert_eq!(
        planted.violations(),
        [
            format!("crates/a/tests/world.rs:4: {}", what("openbox")),
            format!("crates/a/tests/world.rs:5: {}", what("gdb")),
            format!("crates/a/tests/world.rs:7: {}", what("gimp")),
            format!("crates/a/tests/z.py:4: {}", what("sox")),
            format!("crates/a/tests/z.py:5: {}", what("bc")),
            format!("web/e2e/x.test.mjs:1: {}", what("Xvfb")),
            format!("web/tests/y.test.ts:2: {}", what("ghostscript")),
        ]
    );
}

#[test]
fn a_program_is_refused_where_its_package_is_not_installed() {
    let planted = Planted::new()
        .file("scripts/packages.sh", PACKAGE_LIST)
        .file(
            "crates/a/src/lib.rs",
            "//! A.\nfn a() {\n    Command::new(\"bwrap\");\n    Command::new(\"curl\");\n}\n\
             #[cfg(test)]\nmod tests {\n    fn a() { Command::new(\"curl\"); }\n}\n",
        )
        .file("crates/a/tests/world.rs", "//! World.\nfn a() { Command::new(\"mousepad\"); }\n")
        .file("xtask/src/corpus.rs", "//! A.\nfn a() { Command::new(\"mousepad\"); }\n");
    let what = |program: &str, groups: &str| {
        format!(
            "`{program}` is started, but no package of scripts/packages.sh has it in the groups \
             {groups}"
        )
    };
    let product = "runtime, build, web, documents, media";
    assert_eq!(
        planted.violations(),
        [
            format!("crates/a/src/lib.rs:4: {}", what("curl", product)),
            format!("crates/a/tests/world.rs:2: {}", what("mousepad", &format!("{product}, test"))),
        ]
    );
}

#[test]
fn the_documentation_may_use_only_what_make_up_installs() {
    let readme = "# A\n\n## Start\n\n```sh\nsudo apt-get install make\n```\n\n## Use\n\n```sh\n\
        act() { helmdeck call \"$1\"; }\nact x | jq .\nmousepad x\n```\n\n\
        <!-- not run: an example -->\n```sh\ngimp\n```\n";
    let planted = Planted::new()
        .file(
            "scripts/packages.sh",
            &PACKAGE_LIST.replace("test curl", "runtime jq reads\ntest curl"),
        )
        .file("README.md", readme)
        .file("docs/exec.md", "# B\n\n```sh\ncurl x | node y\n```\n");
    let what = |program: &str| {
        format!(
            "`{program}` is started, but no package of scripts/packages.sh has it in the groups \
             runtime, build"
        )
    };
    assert_eq!(
        planted.violations(),
        [
            format!("README.md:14: {}", what("mousepad")),
            format!("docs/exec.md:4: {}", what("curl")),
            format!("docs/exec.md:4: {}", what("node")),
        ]
    );
}

#[test]
fn every_command_of_a_script_is_found() {
    let script = r##"#!/usr/bin/env bash
# comment: one
local x=$(two "$y" | sed s/a/b/) z="${w:-$(three)}"
if [[ -x $a && $(four) == b ]]; then five=1 six --seven; fi
case $1 in
  eight | nine) ten ;;
  *) die "eleven ($(twelve))" ;;
esac
thirteen() { as_root timeout 5 fourteen; }
thirteen && for ((i = 0; i < 3; i++)); do fifteen 2>&1 >file <<<"sixteen"; done
seventeen <<'END' || true
eighteen
END
list=(nineteen twenty)
"$bin" twenty-one; exec 3<>/dev/tcp/x && command -v twenty-two
"##;
    let planted = Planted::new()
        .file("scripts/packages.sh", PACKAGE_LIST)
        .file("scripts/say.sh", "die() { exit 1; }\nas_root() { sudo \"$@\"; }\n")
        .file("scripts/x.sh", script);
    let found = planted.violations();
    let found: Vec<&str> = found.iter().filter_map(|line| line.split('`').nth(1)).collect();
    assert_eq!(
        found,
        [
            "two",
            "three",
            "four",
            "six",
            "ten",
            "twelve",
            "fourteen",
            "fifteen",
            "seventeen",
            "twenty-two"
        ]
    );
}

#[test]
fn a_figure_that_no_table_has_is_refused() {
    let page = "# Benchmarks\n\nThe click is 2.9× faster on 1280×800, not 83.9×, after 100 ms.\n\n\
        | click | 1.01 / 3.47 | 2.9 | 2.9× |\n\nA call adds 0.57 ms with TigerVNC 1.12.\n";
    let readme = "# A\n\nA line of 7 ms.\n\n## Speed\n\nAt 1920×1080, 1.01 ms and 2.9 ms (3×),\n5 ms.\n\n## B\n\n9×\n";
    let planted = Planted::new().file("docs/benchmarks.md", page).file("README.md", readme);
    let what = |figure: &str| format!("no table of docs/benchmarks.md has the figure {figure}");
    assert_eq!(
        planted.violations(),
        [
            format!("docs/benchmarks.md:3: {}", what("83.9×")),
            format!("docs/benchmarks.md:7: {}", what("0.57 ms")),
            format!("README.md:7: {}", what("3×")),
            format!("README.md:8: {}", what("5 ms")),
        ]
    );
}

#[test]
fn a_report_lists_every_violation_with_its_fix() {
    let report = Planted::new()
        .file("crates/a/src/util.rs", "fn a() {}\n")
        .file("docs/adr/one.md", "")
        .report();
    let text = report.to_string();
    assert_eq!(text.matches("\n    fix: ").count(), 3, "{text}");
    assert!(text.ends_with("tidy: 3 files, 3 violations, 0 warnings"), "{text}");
}

#[test]
fn dependencies_have_an_allowed_licence_and_come_from_a_registry() {
    const RULES: &str = "[licenses]\nallow = [\n    \"MIT\",\n    \"Apache-2.0\",\n]\n\
        [bans]\ndeny = [\n    # Why.\n    \"openssl\",\n]\n";
    let from = "registry+https://github.com/rust-lang/index";
    let planted = Planted::new()
        .file("deny.toml", RULES)
        .with_package("one", Some("MIT"), from)
        .with_package("either", Some("GPL-3.0 OR (MIT AND Apache-2.0)"), from)
        .with_package("old", Some("GPL-3.0/MIT"), from)
        .with_package("both", Some("MIT AND GPL-3.0"), from)
        .with_package("exception", Some("Apache-2.0 WITH LLVM-exception"), from)
        .with_package("file", None, from)
        .with_package("openssl", Some("MIT"), from)
        .with_package("git", Some("MIT"), "git+https://example.com/git")
        .with_package("other", Some("MIT"), "registry+https://example.com/index")
        .with_crate("helmdeck-wire", &[("serde*", false)])
        .file("crates/wire/Cargo.toml", "")
        .file("ARCHITECTURE.md", "`wire` `helmdeck-wire`\n");
    assert_eq!(
        planted.violations(),
        [
            "deny.toml:1: both 1.0.0 has the licence \"MIT AND GPL-3.0\"",
            "deny.toml:1: exception 1.0.0 has the licence \"Apache-2.0 WITH LLVM-exception\"",
            "deny.toml:1: file 1.0.0 has the licence \"no licence\"",
            "deny.toml:1: openssl 1.0.0 is banned",
            "deny.toml:1: git 1.0.0 comes from git+https://example.com/git",
            "deny.toml:1: other 1.0.0 comes from registry+https://example.com/index",
            "crates/wire/Cargo.toml:1: serde may have any version",
        ]
    );
}

#[test]
fn words_that_the_style_avoids_are_refused() {
    let text = concat!("Of its", " own.\nWho", "ever\na some", "body\nThat of its own session.\n");
    let found = Planted::new().file("docs/a.md", text).violations();
    let places: Vec<_> = found.iter().map(|it| it.split(": ").next().unwrap()).collect();
    assert_eq!(places, ["docs/a.md:1", "docs/a.md:2", "docs/a.md:3"]);
}
