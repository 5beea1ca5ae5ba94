//! The in-process door: calls a tool without HTTP.

use std::fmt;

use bytes::Bytes;
use helmdeck_task::BoxFuture;
use helmdeck_wire::ErrorBody;
use http::{HeaderMap, HeaderValue, Method, header::AUTHORIZATION};
use http_body_util::{BodyExt, Limited};
use serde_json::{Map, Value};

use super::{Call, Payload, Tool};
use crate::{
    App,
    auth::{caller, identify},
    error::{ApiError, ApiResult},
    public::Address,
};

/// The largest streamed reply that is collected.
const MAX_REPLY: usize = 64 << 20;

/// Calls tools of a running server in its process.
#[derive(Clone)]
pub struct InProcess {
    app: App,
}

impl InProcess {
    pub(crate) fn new(app: App) -> Self {
        Self { app }
    }

    /// Calls a tool as the bearer of a token. Returns the content of the reply.
    pub fn call<'a>(
        &'a self,
        tool: &'a Tool,
        token: &'a str,
        args: Map<String, Value>,
    ) -> BoxFuture<'a, Result<Bytes, ErrorBody>> {
        let done = self.collect(tool, token, args);
        Box::pin(async move { done.await.map_err(|error| error.body()) })
    }

    async fn collect(
        &self,
        tool: &Tool,
        token: &str,
        args: Map<String, Value>,
    ) -> ApiResult<Bytes> {
        let mut headers = HeaderMap::new();
        let bearer =
            HeaderValue::try_from(format!("Bearer {token}")).map_err(ApiError::internal)?;
        headers.insert(AUTHORIZATION, bearer);
        let claims = identify(&self.app, &Method::POST, &headers)?;
        let address = Address::of(&self.app, &headers);
        let call = Call::new(self.app.clone(), caller(&claims), claims, address);
        match tool.call_as(call, args).await?.payload {
            Payload::Nothing => Ok(Bytes::new()),
            Payload::Json(bytes) | Payload::Bytes { bytes, .. } => Ok(bytes),
            Payload::Stream { body, .. } => {
                let collected = Limited::new(body, MAX_REPLY).collect().await;
                Ok(collected.map_err(ApiError::internal)?.to_bytes())
            }
        }
    }
}

impl fmt::Debug for InProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InProcess").finish_non_exhaustive()
    }
}
