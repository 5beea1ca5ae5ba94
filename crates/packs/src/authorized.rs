//! Requests that get a secret once their connection is open.

use std::pin::Pin;

use helmdeck_wire::ErrorCode;
use tokio::time::timeout;

use crate::{
    HttpClient, HttpRequest, HttpResponse, PackError, PackResult, http_client::MAX_REDIRECTS,
};

/// A request with its secrets.
pub type Finished<'a> = Pin<Box<dyn Future<Output = PackResult<HttpRequest>> + Send + 'a>>;

impl HttpClient {
    /// Sends a request and follows redirects. `finish` adds secrets to each request after its
    /// connection is allowed and open. Unlike that of [`HttpClient::send`], it may borrow.
    pub(crate) async fn send_finished<'a>(
        &self,
        mut request: HttpRequest,
        finish: impl Fn(HttpRequest) -> Finished<'a> + Sync,
    ) -> PackResult<HttpResponse> {
        let limit = request.timeout;
        let sending = async {
            for _ in 0..=MAX_REDIRECTS {
                let connection = self.connect(&request.url).await?;
                let finished = finish(request.clone()).await?;
                let response = connection.send(&finished, request.url.clone()).await?;
                let Some(next) = self.redirect(&request, &response)? else { return Ok(response) };
                request = next;
            }
            Err(PackError::failed(format!("more than {MAX_REDIRECTS} redirects")))
        };
        timeout(limit, sending).await.unwrap_or_else(|_| {
            let message = format!("no complete answer within {} s", limit.as_secs());
            Err(PackError::new(ErrorCode::Timeout, message))
        })
    }
}
