//! The summary of `make test` is correct however the run ends, and no process of a step remains.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_secs(30);

/// Runs steps like scripts/test.sh, in a process group like `timeout` and a terminal do.
fn start(dir: &Path, steps: &str) -> Child {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let script = format!(
        "set -euo pipefail\nsource scripts/say.sh\nsource scripts/steps.sh\nstep_grace_s=1\n\
         begin_steps 'make test'\n{steps}\nend_steps\n"
    );
    Command::new("bash")
        .args(["-c", &script, "steps"])
        .env("DIR", dir)
        .current_dir(root)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap()
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

fn wait_for(what: &str, mut found: impl FnMut() -> bool) {
    let began = Instant::now();
    while !found() {
        assert!(began.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A step that starts another process, records both process ids, and waits.
const LONG: &str = r#"
step quick true
long() { sleep 300 & echo "$BASHPID $!" >"$DIR/new"; mv "$DIR/new" "$DIR/pids"; wait; }
step long long
step never touch "$DIR/never"
"#;

fn pids(dir: &TempDir) -> Vec<PathBuf> {
    let file = dir.path().join("pids");
    wait_for("the long step runs", || file.exists());
    let text = fs::read_to_string(file).unwrap();
    text.split_whitespace().map(|pid| Path::new("/proc").join(pid)).collect()
}

/// Whether a process has ended; zombies count.
fn is_gone(process: &Path) -> bool {
    let Ok(stat) = fs::read_to_string(process.join("stat")) else { return true };
    stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['Z', 'X']))
}

fn signal(name: &str, target: &str) {
    let sent = Command::new("bash").args(["-c", &format!("kill -{name} -- {target}")]).status();
    assert!(sent.unwrap().success());
}

#[test]
fn an_interrupted_run_reports_it_and_leaves_nothing_running() {
    for (name, code) in [("TERM", 143), ("INT", 130), ("HUP", 129)] {
        // To the script alone, and to its whole group, like `timeout` and Ctrl-C.
        for whole_group in [false, true] {
            let dir = TempDir::new().unwrap();
            let run = start(dir.path(), LONG);
            let processes = pids(&dir);
            signal(name, &format!("{}{}", if whole_group { "-" } else { "" }, run.id()));
            let output = run.wait_with_output().unwrap();
            let said = said(&output);
            assert_eq!(output.status.code(), Some(code), "{name}: {said}");
            assert!(
                said.contains(&format!("make test: STOPPED by SIG{name} in \"long\"")),
                "{said}"
            );
            assert!(!said.contains("everything passed"), "{said}");
            assert!(processes.iter().all(|process| is_gone(process)), "{name}: {said}");
            assert!(!dir.path().join("never").exists());
        }
    }
}

#[test]
fn a_killed_run_leaves_nothing_running() {
    for whole_group in [false, true] {
        let dir = TempDir::new().unwrap();
        let run = start(dir.path(), LONG);
        let processes = pids(&dir);
        signal("KILL", &format!("{}{}", if whole_group { "-" } else { "" }, run.id()));
        let said = said(&run.wait_with_output().unwrap());
        assert!(!said.contains("everything passed"), "{said}");
        wait_for("all are gone", || processes.iter().all(|process| is_gone(process)));
        assert!(!dir.path().join("never").exists());
    }
}

#[test]
fn a_step_that_ignores_signals_is_killed() {
    let dir = TempDir::new().unwrap();
    let steps = LONG.replace("long() {", "long() { trap '' TERM;").replace("wait;", "wait; wait;");
    let run = start(dir.path(), &steps);
    let processes = pids(&dir);
    signal("TERM", &run.id().to_string());
    let output = run.wait_with_output().unwrap();
    let said = said(&output);
    assert!(said.contains("did not end within 1 s and was killed"), "{said}");
    wait_for("all are gone", || processes.iter().all(|process| is_gone(process)));
}

#[test]
fn a_step_that_fails_or_is_killed_fails_the_run() {
    for (step, expected) in [
        ("step bad bash -c 'exit 3'", Some(3)),
        ("step bad bash -c 'kill -TERM $$'", Some(143)),
        ("ask_step bad bash -c 'exit 4'", Some(4)),
        // A script that ends early has not passed.
        ("current=bad; exit 0", Some(1)),
    ] {
        let dir = TempDir::new().unwrap();
        let output = start(dir.path(), step).wait_with_output().unwrap();
        let said = said(&output);
        assert_eq!(output.status.code(), expected, "{step}: {said}");
        assert_eq!(output.status.signal(), None);
        assert!(said.contains("make test: FAILED in \"bad\""), "{step}: {said}");
        assert!(!said.contains("everything passed"), "{said}");
    }
}

#[test]
fn a_passing_run_lists_its_steps_with_times() {
    let dir = TempDir::new().unwrap();
    let output = start(dir.path(), "step one true\nask_step two true").wait_with_output().unwrap();
    let said = said(&output);
    assert!(output.status.success(), "{said}");
    // How long it took is up to the machine.
    let without_times = said.replace(|c: char| c.is_ascii_digit(), "");
    assert!(
        without_times.contains("make test: everything passed in  s (one  s, two  s)"),
        "{said}"
    );
}
