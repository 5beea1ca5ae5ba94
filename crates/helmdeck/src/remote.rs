//! WebSocket connections to a server.

use std::{error::Error, fmt, time::Duration};

use helmdeck_server::{
    Config,
    token::{Grant, Signer},
};
use helmdeck_wire::ErrorBody;
use http::{HeaderValue, Request, header::AUTHORIZATION};
use secrecy::{ExposeSecret, SecretString};
use tokio::{net::TcpStream, time::timeout};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async_with_config,
    tungstenite::{Error as WsError, client::IntoClientRequest, protocol::WebSocketConfig},
};

/// Deadline to connect.
const CONNECT_DEADLINE: Duration = Duration::from_secs(20);
/// Lifetime of our own tokens, each for one connection.
const TOKEN_LIFE: Duration = Duration::from_secs(24 * 3600);

/// An open WebSocket.
pub type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// A server and the credentials for it.
pub struct Remote {
    /// Host, port, and path prefix of a proxy.
    place: String,
    right: Right,
}

enum Right {
    Given(SecretString),
    /// Tokens are created with this machine's secret.
    Own {
        signer: Box<Signer>,
        subject: String,
    },
}

/// Why a connection failed.
#[derive(Debug)]
pub enum NoSocket {
    /// The server refused.
    Refused(u16, String),
    /// The server did not answer.
    Unreachable(String),
}

impl fmt::Display for NoSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(_, why) => write!(f, "the server refused: {why}"),
            Self::Unreachable(why) => f.write_str(why),
        }
    }
}

impl Error for NoSocket {}

impl Remote {
    /// The server at `url`, else the one in the settings; with `token`, else our own.
    pub fn new(
        config: &Config,
        url: Option<&str>,
        token: Option<&SecretString>,
    ) -> Result<Self, Box<dyn Error>> {
        let base = url.map_or_else(|| format!("http://{}", config.addr), str::to_owned);
        let Some(place) = base.trim_end_matches('/').strip_prefix("http://") else {
            return Err(format!("{base}: expected an address that starts with http://").into());
        };
        let right = match token {
            Some(token) => Right::Given(token.clone()),
            None => {
                let subject = config.admin_username.clone();
                Right::Own { signer: Signer::load(config)?.into(), subject }
            }
        };
        Ok(Self { place: place.to_owned(), right })
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("http://{}", self.place)
    }

    /// The request for a WebSocket at this path.
    pub fn request(&self, path: &str) -> Result<Request<()>, NoSocket> {
        let failed = |error: &dyn Error| NoSocket::Unreachable(error.to_string());
        let request = format!("ws://{}{path}", self.place).into_client_request();
        let mut request = request.map_err(|e| failed(&e))?;
        let bearer = match &self.right {
            Right::Given(token) => format!("Bearer {}", token.expose_secret()),
            Right::Own { signer, subject } => {
                let scopes = ["admin".to_owned()];
                // A user who can read the server's secret counts as a person.
                let (human, label) = (true, Some("helmdeck"));
                let grant = Grant { subject, label, human, scopes: &scopes, ttl: TOKEN_LIFE };
                let minted = signer.mint(&grant).map_err(|e| failed(&e))?;
                format!("Bearer {}", minted.0)
            }
        };
        let bearer = HeaderValue::try_from(bearer).map_err(|e| failed(&e))?;
        request.headers_mut().insert(AUTHORIZATION, bearer);
        Ok(request)
    }

    /// Connects.
    pub async fn connect(&self, request: Request<()>) -> Result<Socket, NoSocket> {
        self.connect_with(request, None).await
    }

    /// The same, for messages up to this size.
    pub async fn connect_large(
        &self,
        request: Request<()>,
        largest: usize,
    ) -> Result<Socket, NoSocket> {
        let config = WebSocketConfig::default()
            .max_message_size(Some(largest))
            .max_frame_size(Some(largest));
        self.connect_with(request, Some(config)).await
    }

    async fn connect_with(
        &self,
        request: Request<()>,
        config: Option<WebSocketConfig>,
    ) -> Result<Socket, NoSocket> {
        let place = &self.place;
        // A click is a small packet that must not be delayed.
        let connecting = connect_async_with_config(request, config, true);
        let opened = timeout(CONNECT_DEADLINE, connecting).await;
        let late = |_| NoSocket::Unreachable(format!("http://{place} does not answer"));
        match opened.map_err(late)? {
            Ok((socket, _)) => Ok(socket),
            Err(WsError::Http(response)) => {
                let body = response.body().clone().unwrap_or_default();
                let why = match serde_json::from_slice::<ErrorBody>(&body) {
                    Ok(body) => body.message,
                    Err(_) => String::from_utf8_lossy(&body).into_owned(),
                };
                Err(NoSocket::Refused(response.status().as_u16(), why))
            }
            Err(other) => Err(NoSocket::Unreachable(format!("http://{place}: {other}"))),
        }
    }
}
