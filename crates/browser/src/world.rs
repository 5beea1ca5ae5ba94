//! Runs our scripts in the documents of a tab, in an isolated world that pages cannot see.

use std::{pin::pin, time::Instant};

use helmdeck_cdp::CdpError;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::select;

use crate::{
    BrowserError,
    page::{Frame, Page},
};

/// Defines the functions available in every world.
const SCRIPT: &str = concat!(
    include_str!("element.js"),
    "\n",
    include_str!("elements.js"),
    "\n",
    include_str!("marks.js"),
    "\n",
    include_str!("watch.js")
);
const NAME: &str = "helmdeck";
/// The error code of calls that the browser refuses for temporary reasons.
const REFUSED: i64 = -32000;

/// The result of a call in a document.
pub(crate) enum Outcome<T> {
    Value(T),
    /// The document is gone.
    Left,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Made {
    execution_context_id: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Evaluated {
    pub result: Remote,
    #[serde(default)]
    pub exception_details: Option<Exception>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Remote {
    #[serde(default)]
    pub value: Value,
    #[serde(default)]
    pub object_id: Option<String>,
    #[serde(default)]
    pub description: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Exception {
    pub text: String,
    #[serde(default)]
    pub exception: Option<Remote>,
}

impl Exception {
    /// The error message without the stack.
    pub fn message(&self) -> String {
        let thrown = self.exception.as_ref();
        let described = thrown.and_then(|thrown| thrown.description.clone());
        let value = thrown.map(|thrown| &thrown.value).filter(|value| !value.is_null());
        let text = described
            .or_else(|| value.map(|value| value.as_str().map_or(value.to_string(), str::to_owned)))
            .unwrap_or_else(|| self.text.clone());
        let end = text.find("\n    at ").unwrap_or(text.len());
        text.get(..end).unwrap_or(&text).to_owned()
    }
}

impl Page {
    /// Calls a function of [`SCRIPT`] in a document, with one argument and optionally an object.
    pub async fn run<T: DeserializeOwned>(
        &self,
        frame: &Frame,
        function: &str,
        argument: impl Serialize,
        deadline: Instant,
    ) -> Result<Outcome<T>, BrowserError> {
        self.run_on(frame, function, argument, None, deadline).await
    }

    /// Like [`Self::run`], with an object of the same world.
    pub async fn run_on<T: DeserializeOwned>(
        &self,
        frame: &Frame,
        function: &str,
        argument: impl Serialize,
        object: Option<&str>,
        deadline: Instant,
    ) -> Result<Outcome<T>, BrowserError> {
        let Outcome::Value(world) = self.world(frame, deadline).await? else {
            return Ok(Outcome::Left);
        };
        let mut arguments = vec![json!({ "value": argument })];
        arguments.extend(object.map(|object| json!({ "objectId": object })));
        let params = json!({
            "functionDeclaration": format!("function(a, b) {{ return helmdeck.{function}(a, b) }}"),
            "executionContextId": world,
            "arguments": arguments,
            "awaitPromise": true,
            "returnByValue": true,
        });
        let calling =
            self.call::<Evaluated>(&frame.session, "Runtime.callFunctionOn", params, deadline);
        let Outcome::Value(evaluated) = self.while_shown(frame, calling).await? else {
            return Ok(Outcome::Left);
        };
        if let Some(exception) = evaluated.exception_details {
            return Err(BrowserError::Script(exception.message()));
        }
        let value = serde_json::from_value(evaluated.result.value);
        value.map(Outcome::Value).map_err(|error| CdpError::Nonsense(error).into())
    }

    /// The object that a function of [`SCRIPT`] kept.
    pub async fn kept(
        &self,
        frame: &Frame,
        deadline: Instant,
    ) -> Result<Outcome<String>, BrowserError> {
        let Outcome::Value(world) = self.world(frame, deadline).await? else {
            return Ok(Outcome::Left);
        };
        let params = json!({ "expression": "helmdeck.kept", "contextId": world });
        let asking = self.call::<Evaluated>(&frame.session, "Runtime.evaluate", params, deadline);
        let Outcome::Value(evaluated) = self.while_shown(frame, asking).await? else {
            return Ok(Outcome::Left);
        };
        Ok(evaluated.result.object_id.map_or(Outcome::Left, Outcome::Value))
    }

    /// The execution context of our scripts in a document.
    pub async fn world(
        &self,
        frame: &Frame,
        deadline: Instant,
    ) -> Result<Outcome<i64>, BrowserError> {
        if let Some(world) = self.with(|state| state.frames.world(frame)) {
            return Ok(Outcome::Value(world));
        }
        let params = json!({ "frameId": frame.id, "worldName": NAME });
        let method = "Page.createIsolatedWorld";
        let making = self.call::<Made>(&frame.session, method, params, deadline);
        let Outcome::Value(made) = self.while_shown(frame, making).await? else {
            return Ok(Outcome::Left);
        };
        let world = made.execution_context_id;
        let params = json!({ "expression": SCRIPT, "contextId": world });
        let setting = self.call::<Evaluated>(&frame.session, "Runtime.evaluate", params, deadline);
        let Outcome::Value(set) = self.while_shown(frame, setting).await? else {
            return Ok(Outcome::Left);
        };
        if let Some(exception) = set.exception_details {
            return Err(BrowserError::Script(exception.message()));
        }
        self.with(|state| state.frames.set_world(frame, Some(world)));
        Ok(Outcome::Value(world))
    }

    /// Waits for an answer while the document is shown: the browser may not answer after that.
    pub async fn while_shown<T>(
        &self,
        frame: &Frame,
        asking: impl Future<Output = Result<T, BrowserError>>,
    ) -> Result<Outcome<T>, BrowserError> {
        let mut asking = pin!(asking);
        loop {
            let news = self.next_news();
            if !self.with(|state| state.frames.shows(frame)) {
                return Ok(Outcome::Left);
            }
            select! {
                biased;
                answer = &mut asking => return self.unless_left(frame, answer),
                () = news => {}
            }
        }
    }

    /// Maps errors about a document that is gone to [`Outcome::Left`]: it was replaced.
    fn unless_left<T>(
        &self,
        frame: &Frame,
        answer: Result<T, BrowserError>,
    ) -> Result<Outcome<T>, BrowserError> {
        match answer {
            Ok(value) => Ok(Outcome::Value(value)),
            Err(BrowserError::Browser(CdpError::Refused { code: REFUSED, .. })) => {
                self.with(|state| state.frames.set_world(frame, None));
                Ok(Outcome::Left)
            }
            // An iframe's session may end at any moment; the page's own does not.
            Err(BrowserError::PageGone) if frame.session != *self.session() => {
                self.with(|state| state.frames.lost(&frame.session));
                Ok(Outcome::Left)
            }
            Err(error) => Err(error),
        }
    }
}
