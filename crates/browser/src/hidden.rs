//! A page of our own that nobody sees: no tab, no window, and nothing from the network.
//!
//! It hangs on a session of its own with the browser, which never tells others of it, and ends with it.

use std::{
    pin::pin,
    time::{Duration, Instant},
};

use helmdeck_cdp::{Cdp, CdpError, Event, EventStream, SessionId};
use helmdeck_wire::browser::Origin;
use serde::{
    Deserialize, Serialize,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::{Value, json};
use tokio::select;

use crate::{BrowserError, context::Context, world::Evaluated};

/// Leaving is a matter of the browser alone.
const LEAVE: Duration = Duration::from_secs(5);

/// A hidden page, closed when dropped.
pub(crate) struct Hidden {
    cdp: Cdp,
    browser: Browser,
    page: SessionId,
    requests: EventStream,
    deadline: Instant,
}

/// A session of our own with the browser; what was made by it goes with it.
struct Browser {
    cdp: Cdp,
    session: SessionId,
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
        let attached: Attached =
            cdp.call(None, "Target.attachToBrowserTarget", json!({}), left()).await?;
        let browser = Browser { cdp: cdp.clone(), session: attached.session_id };
        let session = Some(&browser.session);
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
            // The site's own would answer, and run.
            ("Network.setBypassServiceWorker", json!({ "bypass": true })),
            ("Fetch.enable", json!({ "patterns": [{ "urlPattern": "*" }] })),
        ] {
            hidden.call::<IgnoredAny>(method, params).await?;
        }
        Ok(hidden)
    }

    /// Asks the page.
    pub async fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        params: impl Serialize,
    ) -> Result<T, BrowserError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        Ok(self.cdp.call(Some(&self.page), method, params, left).await?)
    }

    /// Asks the browser, in a session that ends with this page.
    pub async fn ask_browser<T: DeserializeOwned>(
        &self,
        method: &str,
        params: impl Serialize,
    ) -> Result<T, BrowserError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        Ok(self.cdp.call(Some(&self.browser.session), method, params, left).await?)
    }

    /// Shows an empty document of a site, which is not asked for it; false if the browser does not.
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

    /// The document that is wanted is empty; of anything else there is nothing. A browser that tries
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
            // It may have been given up meanwhile.
            Ok(_) | Err(BrowserError::Browser(CdpError::Refused { .. })) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Runs a function of one argument in the page. What it throws is a failure of the script.
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

    /// Whether the browser takes all of these cookies. None is kept.
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

impl Drop for Browser {
    fn drop(&mut self) {
        let (cdp, session) = (self.cdp.clone(), self.session.clone());
        tokio::spawn(async move {
            let params = json!({ "sessionId": session });
            let _ = cdp.call::<IgnoredAny>(None, "Target.detachFromTarget", params, LEAVE).await;
        });
    }
}
