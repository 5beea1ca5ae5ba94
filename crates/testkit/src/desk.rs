//! A session to act in.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{Answer, Client, eventually};

/// How long programs may take on a busy machine with eight parallel sessions.
const PATIENCE: Duration = Duration::from_secs(20);

/// A session of one client.
pub struct Desk<'a> {
    /// The client that created it.
    pub client: &'a Client,
    /// Its id.
    pub id: String,
}

impl<'a> Desk<'a> {
    /// Creates a session and waits until it is ready.
    pub async fn create(client: &'a Client, spec: &Value) -> Self {
        let session = client.post("/api/v1/sessions", spec).await.expect(201).json();
        assert_eq!(session["status"], "running", "{session}");
        Self { client, id: session["id"].as_str().expect("an id").to_owned() }
    }

    /// A desktop session with a small screen.
    pub async fn desktop(client: &'a Client) -> Self {
        Self::create(client, &json!({ "mode": "desktop", "geometry": "1280x800" })).await
    }

    /// Requests an action and returns the response, whatever it is.
    pub async fn ask(&self, action: &str, mut body: Value) -> Answer {
        body["session_id"] = self.id.clone().into();
        self.client.post(&format!("/api/v1/desktop/{action}"), &body).await
    }

    /// Performs an action that must succeed, and returns its reply.
    pub async fn act(&self, action: &str, body: Value) -> Value {
        self.ask(action, body).await.expect(200).json()
    }

    /// Requests a browser action and returns the response, whatever it is.
    pub async fn browser(&self, action: &str, mut body: Value) -> Answer {
        body["session_id"] = self.id.clone().into();
        self.client.post(&format!("/api/v1/browser/{action}"), &body).await
    }

    /// The windows on the desktop.
    pub async fn windows(&self) -> Vec<Value> {
        let path = format!("/api/v1/desktop/windows?session_id={}", self.id);
        let reply = self.client.get(&path).await.expect(200).json();
        reply["windows"].as_array().expect("a list").clone()
    }

    /// Waits for a matching window, and returns it.
    pub async fn window(&self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        let look = async || self.windows().await.into_iter().find(&is_it);
        let Some(window) = eventually(PATIENCE, look).await else {
            panic!("no window is {what}: {:#?}", self.windows().await);
        };
        window
    }

    /// Waits for a window whose title has this prefix, and returns it.
    pub async fn titled(&self, title: &str) -> Value {
        let begins = |window: &Value| window["name"].as_str().unwrap().starts_with(title);
        self.window(&format!("titled {title:?}"), begins).await
    }

    /// Waits until a window of this class has the focus, and returns it.
    pub async fn focused(&self, class: &str) -> Value {
        let has_it = |window: &Value| window["focused"] == true && window["class"] == class;
        self.window(&format!("a focused {class}"), has_it).await
    }

    /// Waits for a window of this class and focuses it. The window manager may have focused another
    /// one that opened at the same time.
    pub async fn take_keyboard(&self, class: &str) {
        let window = self.window(&format!("a {class}"), |window| window["class"] == class).await;
        self.act("focus", json!({ "window_id": window["id"] })).await;
        self.focused(class).await;
    }

    /// Content of the clipboard.
    pub async fn clipboard(&self) -> String {
        let reply = self.act("clipboard", json!({})).await;
        reply["text"].as_str().expect("text").to_owned()
    }

    /// Waits until the clipboard has this content.
    #[track_caller]
    pub fn expect_clipboard(&self, text: &str) -> impl Future<Output = ()> {
        let caller = std::panic::Location::caller();
        async move {
            let look = async || (self.clipboard().await == text).then_some(());
            if eventually(PATIENCE, look).await.is_none() {
                assert_eq!(self.clipboard().await, text, "at {caller}");
            }
        }
    }

    /// Opens a page through the address bar, and waits until it has this title.
    pub async fn browse(&self, page: &str, title: &str) {
        self.focused("Chromium").await;
        let page = page.replace('%', "%25").replace('#', "%23");
        self.act("key", json!({ "keys": "ctrl+l" })).await;
        self.act("type", json!({ "text": format!("data:text/html;charset=utf-8,{page}\n") })).await;
        self.titled(title).await;
    }

    /// Opens a page with an empty, focused text field that fills it. Returns the y coordinate of
    /// its first line on the screen.
    pub async fn open_field(&self) -> i64 {
        let style = "position:fixed;inset:0;width:100%;height:100%;font:20px monospace";
        let ready = "onfocus=\"document.title='field '+(screenY+outerHeight-innerHeight)\"";
        let page = format!("<textarea autofocus style='{style}' {ready}></textarea>");
        self.browse(&page, "field ").await;
        let window = self.titled("field ").await;
        let top = window["name"].as_str().unwrap().split(' ').nth(1).unwrap();
        top.parse::<i64>().unwrap() + 14
    }

    /// Opens a page with an empty, focused text field. The window's title shows the last key event:
    /// `down Shift`, `repeat x`, `up x`.
    pub async fn open_key_field(&self) {
        let style = "position:fixed;inset:0;width:100%;height:100%;font:20px monospace";
        // Ignore the release of the key that opened the page.
        let tell = "onfocus=\"document.title='field'\" \
            onkeydown=\"this.down=1;document.title=(event.repeat?'repeat ':'down ')+event.key\" \
            onkeyup=\"if(this.down)document.title='up '+event.key\"";
        let page = format!("<textarea autofocus style='{style}' {tell}></textarea>");
        self.browse(&page, "field").await;
    }

    /// Selects and copies everything in the focused program.
    pub async fn copy_all(&self) {
        self.act("key", json!({ "keys": "ctrl+a ctrl+c" })).await;
    }

    /// Runs a script inside the session and returns its output.
    pub async fn shell(&self, script: &str) -> String {
        static RUN: AtomicU32 = AtomicU32::new(0);
        let tag = format!("run-{}", RUN.fetch_add(1, Ordering::Relaxed));
        // The tag marks its output in the log. The last line marks the end.
        let wrapper = r#"bash -c "$1" 2>&1 </dev/null | sed "s/^/$2 /"; echo; echo "$2.""#;
        let args = json!(["-c", wrapper, "shell", script, tag]);
        self.act("launch", json!({ "command": "bash", "args": args })).await;
        let end = format!("bash: {tag}.");
        let look = async || Some(self.log().await).filter(|log| log.contains(&end));
        let Some(log) = eventually(PATIENCE, look).await else {
            panic!("the script did not end: {script}\n{}", self.log().await);
        };
        let line = format!(" bash: {tag} ");
        let said = log.lines().filter_map(|all| Some(all.split_once(&line)?.1));
        said.flat_map(|line| [line, "\n"]).collect()
    }

    /// Requests a command and returns the response, whatever it is.
    pub async fn ask_exec(&self, body: &Value) -> Answer {
        self.client.post(&format!("/api/v1/sessions/{}/exec", self.id), body).await
    }

    /// Runs a command and returns its state.
    pub async fn exec(&self, body: Value) -> Value {
        self.ask_exec(&body).await.expect(200).json()
    }

    /// Runs a shell line that must succeed, and returns its standard output.
    pub async fn run(&self, line: &str) -> String {
        let state = self.exec(json!({ "command": line })).await;
        assert_eq!(state["exit_code"], 0, "{line}: {state}");
        state["stdout"].as_str().expect("text").to_owned()
    }

    /// Log of the session's programs.
    pub async fn log(&self) -> String {
        self.client.get(&format!("/api/v1/sessions/{}/logs", self.id)).await.expect(200).text()
    }

    /// The session as its owner sees it.
    pub async fn describe(&self) -> Value {
        self.client.get(&format!("/api/v1/sessions/{}", self.id)).await.expect(200).json()
    }

    /// Ends the session.
    pub async fn end(&self) {
        self.client.delete(&format!("/api/v1/sessions/{}", self.id)).await.expect(204);
    }
}
