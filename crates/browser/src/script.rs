//! Runs scripts of the client in the page.

use std::time::{Duration, Instant};

use helmdeck_cdp::CdpError;
use helmdeck_wire::browser::{Execute, Executed};
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::{
    BrowserError,
    page::Page,
    page_action::PageAction,
    world::{Evaluated, Exception},
};

/// How long a terminated script may take to end.
const END: Duration = Duration::from_secs(1);
/// How the browser marks errors thrown by the script: it runs in a promise.
const THROWN: &str = "Uncaught (in promise)";

impl PageAction {
    pub async fn execute(&mut self, execute: &Execute) -> Result<Executed, BrowserError> {
        let script = &execute.script;
        let expression = format!("return (\n{}\n);", script.trim_end().trim_end_matches(';'));
        let mut evaluated = self.evaluate(&expression).await?;
        if unreadable(&evaluated) {
            evaluated = self.evaluate(&format!("{script}\n")).await?;
        }
        if let Some(exception) = evaluated.exception_details {
            return Err(BrowserError::Script(exception.message()));
        }
        // Values that JSON cannot represent are left out.
        let result = evaluated.result.value;
        let result = result.as_str().and_then(|json| serde_json::from_str(json).ok());
        self.settle(false).await;
        Ok(Executed { acted: self.acted().await?, result: result.unwrap_or(Value::Null) })
    }

    async fn evaluate(&self, body: &str) -> Result<Evaluated, BrowserError> {
        let expression = format!(
            "(async () => {{ {body} }})().then((value) => {{ \
             try {{ return JSON.stringify(value) }} catch {{ return undefined }} }})"
        );
        let params = json!({
            "expression": expression,
            "awaitPromise": true,
            "returnByValue": true,
            "userGesture": true,
        });
        let (page, session) = (&self.page, self.page.session());
        let mut unended = EndOnDrop(Some(page.clone()));
        let answer = page.call(session, "Runtime.evaluate", params, self.deadline).await;
        if !matches!(answer, Err(BrowserError::Timeout(_))) {
            unended.0 = None;
        }
        match answer {
            Err(BrowserError::Timeout(_)) => Err(BrowserError::Timeout(
                "the script did not end in time: it may wait for something that does not come, or \
                 need a longer timeout_s"
                    .to_owned(),
            )),
            // The page navigated while the script ran.
            Err(BrowserError::Browser(CdpError::Refused { .. })) => {
                Err(BrowserError::Script("the page navigated before the script ended".to_owned()))
            }
            answer => answer,
        }
    }
}

/// Terminates the script when the call times out or is cancelled.
struct EndOnDrop(Option<Page>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        let Some(page) = self.0.take() else { return };
        helmdeck_task::spawn(async move {
            let (end, until) = ("Runtime.terminateExecution", Instant::now() + END);
            let _ = page.call::<IgnoredAny>(page.session(), end, json!({}), until).await;
        });
    }
}

/// Whether the script did not start because of a syntax error.
fn unreadable(evaluated: &Evaluated) -> bool {
    let read = |exception: &Exception| exception.text.starts_with(THROWN);
    evaluated.exception_details.as_ref().is_some_and(|exception| !read(exception))
}
