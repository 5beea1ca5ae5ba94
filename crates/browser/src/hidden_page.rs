//! A hidden page without tab, window or network access.
//!
//! It belongs to a separate session with the browser, is invisible to other sessions, and ends with
//! that session.

use std::{pin::pin, time::Instant};

use helmdeck_cdp::{Cdp, CdpError, Event, EventStream, SessionId};
use helmdeck_wire::browser::Origin;
use serde::{
    Deserialize, Serialize,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::{Value, json};
use tokio::select;

use crate::{BrowserError, browser_session::BrowserSession, context::Context, world::Evaluated};

/// A hidden page, closed when dropped.
pub(crate) struct Hidden {
    cdp: Cdp,
    browser: BrowserSession,
    page: SessionId,
    requests: EventStream,
    deadline: Instant,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attached {
    session_id: SessionId,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Created {
    target_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Paused {
    request_id: String,
    request: Request,
}

#[derive(Deserialize)]
struct Request {
    url: String,
}

impl Hidden {
    /// Opens an empty page in a context.
    pub async fn open(
        cdp: &Cdp,
        context: &Context,
        deadline: Instant,
    ) -> Result<Self, BrowserError> {
        let cdp = cdp.clone();
        let left = || deadline.saturating_duration_since(Instant::now());
        let browser = BrowserSession::open(&cdp, left()).await?;
        let session = Some(browser.id());
        let params = context.about(json!({ "url": "about:blank", "hidden": true }));
        let created: Created = cdp.call(session, "Target.createTarget", params, left()).await?;
        let params = json!({ "targetId": created.target_id, "flatten": true });
        let attached: Attached = cdp.call(session, "Target.attachToTarget", params, left()).await?;
        let page = attached.session_id;
        let requests = cdp.events(Some(&page)).only("Fetch.");
        let hidden = Self { cdp, browser, page, requests, deadline };
        for (method, params) in [
            ("Page.enable", json!({})),
            ("Network.enable", json!({})),
            // The site's own service worker would run and answer.
            ("Network.setBypassServiceWorker", json!({ "bypass": true })),
            ("Fetch.enable", json!({ "patterns": [{ "urlPattern": "*" }] })),
        ] {
            hidden.call::<IgnoredAny>(method, params).await?;
        }
        Ok(hidden)
    }

    /// Calls a method in the page's session.
    pub async fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        params: impl Serialize,
    ) -> Result<T, BrowserError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        Ok(self.cdp.call(Some(&self.page), method, params, left).await?)
    }

    /// Calls a method of the browser, in a session that ends with this page.
    pub async fn ask_browser<T: DeserializeOwned>(
        &self,
        method: &str,
        params: impl Serialize,
    ) -> Result<T, BrowserError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        Ok(self.cdp.call(Some(self.browser.id()), method, params, left).await?)
    }

    /// Shows an empty document of an origin without asking its server. False if the browser
    /// refuses.
    pub async fn go(&mut self, origin: &Origin) -> Result<bool, BrowserError> {
        let url = format!("{}/", origin.as_str());
        {
            let (cdp, page) = (self.cdp.clone(), self.page.clone());
            let left = self.deadline.saturating_duration_since(Instant::now());
            let params = json!({ "url": url });
            let arriving = cdp.call::<IgnoredAny>(Some(&page), "Page.navigate", params, left);
            let mut arriving = pin!(arriving);
            loop {
                let asked = select! {
                    arrived = &mut arriving => match arrived {
                        Ok(_) => break,
                        Err(CdpError::Refused { .. }) => return Ok(false),
                        Err(error) => return Err(error.into()),
                    },
                    asked = self.requests.next() => asked.ok_or(BrowserError::PageGone)?,
                };
                if let Ok(event) = asked {
                    self.answer(&event, &url).await?;
                }
            }
        }
        self.run("(wanted) => location.origin === new URL(wanted).origin", origin).await
    }

    /// Answers a request: the wanted document is empty, everything else fails. A browser that tries
    /// https first tries http next.
    async fn answer(&self, event: &Event, wanted: &str) -> Result<(), BrowserError> {
        let Ok(Paused { request_id, request }) = event.read::<Paused>() else { return Ok(()) };
        let scheme = |url: &str| url.split_once("://").map(|(scheme, _)| scheme.to_owned());
        let (method, params) = if scheme(&request.url) == scheme(wanted) {
            let headers = json!([{ "name": "content-type", "value": "text/html" }]);
            let params = json!({
                "requestId": request_id, "responseCode": 200, "responseHeaders": headers, "body": "",
            });
            ("Fetch.fulfillRequest", params)
        } else {
            let reason = "ConnectionRefused";
            ("Fetch.failRequest", json!({ "requestId": request_id, "errorReason": reason }))
        };
        match self.call::<IgnoredAny>(method, params).await {
            // The browser may have given up the request.
            Ok(_) | Err(BrowserError::Browser(CdpError::Refused { .. })) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Runs a function of one argument in the page. An exception becomes a script error.
    pub async fn run<T: DeserializeOwned>(
        &self,
        function: &str,
        argument: impl Serialize,
    ) -> Result<T, BrowserError> {
        let global: Evaluated =
            self.call("Runtime.evaluate", json!({ "expression": "globalThis" })).await?;
        let params = json!({
            "functionDeclaration": function,
            "objectId": global.result.object_id,
            "arguments": [{ "value": argument }],
            "awaitPromise": true,
            "returnByValue": true,
        });
        let evaluated: Evaluated = self.call("Runtime.callFunctionOn", params).await?;
        match evaluated.exception_details {
            Some(exception) => Err(BrowserError::Script(exception.message())),
            None => serde_json::from_value::<T>(evaluated.result.value)
                .map_err(|error| CdpError::Nonsense(error).into()),
        }
    }

    /// Whether the browser accepts all of these cookies. They are deleted again.
    pub async fn takes(&self, cookies: &[Value]) -> Result<bool, BrowserError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Made {
            browser_context_id: String,
        }
        let made: Made = self
            .ask_browser("Target.createBrowserContext", json!({ "disposeOnDetach": true }))
            .await?;
        let context = made.browser_context_id;
        let params = json!({ "cookies": cookies, "browserContextId": context });
        let taken = self.ask_browser::<IgnoredAny>("Storage.setCookies", params).await;
        let params = json!({ "browserContextId": context });
        self.ask_browser::<IgnoredAny>("Target.disposeBrowserContext", params).await?;
        match taken {
            Ok(_) => Ok(true),
            Err(BrowserError::Browser(CdpError::Refused { .. })) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
