//! Services of the operator that work for packs, and may still be starting: Firecrawl and Docling.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode, header};
use serde_json::Value;
use tokio::time::sleep;

use crate::{HttpClient, HttpRequest, HttpResponse, PackError, PackResult, error::RETRY_S};

/// Pauses between attempts.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(2)];

/// A request to a service.
pub struct Asked<'a> {
    /// The service, for messages.
    pub name: &'static str,
    /// Address.
    pub url: String,
    /// Body.
    pub body: &'a Value,
    /// How long one attempt may take.
    pub timeout: Duration,
    /// Maximum size of the response.
    pub max_bytes: usize,
}

/// Posts a request. If the service cannot be reached or is not ready, it is sent again, four times in
/// all.
pub async fn post(client: &HttpClient, asked: Asked<'_>) -> PackResult<HttpResponse> {
    post_with(client, asked, &PAUSES).await
}

async fn post_with(
    client: &HttpClient,
    asked: Asked<'_>,
    pauses: &[Duration],
) -> PackResult<HttpResponse> {
    let Asked { name, url, body, timeout, max_bytes } = asked;
    let mut request = HttpRequest {
        method: Method::POST,
        body: Bytes::from(body.to_string()),
        max_bytes,
        timeout,
        ..HttpRequest::get(&url)
    };
    let json = HeaderValue::from_static("application/json");
    request.headers.insert(header::CONTENT_TYPE, json);
    let mut pauses = pauses.iter();
    loop {
        let answer = client.send(request.clone(), async |_, request| Ok(request)).await;
        let why = match answer {
            Ok(answer) if starts(answer.status) => format!("it answered {}", answer.status),
            Err(error) if error.is_unreached() => error.to_string(),
            answer => return answer,
        };
        let Some(pause) = pauses.next() else {
            let message = format!("{name} does not work at the moment: {why}");
            return Err(PackError::failed(message).retry_after_s(RETRY_S));
        };
        sleep(*pause).await;
    }
}

/// Whether a status says that the service, or what is behind it, is not ready.
fn starts(status: StatusCode) -> bool {
    matches!(status.as_u16(), 502..=504)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
    };

    use super::*;

    async fn ask(url: String, pauses: usize) -> PackResult<HttpResponse> {
        let client = HttpClient::for_services().unwrap();
        let (body, timeout) = (json!({}), Duration::from_secs(20));
        let asked = Asked { name: "Docling", url, body: &body, timeout, max_bytes: 100 };
        post_with(&client, asked, &vec![Duration::ZERO; pauses]).await
    }

    #[tokio::test]
    async fn a_service_that_starts_is_asked_again() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let serving = tokio::spawn(async move {
            for answer in [None, Some("503 Service Unavailable"), Some("200 OK")] {
                let (mut stream, _) = listener.accept().await.unwrap();
                let Some(status) = answer else { continue };
                let mut buffer = [0; 4096];
                let _ = stream.read(&mut buffer).await.unwrap();
                let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\n\r\nhi");
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        assert_eq!(ask(url.clone(), 3).await.unwrap().status, StatusCode::OK);
        serving.await.unwrap();
        let error = ask(url, 1).await.unwrap_err();
        assert!(error.to_string().starts_with("Docling does not work at the moment"), "{error}");
        assert_eq!(error.body().retryable, Some(true));
        assert_eq!(error.clone().of_job().body().retryable, Some(true));
    }
}
