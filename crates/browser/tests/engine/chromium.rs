//! A Chromium of our own per test. It ends with the test.

use std::{
    os::{fd::OwnedFd, unix::process::CommandExt as _},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use helmdeck_cdp::Cdp;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;
use tokio::net::unix::pipe;

/// A deadline that only a broken browser misses.
pub const SOON: Duration = Duration::from_secs(45);

const QUIET: &str = "--headless=new --no-first-run --no-default-browser-check --disable-gpu \
    --password-store=basic --disable-background-networking --disable-component-update \
    --disable-sync --disable-breakpad --disable-crash-reporter --disable-domain-reliability \
    --no-pings --disable-default-apps --hide-crash-restore-bubble --disable-quic --site-per-process \
    --disable-features=OptimizationHints,OptimizationGuideModelDownloading,\
NetworkTimeServiceQuerying,MediaRouter,Translate,HttpsUpgrades,WebUIOmniboxPopup,WebUIOmniboxAimPopup --window-size=1000,800 --js-flags=--expose-gc";

pub struct Chromium {
    pub cdp: Cdp,
    process: Child,
}

impl Chromium {
    pub async fn start(home: &Path) -> Self {
        helmdeck_spawn::reserve_low_descriptors().unwrap();
        let (their_input, our_output) = std::io::pipe().unwrap();
        let (our_input, their_output) = std::io::pipe().unwrap();
        let mut command = Command::new("/usr/bin/chromium");
        command.args(QUIET.split_whitespace()).arg("--remote-debugging-pipe");
        command.arg(format!("--user-data-dir={}", home.join("profile").display()));
        if rustix::process::geteuid().is_root() {
            command.arg("--no-sandbox");
        }
        // What it leaves in its temporary folder when it is killed goes with the test, too.
        command.arg("about:blank").env("HOME", home).env("TMPDIR", home).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        helmdeck_spawn::place_fd(&mut command, their_input.into(), 3);
        helmdeck_spawn::place_fd(&mut command, their_output.into(), 4);
        let process = command.spawn().unwrap();
        drop(command);
        let reader = pipe::Receiver::from_owned_fd(nonblocking(our_input.into())).unwrap();
        let writer = pipe::Sender::from_owned_fd(nonblocking(our_output.into())).unwrap();
        let cdp = Cdp::new(reader, writer);
        let version: Value = cdp.call(None, "Browser.getVersion", (), SOON).await.unwrap();
        assert!(version["product"].is_string());
        Self { cdp, process }
    }

    /// Ends the browser, as running out of memory would.
    pub fn kill(&self) {
        kill_process(Pid::from_child(&self.process), Signal::KILL).unwrap();
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.process), Signal::KILL);
        let _ = self.process.wait();
    }
}

fn nonblocking(fd: OwnedFd) -> OwnedFd {
    rustix::io::ioctl_fionbio(&fd, true).unwrap();
    fd
}
