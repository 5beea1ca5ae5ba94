//! Our own scripts in the documents of a tab, in a world that their pages do not see.

use std::{pin::pin, time::Instant};

use helmdeck_cdp::CdpError;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::select;

use crate::{
    BrowserError,
    page::{Frame, Page},
};

/// What is defined in every world.
const SCRIPT: &str = include_str!("element.js");
const NAME: &str = "helmdeck";
/// The code of everything that the browser refuses for reasons of the moment.
const REFUSED: i64 = -32000;

/// What a call in a document came to.
pub(crate) enum Told<T> {
    Value(T),
    /// The document is not there any more.
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
    /// The error's message, without the places it passed.
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
    /// Calls a function of [`SCRIPT`] in a document, with one argument and perhaps an object.
    pub async fn run<T: DeserializeOwned>(
        &self,
        frame: &Frame,
        function: &str,
        argument: impl Serialize,
        deadline: Instant,
    ) -> Result<Told<T>, BrowserError> {
        self.run_on(frame, function, argument, None, deadline).await
    }

    /// Like [`Self::run`]; the object is one of the same world.
    pub async fn run_on<T: DeserializeOwned>(
        &self,
        frame: &Frame,
        function: &str,
        argument: impl Serialize,
        object: Option<&str>,
        deadline: Instant,
    ) -> Result<Told<T>, BrowserError> {
        let Told::Value(world) = self.world(frame, deadline).await? else { return Ok(Told::Left) };
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
        let Told::Value(evaluated) = self.while_shown(frame, calling).await? else {
            return Ok(Told::Left);
        };
        if let Some(exception) = evaluated.exception_details {
            return Err(BrowserError::Script(exception.message()));
        }
        let value = serde_json::from_value(evaluated.result.value);
        value.map(Told::Value).map_err(|error| CdpError::Nonsense(error).into())
    }

    /// The object that a function of [`SCRIPT`] kept.
    pub async fn kept(
        &self,
        frame: &Frame,
        deadline: Instant,
    ) -> Result<Told<String>, BrowserError> {
        let Told::Value(world) = self.world(frame, deadline).await? else { return Ok(Told::Left) };
        let params = json!({ "expression": "helmdeck.kept", "contextId": world });
        let asking = self.call::<Evaluated>(&frame.session, "Runtime.evaluate", params, deadline);
        let Told::Value(evaluated) = self.while_shown(frame, asking).await? else {
            return Ok(Told::Left);
        };
        Ok(evaluated.result.object_id.map_or(Told::Left, Told::Value))
    }

    /// The context of our scripts in a document.
    pub async fn world(&self, frame: &Frame, deadline: Instant) -> Result<Told<i64>, BrowserError> {
        if let Some(world) = self.with(|state| state.frames.world(frame)) {
            return Ok(Told::Value(world));
        }
        let params = json!({ "frameId": frame.id, "worldName": NAME });
        let method = "Page.createIsolatedWorld";
        let making = self.call::<Made>(&frame.session, method, params, deadline);
        let Told::Value(made) = self.while_shown(frame, making).await? else {
            return Ok(Told::Left);
        };
        let world = made.execution_context_id;
        let params = json!({ "expression": SCRIPT, "contextId": world });
        let setting = self.call::<Evaluated>(&frame.session, "Runtime.evaluate", params, deadline);
        let Told::Value(set) = self.while_shown(frame, setting).await? else {
            return Ok(Told::Left);
        };
        if let Some(exception) = set.exception_details {
            return Err(BrowserError::Script(exception.message()));
        }
        self.with(|state| state.frames.set_world(frame, Some(world)));
        Ok(Told::Value(world))
    }

    /// Waits for an answer for as long as the document is shown: the browser owes none after that.
    async fn while_shown<T>(
        &self,
        frame: &Frame,
        asking: impl Future<Output = Result<T, BrowserError>>,
    ) -> Result<Told<T>, BrowserError> {
        let mut asking = pin!(asking);
        loop {
            let news = self.next_news();
            if !self.with(|state| state.frames.shows(frame)) {
                return Ok(Told::Left);
            }
            select! {
                biased;
                answer = &mut asking => return self.unless_left(frame, answer),
                () = news => {}
            }
        }
    }

    /// What the browser says when a document is gone is not a failure: there is another by now.
    fn unless_left<T>(
        &self,
        frame: &Frame,
        answer: Result<T, BrowserError>,
    ) -> Result<Told<T>, BrowserError> {
        match answer {
            Ok(value) => Ok(Told::Value(value)),
            Err(BrowserError::Browser(CdpError::Refused { code: REFUSED, .. })) => {
                self.with(|state| state.frames.set_world(frame, None));
                Ok(Told::Left)
            }
            // An iframe's session may end at any moment, the page's own does not.
            Err(BrowserError::PageGone) if frame.session != *self.session() => {
                self.with(|state| state.frames.lost(&frame.session));
                Ok(Told::Left)
            }
            Err(error) => Err(error),
        }
    }
}
