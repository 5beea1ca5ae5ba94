//! A separate session with the browser. Everything that it created ends with it.

use std::time::Duration;

use helmdeck_cdp::{Cdp, SessionId};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::json;

use crate::BrowserError;

/// Detaching involves only the browser.
const LEAVE: Duration = Duration::from_secs(5);

/// A session with the browser, detached when dropped.
pub(crate) struct BrowserSession {
    cdp: Cdp,
    id: SessionId,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attached {
    session_id: SessionId,
}

impl BrowserSession {
    /// Attaches to the browser.
    pub async fn open(cdp: &Cdp, within: Duration) -> Result<Self, BrowserError> {
        let attached: Attached =
            cdp.call(None, "Target.attachToBrowserTarget", json!({}), within).await?;
        Ok(Self { cdp: cdp.clone(), id: attached.session_id })
    }

    /// Its id.
    pub fn id(&self) -> &SessionId {
        &self.id
    }
}

impl Drop for BrowserSession {
    fn drop(&mut self) {
        let (cdp, session) = (self.cdp.clone(), self.id.clone());
        helmdeck_task::spawn(async move {
            let params = json!({ "sessionId": session });
            let _ = cdp.call::<IgnoredAny>(None, "Target.detachFromTarget", params, LEAVE).await;
        });
    }
}
