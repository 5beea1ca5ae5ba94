//! A session in which tasks are performed, and where things are in it.

use std::time::Duration;

use helmdeck_testkit::{Answer, Client, Desk, eventually};
use serde_json::{Value, json};

use super::{
    pages::Pages,
    task::{Oracle, Start, Task, logged},
};

const PATIENCE: Duration = Duration::from_secs(20);
/// How long a page may take to tell its server what happened.
const TOLD: Duration = Duration::from_secs(3);
const PROGRAM: &str = include_str!("../../effects/program.py");
const TERMINAL: &str = include_str!("../../effects/terminal.sh");

pub type Tried<T> = Result<T, String>;

/// A session.
pub struct Stage<'a> {
    pub desk: Desk<'a>,
    pub pages: &'a Pages,
    started: u32,
    program: Option<i64>,
}

impl<'a> Stage<'a> {
    /// Creates a session.
    pub async fn open(client: &'a Client, pages: &'a Pages) -> Self {
        let spec = json!({ "mode": "desktop", "geometry": "1280x800", "idle_timeout_s": 0 });
        let desk = Desk::create(client, &spec).await;
        for (name, text) in [("program.py", PROGRAM), ("terminal.sh", TERMINAL)] {
            let command = format!("cat > /workspace/{name}");
            desk.exec(json!({ "command": command, "stdin": text })).await;
        }
        desk.focused("Chromium").await;
        Self { desk, pages, started: 0, program: None }
    }

    /// Shows the start of a task.
    pub async fn set_up(&mut self, task: &Task) -> Tried<()> {
        self.started += 1;
        let log = self.log_name();
        match task.start {
            Start::Page(_) => {
                let url = self.pages.url(task.name);
                self.browser("navigate", json!({ "url": url })).await?;
                // The page has the keyboard, and the pointer is away.
                let away = json!({ "x": 1200, "y": 600, "settle": { "quiet_ms": 200 } });
                let _ = self.desktop("click", away).await?;
            }
            Start::Gtk(kind) => {
                let args = json!(["/workspace/program.py", kind, "none", log]);
                self.launch("/usr/bin/python3", args, "at ").await?;
            }
            Start::Xterm(kind) => {
                let args = json!([
                    "-geometry",
                    "80x20+100+100",
                    "-e",
                    "bash",
                    "/workspace/terminal.sh",
                    kind,
                    "none",
                    log,
                ]);
                self.launch("xterm", args, "ready").await?;
                self.desk.focused("XTerm").await;
            }
        }
        self.pages.clear();
        Ok(())
    }

    async fn launch(&mut self, command: &str, args: Value, ready: &str) -> Tried<()> {
        let reply = self.desktop("launch", json!({ "command": command, "args": args })).await?;
        self.program = reply.get("pid").and_then(Value::as_i64);
        let log = self.log_name();
        let is_ready = async || {
            let text = self.shell(&format!("cat {log} 2>/dev/null; true")).await.ok()?;
            text.contains(ready).then_some(())
        };
        eventually(PATIENCE, is_ready).await.ok_or("the program does not start")?;
        let settle = json!({ "x": 1200, "y": 700, "settle": { "quiet_ms": 300 } });
        self.desktop("mouse_move", settle).await.map(|_| ())
    }

    fn log_name(&self) -> String {
        format!("/workspace/log-{}", self.started)
    }

    /// Whether the application says that the goal is reached.
    pub async fn judge(&self, task: &Task) -> Tried<bool> {
        match task.oracle {
            Oracle::Logged(wanted) => {
                let told = async || {
                    let log = match task.start {
                        Start::Page(_) => self.pages.log(),
                        _ => {
                            let text = self.shell(&format!("cat {}", self.log_name())).await;
                            text.ok()?.lines().map(str::to_owned).collect()
                        }
                    };
                    logged(wanted, &log).then_some(())
                };
                Ok(eventually(TOLD, told).await.is_some())
            }
            Oracle::Tab => {
                let address = format!("{}\n", self.pages.typed());
                self.desktop("key", json!({ "keys": "ctrl+l" })).await?;
                self.desktop("type", json!({ "text": address })).await?;
                let told = async || {
                    let log = self.pages.log();
                    let typed = log.iter().position(|line| line == "typed")?;
                    // One may have been on its way.
                    let after = log.iter().skip(typed).filter(|line| *line == "alive").count();
                    (after > 1).then_some(())
                };
                Ok(eventually(2 * TOLD, told).await.is_some())
            }
            Oracle::Bar => {
                let address = format!("{}\n", self.pages.typed());
                self.desktop("key", json!({ "keys": "ctrl+a" })).await?;
                self.desktop("type", json!({ "text": address })).await?;
                let told = async || logged(&["typed"], &self.pages.log()).then_some(());
                Ok(eventually(TOLD, told).await.is_some())
            }
        }
    }

    /// Ends what the task started, and leaves one tab.
    pub async fn clean_up(&mut self) -> Tried<()> {
        if let Some(pid) = self.program.take() {
            self.shell(&format!("kill -KILL {pid} 2>/dev/null; true")).await?;
            let alone = async || {
                let windows = self.desk.windows().await;
                let all = |window: &Value| window.get("browser") == Some(&true.into());
                windows.iter().all(all).then_some(())
            };
            eventually(PATIENCE, alone).await.ok_or("a window stays")?;
        }
        let listed = self.browser("tabs", json!({})).await?;
        let tabs = listed.get("tabs").and_then(Value::as_array).cloned().unwrap_or_default();
        for tab in tabs.iter().skip(1) {
            self.browser("tabs", json!({ "action": "close", "tab": tab.get("id") })).await?;
        }
        Ok(())
    }

    pub async fn desktop(&self, action: &str, body: Value) -> Tried<Value> {
        read(action, &self.desk.ask(action, body).await)
    }

    pub async fn browser(&self, action: &str, body: Value) -> Tried<Value> {
        read(action, &self.desk.browser(action, body).await)
    }

    async fn shell(&self, line: &str) -> Tried<String> {
        let reply = read("exec", &self.desk.ask_exec(&json!({ "command": line })).await)?;
        Ok(reply.get("stdout").and_then(Value::as_str).unwrap_or_default().to_owned())
    }
}

pub fn read(action: &str, answer: &Answer) -> Tried<Value> {
    if answer.status != 200 {
        return Err(format!("{action} is refused with {}: {}", answer.status, answer.text()));
    }
    serde_json::from_slice(&answer.body).map_err(|error| format!("{action}: {error}"))
}

/// What a model that knows the screen knows: where things are.
pub struct Map {
    client: Client,
    session: String,
}

impl Map {
    /// The map of a session.
    pub fn new(client: Client, session: &str) -> Self {
        Self { client, session: session.to_owned() }
    }

    /// A spot of the page, and whether it is below what the window shows.
    pub async fn spot(&self, name: &str) -> Option<((i64, i64), bool)> {
        let script = format!("where({})", json!(name));
        let body = json!({ "session_id": self.session, "script": script });
        let answer = self.client.post("/api/v1/browser/execute", &body).await;
        let reply: Value = serde_json::from_slice(&answer.body).ok()?;
        let at = |name: &str| reply.pointer(&format!("/result/{name}")).and_then(Value::as_f64);
        let below = reply.pointer("/result/below") == Some(&true.into());
        Some(((at("x")? as i64, at("y")? as i64), below))
    }

    /// An element of the browser or of a program.
    pub async fn named(&self, name: &str) -> Option<(i64, i64)> {
        let body = json!({ "session_id": self.session, "name": name, "exact": true, "ocr": false });
        let answer = self.client.post("/api/v1/desktop/find", &body).await;
        let reply: Value = serde_json::from_slice(&answer.body).ok()?;
        let side = |name: &str| {
            let value = reply.pointer(&format!("/candidates/0/rect/{name}"));
            value.and_then(Value::as_i64)
        };
        Some((side("x")? + side("width")? / 2, side("y")? + side("height")? / 2))
    }

    /// The middle of the window in front.
    pub async fn middle(&self) -> Option<(i64, i64)> {
        let path = format!("/api/v1/desktop/windows?session_id={}", self.session);
        let answer = self.client.get(&path).await;
        let reply: Value = serde_json::from_slice(&answer.body).ok()?;
        let windows = reply.get("windows")?.as_array()?;
        let front = windows.iter().find(|window| window.get("focused") == Some(&true.into()))?;
        let side = |name: &str| front.get(name).and_then(Value::as_i64);
        Some((side("x")? + side("width")? / 2, side("y")? + side("height")? / 2))
    }
}
