//! A Chromium of our own per test. It ends with the test.

use std::{
    os::{fd::OwnedFd, unix::process::CommandExt as _},
    process::{Child, Command, Stdio},
    time::Duration,
};

use helmdeck_cdp::{Cdp, CdpError, SessionId};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::unix::pipe;

/// A deadline that only a broken browser misses.
pub const SOON: Duration = Duration::from_secs(45);

/// Never has a result.
pub const NEVER: &str = "new Promise(() => {})";

const QUIET: &str = "--headless=new --no-first-run --no-default-browser-check --disable-gpu \
    --password-store=basic --disable-background-networking --disable-component-update \
    --disable-sync --disable-breakpad --disable-crash-reporter --disable-domain-reliability \
    --no-pings --disable-default-apps --hide-crash-restore-bubble --disable-quic \
    --disable-features=OptimizationHints,OptimizationGuideModelDownloading,\
NetworkTimeServiceQuerying,MediaRouter,Translate,WebUIOmniboxPopup,WebUIOmniboxAimPopup";

pub struct Chromium {
    pub cdp: Cdp,
    process: Child,
    home: TempDir,
}

/// A page and our session on it.
#[derive(Debug, Clone)]
pub struct Page {
    pub target: String,
    pub session: SessionId,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Created {
    target_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attached {
    session_id: SessionId,
}

impl Chromium {
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// One that also has a port, and where it is.
    pub async fn start_with_port() -> (Self, String) {
        let chromium = Self::start_with(&["--remote-debugging-port=0"]).await;
        let file = chromium.home.path().join("profile/DevToolsActivePort");
        let port = loop {
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            if let Some((port, _)) = text.split_once('\n') {
                break port.to_owned();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        (chromium, format!("http://127.0.0.1:{port}"))
    }

    async fn start_with(more: &[&str]) -> Self {
        helmdeck_spawn::reserve_low_descriptors().unwrap();
        let home = tempfile::tempdir().unwrap();
        let (their_input, our_output) = std::io::pipe().unwrap();
        let (our_input, their_output) = std::io::pipe().unwrap();
        let mut command = Command::new("/usr/bin/chromium");
        command.args(QUIET.split_whitespace()).arg("--remote-debugging-pipe");
        command.arg(format!("--user-data-dir={}", home.path().join("profile").display()));
        command.args(more);
        if rustix::process::geteuid().is_root() {
            command.arg("--no-sandbox");
        }
        // What it leaves in its temporary folder when it is killed goes with the test, too.
        command.env("HOME", home.path()).env("TMPDIR", home.path());
        command.arg("about:blank").process_group(0);
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
        Self { cdp, process, home }
    }

    /// Ends the browser, as running out of memory would.
    pub fn kill(&self) {
        kill_process(Pid::from_child(&self.process), Signal::KILL).unwrap();
    }

    /// Stops the browser where it is, as a hang would.
    pub fn freeze(&self) {
        kill_process(Pid::from_child(&self.process), Signal::STOP).unwrap();
    }

    pub fn thaw(&self) {
        kill_process(Pid::from_child(&self.process), Signal::CONT).unwrap();
    }

    pub async fn ask(
        &self,
        page: Option<&Page>,
        method: &str,
        params: Value,
    ) -> Result<Value, CdpError> {
        self.cdp.call(page.map(|page| &page.session), method, params, SOON).await
    }

    pub async fn page(&self) -> Page {
        let params = json!({ "url": "about:blank" });
        let created = self.cdp.call::<Created>(None, "Target.createTarget", params, SOON);
        self.attach(&created.await.unwrap().target_id).await
    }

    pub async fn attach(&self, target: &str) -> Page {
        let params = json!({ "targetId": target, "flatten": true });
        let attached = self.cdp.call::<Attached>(None, "Target.attachToTarget", params, SOON);
        Page { target: target.to_owned(), session: attached.await.unwrap().session_id }
    }

    pub async fn close(&self, page: &Page) {
        self.ask(None, "Target.closeTarget", json!({ "targetId": page.target })).await.unwrap();
    }

    /// What an expression comes to, promises awaited.
    pub async fn evaluate(&self, page: &Page, expression: &str) -> Result<Value, CdpError> {
        let answer = self.ask(Some(page), "Runtime.evaluate", evaluation(expression)).await?;
        Ok(answer["result"]["value"].clone())
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.process), Signal::KILL);
        let _ = self.process.wait();
    }
}

/// The parameters of `Runtime.evaluate`.
pub fn evaluation(expression: &str) -> Value {
    json!({ "expression": expression, "awaitPromise": true, "returnByValue": true })
}

fn nonblocking(fd: OwnedFd) -> OwnedFd {
    rustix::io::ioctl_fionbio(&fd, true).unwrap();
    fd
}
