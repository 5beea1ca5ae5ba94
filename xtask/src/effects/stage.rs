//! A session in which cases are performed, one after the other.

use std::time::Duration;

use helmdeck_testkit::{Answer, Desk, eventually};
use serde_json::{Value, json};

use super::{
    case::{App, Case, Hand, Place, Step},
    testbed::Testbed,
};

/// How long a program may take to start.
const PATIENCE: Duration = Duration::from_secs(20);
/// A place of the page where nothing is, from its corner. Each case clicks elsewhere, or clicks of two quick cases would be
/// a double click, which marks a word.
const EMPTY: (i64, i64) = (600, 560);
const BETWEEN_CLICKS: i64 = 40;
const PROGRAM: &str = include_str!("../../effects/program.py");
const TERMINAL: &str = include_str!("../../effects/terminal.sh");
const OFFICE: &str = include_str!("../../effects/office.py");

/// Prints the state of LibreOffice, or opens a document.
pub(super) const ASK_OFFICE: &str = "/usr/bin/python3 /workspace/office.py";

/// The programs that cases start.
pub(super) const PROGRAMS: [(&str, &str); 3] =
    [("program.py", PROGRAM), ("terminal.sh", TERMINAL), ("office.py", OFFICE)];

/// What a case came to.
pub struct Outcome {
    /// The reply of the action.
    pub reply: Value,
    /// What the program logged.
    pub log: Vec<String>,
}

/// A session and what is in it.
pub struct Stage<'a> {
    pub(super) desk: Desk<'a>,
    pub(super) testbed: &'a Testbed,
    /// Where the element is, and where nothing is.
    acted: (i64, i64),
    empty: (i64, i64),
    /// How many programs were started, and the last one.
    started: u32,
    program: Option<i64>,
    pages_shown: i64,
}

pub(super) type Tried<T> = Result<T, String>;

impl<'a> Stage<'a> {
    /// Creates a session with the programs of the corpus.
    pub async fn open(testbed: &'a Testbed) -> Self {
        let spec = json!({ "mode": "desktop", "geometry": "1280x800", "idle_timeout_s": 0 });
        let desk = Desk::create(&testbed.client, &spec).await;
        for (name, text) in PROGRAMS {
            let command = format!("cat > /workspace/{name}");
            desk.exec(json!({ "command": command, "stdin": text })).await;
        }
        let (acted, empty) = ((0, 0), (1200, 700));
        let stage = Self { desk, testbed, acted, empty, started: 0, program: None, pages_shown: 0 };
        stage.desk.focused("Chromium").await;
        stage
    }

    /// Ends the session.
    pub async fn close(&self) {
        self.desk.end().await;
    }

    /// Performs a case.
    pub async fn perform(&mut self, case: &Case) -> Tried<Outcome> {
        self.set_up(case).await?;
        let mut before = self.clear_log(case).await?;
        for step in &case.before {
            self.step(step, None).await?;
        }
        if !case.answers && !case.before.is_empty() {
            before = self.clear_log(case).await?;
        }
        let reply = self.step(&case.action, Some(case)).await?;
        for step in &case.after {
            self.step(step, None).await?;
        }
        let log = self.read_log(case, &before).await;
        for step in &case.last {
            self.step(step, None).await?;
        }
        self.clean_up(case).await?;
        Ok(Outcome { reply, log: log? })
    }

    async fn set_up(&mut self, case: &Case) -> Tried<()> {
        match case.app {
            App::Chromium => self.show_page(case).await,
            App::Gtk => self.start_program(case).await,
            App::Xterm => self.start_terminal(case).await,
            App::LibreOffice => self.start_office(case).await,
        }
    }

    async fn show_page(&mut self, case: &Case) -> Tried<()> {
        let url = self.testbed.pages.url(&case.kind, case.beside);
        self.browser("navigate", json!({ "url": url })).await?;
        let place = self.browser("execute", json!({ "script": "place()" })).await?;
        let number = |name: &str| {
            let value = place.pointer(&format!("/result/{name}")).and_then(Value::as_f64);
            value.map(|value| value.round() as i64).ok_or(format!("no {name}: {place}"))
        };
        self.acted = (number("x")?, number("y")?);
        self.pages_shown += 1;
        let beside = (self.pages_shown % 2) * BETWEEN_CLICKS;
        self.empty = (number("left")? + EMPTY.0 + beside, number("above")? + EMPTY.1);
        // The page gets the keyboard, the pointer is away, and all that belongs to loading is drawn.
        let away = Step::at("click").to(Place::Empty).with("settle", json!({}));
        self.step(&away, None).await?;
        if case.beside == "caret" {
            self.browser("execute", json!({ "script": "$('caret').focus()" })).await?;
        }
        if case.focused {
            self.browser("execute", json!({ "script": "focusActed()" })).await?;
        }
        if case.focused || case.beside == "caret" {
            self.settle().await?;
        }
        Ok(())
    }

    async fn start_program(&mut self, case: &Case) -> Tried<()> {
        let log = self.next_log();
        let mut args = vec![
            "/workspace/program.py".to_owned(),
            case.kind.clone(),
            case.beside.to_owned(),
            log.clone(),
        ];
        args.extend(case.focused.then(|| "--focused".to_owned()));
        self.launch("/usr/bin/python3", json!(args)).await?;
        let placed = async || {
            let text = self.shell(&format!("cat {log} 2>/dev/null; true")).await.ok()?;
            let line = text.lines().find_map(|line| line.strip_prefix("at "))?.to_owned();
            let (x, y) = line.split_once(' ')?;
            Some((x.parse().ok()?, y.parse().ok()?))
        };
        let found = eventually(PATIENCE, placed).await;
        self.acted = found.ok_or("the program does not start")?;
        self.settle().await
    }

    async fn start_terminal(&mut self, case: &Case) -> Tried<()> {
        let log = self.next_log();
        let place = "80x20+100+100";
        let args = [
            "-geometry",
            place,
            "-e",
            "bash",
            "/workspace/terminal.sh",
            &case.kind,
            case.beside,
            &log,
        ];
        self.launch("xterm", json!(args)).await?;
        let ready = async || {
            let text = self.shell(&format!("cat {log} 2>/dev/null; true")).await.ok()?;
            text.contains("ready").then_some(())
        };
        eventually(PATIENCE, ready).await.ok_or("the terminal does not start")?;
        let window = self.desk.titled("Terminal").await;
        let side = |name: &str| window.get(name).and_then(Value::as_i64).unwrap_or_default();
        self.acted = (side("x") + side("width") / 2, side("y") + side("height") / 2);
        self.desk.focused("XTerm").await;
        self.settle().await
    }

    async fn start_office(&mut self, case: &Case) -> Tried<()> {
        self.shell(&format!("{ASK_OFFICE} open {}", case.kind)).await?;
        let class = |window: &Value| {
            let class = window.get("class").and_then(Value::as_str).unwrap_or_default();
            class.to_lowercase().contains("libreoffice")
                && window.get("focused") == Some(&true.into())
        };
        let window = self.desk.window("a focused office", class).await;
        let side = |name: &str| window.get(name).and_then(Value::as_i64).unwrap_or_default();
        self.acted = (side("x") + side("width") / 2, side("y") + side("height") / 2);
        self.settle_for(json!({ "quiet_ms": 800, "timeout_ms": 8000 })).await
    }

    async fn launch(&mut self, command: &str, args: Value) -> Tried<()> {
        let reply = self.desktop("launch", json!({ "command": command, "args": args })).await?;
        self.program = reply.get("pid").and_then(Value::as_i64);
        Ok(())
    }

    fn next_log(&mut self) -> String {
        self.started += 1;
        self.log_name()
    }

    pub(super) fn log_name(&self) -> String {
        format!("/workspace/log-{}", self.started)
    }

    async fn clean_up(&mut self, case: &Case) -> Tried<()> {
        match case.app {
            App::Chromium => self.close_tabs().await,
            App::Gtk | App::Xterm => self.end_program().await,
            // The next document replaces this one.
            App::LibreOffice => Ok(()),
        }
    }

    /// Ends what a case started, and waits until its windows are gone.
    async fn end_program(&mut self) -> Tried<()> {
        let log = self.shell(&format!("cat {}", self.log_name())).await?;
        let more = log.lines().filter_map(|line| line.strip_prefix("pid ")?.parse().ok());
        for pid in self.program.take().into_iter().chain(more) {
            self.shell(&format!("kill -KILL {pid} 2>/dev/null; true")).await?;
        }
        let alone = async || {
            let all = self.desk.windows().await;
            let ours = |window: &Value| {
                let class = window.get("class").and_then(Value::as_str).unwrap_or_default();
                ["XTerm", "Program.py", "program.py"].contains(&class)
            };
            (!all.iter().any(ours)).then_some(())
        };
        eventually(PATIENCE, alone).await.ok_or("a window stays")?;
        Ok(())
    }

    /// Leaves one tab.
    pub(super) async fn close_tabs(&self) -> Tried<()> {
        for tab in self.tabs().await?.iter().skip(1) {
            self.browser("tabs", json!({ "action": "close", "tab": tab.get("id") })).await?;
        }
        Ok(())
    }

    pub(super) async fn tabs(&self) -> Tried<Vec<Value>> {
        let listed = self.browser("tabs", json!({})).await?;
        Ok(listed.get("tabs").and_then(Value::as_array).cloned().unwrap_or_default())
    }

    async fn settle(&self) -> Tried<()> {
        self.settle_for(json!({ "quiet_ms": 300 })).await
    }

    async fn settle_for(&self, settle: Value) -> Tried<()> {
        let away = Step::at("mouse_move").to(Place::Empty).with("settle", settle);
        self.step(&away, None).await.map(|_| ())
    }

    /// Performs a step, observed if it is the action of a case.
    async fn step(&self, step: &Step, observed: Option<&Case>) -> Tried<Value> {
        let mut body = step.body.clone();
        let point = match step.place {
            Place::Anywhere | Place::Dragged(..) => None,
            Place::Acted(x, y) => Some((self.acted.0 + x, self.acted.1 + y)),
            Place::Empty => Some(self.empty),
        };
        let fields = body.as_object_mut().ok_or("a step has fields")?;
        if let Some((x, y)) = point {
            fields.insert("x".into(), x.into());
            fields.insert("y".into(), y.into());
        }
        if let Place::Dragged(x, y) = step.place {
            for (name, value) in [
                ("start_x", self.acted.0),
                ("start_y", self.acted.1),
                ("end_x", self.acted.0 + x),
                ("end_y", self.acted.1 + y),
            ] {
                fields.insert(name.into(), value.into());
            }
        }
        if observed.is_some() {
            fields.entry("settle").or_insert(json!({}));
            fields.insert("observe".into(), "diff".into());
        }
        match step.hand {
            Hand::Desktop => self.desktop(step.action, body).await,
            Hand::Browser => self.browser(step.action, body).await,
        }
    }

    pub(super) async fn desktop(&self, action: &str, body: Value) -> Tried<Value> {
        read(action, &self.desk.ask(action, body).await)
    }

    pub(super) async fn browser(&self, action: &str, body: Value) -> Tried<Value> {
        read(action, &self.desk.browser(action, body).await)
    }

    pub(super) async fn shell(&self, line: &str) -> Tried<String> {
        let reply = read("exec", &self.desk.ask_exec(&json!({ "command": line })).await)?;
        if reply.get("exit_code") != Some(&0.into()) {
            return Err(format!("{line}: {reply}"));
        }
        Ok(reply.get("stdout").and_then(Value::as_str).unwrap_or_default().to_owned())
    }
}

fn read(action: &str, answer: &Answer) -> Tried<Value> {
    if answer.status != 200 {
        return Err(format!("{action} is refused with {}: {}", answer.status, answer.text()));
    }
    serde_json::from_slice(&answer.body).map_err(|error| format!("{action}: {error}"))
}
