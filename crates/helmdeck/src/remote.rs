//! Connections to a server.

mod trust;

use std::{error::Error, fmt, path::Path, time::Duration};

use helmdeck_task::BoxFuture;
use helmdeck_wire::ErrorBody;
use http::{
    HeaderValue, Request, Uri,
    header::AUTHORIZATION,
    uri::{Authority, Scheme},
};
use secrecy::{ExposeSecret, SecretString};
use socket2::{SockRef, TcpKeepalive};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::timeout,
};
use tokio_tungstenite::{
    WebSocketStream, client_async_with_config,
    tungstenite::{Error as WsError, client::IntoClientRequest, protocol::WebSocketConfig},
};

use crate::local::{self, Bearer, Config, TokenSigner};
use trust::Trust;

/// Deadline to connect.
const CONNECT_DEADLINE: Duration = Duration::from_secs(20);
/// A connection is probed when it was silent for this long: a server whose machine is gone sends
/// nothing.
const PROBE_AFTER: Duration = Duration::from_secs(30);
/// Pause between probes.
const PROBE_EVERY: Duration = Duration::from_secs(10);

/// Bytes to and from a server, encrypted or not.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// An open WebSocket.
pub type Socket = WebSocketStream<Box<dyn Duplex>>;

/// A server and the credentials for it.
pub struct Remote {
    authority: Authority,
    /// Path prefix of a proxy.
    prefix: String,
    /// Certificates to accept, if it speaks TLS.
    trust: Option<Trust>,
    right: Right,
}

enum Right {
    Given(SecretString),
    /// Tokens are created with this machine's secret.
    Own(TokenSigner),
}

/// Why a connection failed.
#[derive(Debug)]
pub enum ConnectFailure {
    /// The server refused.
    Refused(u16, String),
    /// The server did not answer.
    Unreachable(String),
}

impl fmt::Display for ConnectFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(_, why) => write!(f, "the server refused: {why}"),
            Self::Unreachable(why) => f.write_str(why),
        }
    }
}

impl Error for ConnectFailure {}

impl Remote {
    /// The server at `url`, else the one in the settings. Without `token`, it must be this machine's
    /// server, for which tokens are created. `ca_file` has certificates to trust besides those of
    /// the system.
    pub fn new(
        config: &Config,
        url: Option<&str>,
        token: Option<&SecretString>,
        ca_file: Option<&Path>,
    ) -> Result<Self, Box<dyn Error>> {
        Self::new_for(config, url, token, ca_file, Bearer::Person)
    }

    /// The same. Our own tokens are for this bearer.
    pub fn new_for(
        config: &Config,
        url: Option<&str>,
        token: Option<&SecretString>,
        ca_file: Option<&Path>,
        bearer: Bearer,
    ) -> Result<Self, Box<dyn Error>> {
        let (authority, prefix, trust) = match url {
            Some(url) => {
                let (scheme, authority, prefix) = parse(url).ok_or_else(|| {
                    format!("{url}: expected an address that starts with http:// or https://")
                })?;
                let secure = scheme == Scheme::HTTPS;
                (authority, prefix, secure.then(|| Trust::system(ca_file)).transpose()?)
            }
            None => {
                let (address, certificate) = local::address(config)?;
                let trust = certificate.map(|file| Trust::exactly(&file)).transpose()?;
                (address.to_string().parse()?, String::new(), trust)
            }
        };
        let right = match token {
            Some(token) => Right::Given(token.clone()),
            None if url.is_none() || local::is_here(config, &authority) => {
                Right::Own(TokenSigner::open(config, bearer)?)
            }
            None => {
                let url = url.unwrap_or_default();
                let advice = format!("log in with `helmdeck login {url}`, or set HELMDECK_TOKEN");
                return Err(format!("no token for {url}: {advice}").into());
            }
        };
        Ok(Self { authority, prefix, trust, right })
    }

    /// Its address.
    pub fn url(&self) -> String {
        let scheme = if self.trust.is_some() { "https" } else { "http" };
        format!("{scheme}://{}{}", self.authority, self.prefix)
    }

    /// The file with certificates to trust, if one was given or it is this machine's server.
    pub fn ca_file(&self) -> Option<&Path> {
        self.trust.as_ref()?.ca_file()
    }

    /// The request for a WebSocket at this path.
    pub fn request(&self, path: &str) -> Result<Request<()>, ConnectFailure> {
        let failed = |error: &dyn Error| ConnectFailure::Unreachable(error.to_string());
        let scheme = if self.trust.is_some() { "wss" } else { "ws" };
        let request = format!("{scheme}://{}{}{path}", self.authority, self.prefix);
        let mut request = request.into_client_request().map_err(|e| failed(&e))?;
        let bearer = match &self.right {
            Right::Given(token) => format!("Bearer {}", token.expose_secret()),
            Right::Own(mint) => format!("Bearer {}", mint.token().map_err(|e| failed(&*e))?),
        };
        let bearer = HeaderValue::try_from(bearer).map_err(|e| failed(&e))?;
        request.headers_mut().insert(AUTHORIZATION, bearer);
        Ok(request)
    }

    /// Connects to its port, with a TLS handshake if it speaks TLS.
    pub fn dial(&self) -> BoxFuture<'_, Result<Box<dyn Duplex>, ConnectFailure>> {
        Box::pin(async move {
            let url = self.url();
            let host = self.authority.host().trim_matches(['[', ']']);
            let standard = if self.trust.is_some() { 443 } else { 80 };
            let port = self.authority.port_u16().unwrap_or(standard);
            let dialling = async {
                let stream = TcpStream::connect((host, port)).await;
                let stream = stream.map_err(|error| format!("{url}: {error}"))?;
                // A click is a small packet that must not be delayed.
                let _ = stream.set_nodelay(true);
                let probes = TcpKeepalive::new().with_time(PROBE_AFTER).with_interval(PROBE_EVERY);
                let _ = SockRef::from(&stream).set_tcp_keepalive(&probes);
                match &self.trust {
                    None => Ok(Box::new(stream) as Box<dyn Duplex>),
                    Some(trust) => trust.handshake(host, stream, &url).await,
                }
            };
            let late = |_| ConnectFailure::Unreachable(format!("{url} does not answer"));
            let dialled = timeout(CONNECT_DEADLINE, dialling).await.map_err(late)?;
            dialled.map_err(ConnectFailure::Unreachable)
        })
    }

    /// Opens a WebSocket.
    pub async fn connect(&self, request: Request<()>) -> Result<Socket, ConnectFailure> {
        self.connect_with(request, None).await
    }

    /// The same, for messages up to this size.
    pub async fn connect_large(
        &self,
        request: Request<()>,
        largest: usize,
    ) -> Result<Socket, ConnectFailure> {
        let config = WebSocketConfig::default()
            .max_message_size(Some(largest))
            .max_frame_size(Some(largest));
        self.connect_with(request, Some(config)).await
    }

    fn connect_with(
        &self,
        request: Request<()>,
        config: Option<WebSocketConfig>,
    ) -> BoxFuture<'_, Result<Socket, ConnectFailure>> {
        Box::pin(async move {
            let stream = self.dial().await?;
            let opening = client_async_with_config(request, stream, config);
            let opened = timeout(CONNECT_DEADLINE, opening).await;
            let late = |_| ConnectFailure::Unreachable(format!("{} does not answer", self.url()));
            match opened.map_err(late)? {
                Ok((socket, _)) => Ok(socket),
                Err(WsError::Http(response)) => {
                    let body = response.body().clone().unwrap_or_default();
                    let why = match serde_json::from_slice::<ErrorBody>(&body) {
                        Ok(body) => body.message,
                        Err(_) => String::from_utf8_lossy(&body).into_owned(),
                    };
                    Err(ConnectFailure::Refused(response.status().as_u16(), why))
                }
                Err(other) => Err(ConnectFailure::Unreachable(format!("{}: {other}", self.url()))),
            }
        })
    }
}

/// Scheme, host with port, and prefix of an address.
fn parse(url: &str) -> Option<(Scheme, Authority, String)> {
    let uri: Uri = url.parse().ok()?;
    let prefix = uri.path().trim_end_matches('/').to_owned();
    let parts = uri.into_parts();
    let scheme = parts.scheme.filter(|it| *it == Scheme::HTTP || *it == Scheme::HTTPS)?;
    Some((scheme, parts.authority?, prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_scheme_and_may_have_a_port_and_a_prefix() {
        let parsed =
            |url| parse(url).map(|(scheme, place, prefix)| format!("{scheme} {place} {prefix}"));
        assert_eq!(parsed("http://localhost:3000").unwrap(), "http localhost:3000 ");
        assert_eq!(parsed("https://a.example/p/").unwrap(), "https a.example /p");
        assert_eq!(parsed("HTTPS://[::1]:3000/").unwrap(), "https [::1]:3000 ");
        for bad in ["localhost:3000", "ftp://a", "a.example", "", "/x", "wss://a"] {
            assert_eq!(parsed(bad), None, "{bad}");
        }
    }

    #[cfg(feature = "server")]
    #[test]
    fn no_token_of_this_machine_is_created_for_another_server() {
        let data = tempfile::tempdir().unwrap();
        let folder = data.path().to_str().unwrap().to_owned();
        let options = [("HELMDECK_DATA_DIR", folder), ("HELMDECK_ADDR", "10.1.2.3:3000".into())];
        let options = options.map(|(name, value)| (name.to_owned(), value));
        let config = Config::load(None, options.into_iter()).unwrap();
        let open = |url, token: Option<&SecretString>| Remote::new(&config, Some(url), token, None);
        let given = SecretString::from("given");
        for url in [
            "http://desk.example.com",
            "https://desk.example.com:3000/prefix",
            "http://10.1.2.4:3000",
            "http://10.1.2.3:3001",
            "http://localhost@desk.example.com",
            "http://localhost.example.com",
        ] {
            let refused = open(url, None).err().expect(url).to_string();
            assert!(refused.contains(&format!("helmdeck login {url}")), "{refused}");
            assert!(open(url, Some(&given)).is_ok(), "{url}");
        }
        let local =
            ["http://10.1.2.3:3000", "http://127.0.0.1:9", "https://[::1]/", "http://localhost"];
        for url in local {
            assert!(open(url, None).is_ok(), "{url}");
        }
    }
}
