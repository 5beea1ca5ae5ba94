//! Scripts of the client in the page itself.

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

/// A script that does not end is ended, so that the page lives on.
const END: Duration = Duration::from_secs(1);
/// What the browser says of an error that the script itself threw: all of it runs in a promise.
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
        // What JSON cannot say is not written at all.
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
            // The page went elsewhere under it.
            Err(BrowserError::Browser(CdpError::Refused { .. })) => {
                Err(BrowserError::Script("the page was left before the script ended".to_owned()))
            }
            answer => answer,
        }
    }
}

/// Ends a script that nobody waits for any more, also if its caller is gone.
struct EndOnDrop(Option<Page>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        let Some(page) = self.0.take() else { return };
        tokio::spawn(async move {
            let (end, until) = ("Runtime.terminateExecution", Instant::now() + END);
            let _ = page.call::<IgnoredAny>(page.session(), end, json!({}), until).await;
        });
    }
}

/// Whether a script was not even begun, because it cannot be read.
fn unreadable(evaluated: &Evaluated) -> bool {
    let read = |exception: &Exception| exception.text.starts_with(THROWN);
    evaluated.exception_details.as_ref().is_some_and(|exception| !read(exception))
}
