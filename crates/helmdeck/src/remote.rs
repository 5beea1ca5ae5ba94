//! Connections to a server.

use std::{error::Error, fmt, time::Duration};

use helmdeck_wire::ErrorBody;
use http::{HeaderValue, Request, header::AUTHORIZATION};
use secrecy::{ExposeSecret, SecretString};
use socket2::{SockRef, TcpKeepalive};
use tokio::{net::TcpStream, time::timeout};
use tokio_tungstenite::{
    WebSocketStream, client_async_with_config,
    tungstenite::{Error as WsError, client::IntoClientRequest, protocol::WebSocketConfig},
};

use crate::local::{self, Bearer, Config, Mint};

/// Deadline to connect.
const CONNECT_DEADLINE: Duration = Duration::from_secs(20);
/// A connection is probed when it was silent for this long: a server whose machine is gone sends
/// nothing.
const PROBE_AFTER: Duration = Duration::from_secs(30);
/// Pause between probes.
const PROBE_EVERY: Duration = Duration::from_secs(10);

/// An open WebSocket.
pub type Socket = WebSocketStream<TcpStream>;

/// A server and the credentials for it.
pub struct Remote {
    /// Host, port, and path prefix of a proxy.
    place: String,
    right: Right,
}

enum Right {
    Given(SecretString),
    /// Tokens are created with this machine's secret.
    Own(Mint),
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
        Self::new_for(config, url, token, Bearer::Person)
    }

    /// The same. Our own tokens are for this bearer.
    pub fn new_for(
        config: &Config,
        url: Option<&str>,
        token: Option<&SecretString>,
        bearer: Bearer,
    ) -> Result<Self, Box<dyn Error>> {
        let base = url.map_or_else(|| local::url(config), |url| Ok(url.to_owned()))?;
        let Some(place) = base.trim_end_matches('/').strip_prefix("http://") else {
            return Err(format!("{base}: expected an address that starts with http://").into());
        };
        let right = match token {
            Some(token) => Right::Given(token.clone()),
            None => Right::Own(Mint::open(config, bearer)?),
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
            Right::Own(mint) => format!("Bearer {}", mint.token().map_err(|e| failed(&*e))?),
        };
        let bearer = HeaderValue::try_from(bearer).map_err(|e| failed(&e))?;
        request.headers_mut().insert(AUTHORIZATION, bearer);
        Ok(request)
    }

    /// Connects to its port.
    pub async fn dial(&self) -> Result<TcpStream, NoSocket> {
        let place = self.place.split('/').next().unwrap_or_default();
        let address = if has_port(place) { place.to_owned() } else { format!("{place}:80") };
        let late = |_| NoSocket::Unreachable(format!("{} does not answer", self.url()));
        let dialled = timeout(CONNECT_DEADLINE, TcpStream::connect(address)).await.map_err(late)?;
        let failed = |error| NoSocket::Unreachable(format!("{}: {error}", self.url()));
        let stream = dialled.map_err(failed)?;
        // A click is a small packet that must not be delayed.
        let _ = stream.set_nodelay(true);
        let probes = TcpKeepalive::new().with_time(PROBE_AFTER).with_interval(PROBE_EVERY);
        let _ = SockRef::from(&stream).set_tcp_keepalive(&probes);
        Ok(stream)
    }

    /// Opens a WebSocket.
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
        let stream = self.dial().await?;
        let opening = client_async_with_config(request, stream, config);
        let opened = timeout(CONNECT_DEADLINE, opening).await;
        let late = |_| NoSocket::Unreachable(format!("{} does not answer", self.url()));
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
            Err(other) => Err(NoSocket::Unreachable(format!("{}: {other}", self.url()))),
        }
    }
}

fn has_port(place: &str) -> bool {
    place.rsplit_once(':').is_some_and(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()))
}
