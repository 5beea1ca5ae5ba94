//! The server's public address.

use helmdeck_wire::{SessionId, session::Mode, ticket::Role};
use http::{HeaderMap, Uri, header};

use crate::App;

/// Scheme, host and port, with the path prefix of a proxy.
pub struct Address {
    scheme: String,
    authority: String,
    prefix: String,
}

impl Address {
    /// The configured public address, else the one that the client used, else the listening
    /// address.
    pub fn of(app: &App, headers: &HeaderMap) -> Self {
        if let Some(base) = &app.public_base
            && let Some(authority) = base.authority()
        {
            let scheme = base.scheme_str().unwrap_or("http").to_owned();
            let prefix = base.path().trim_end_matches('/').to_owned();
            return Self { scheme, authority: authority.to_string(), prefix };
        }
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let used = host.filter(|host| host.parse::<http::uri::Authority>().is_ok());
        let authority = used.map_or_else(|| app.addr.to_string(), str::to_owned);
        let scheme = if app.tls.is_some() { "https" } else { "http" };
        Self { scheme: scheme.to_owned(), authority, prefix: String::new() }
    }

    /// The page that shows a session's desktop, or the browser of a headless session, with a
    /// ticket. It requests a screen that follows the viewer's window, which the page does only on
    /// its user's command.
    pub fn viewer(&self, session: &SessionId, mode: Mode, ticket: &str, role: Role) -> String {
        let Self { scheme, authority, .. } = self;
        let page = self.path("/vnc.html");
        // The whole path is one value of the query, so its separators are escaped.
        let role = role.as_str();
        let picture = match mode {
            Mode::Desktop => "vnc",
            Mode::Headless => "cdp-stream",
        };
        let path =
            format!("api/v1/sessions/{session}/{picture}%3Frole%3D{role}%26ticket%3D{ticket}");
        format!("{scheme}://{authority}{page}?autoconnect=true&resize=remote&path={path}")
    }

    /// The page of a session, for users who are logged in.
    pub fn session(&self, session: &SessionId) -> String {
        self.url(&format!("/sessions/{session}"))
    }

    /// The debugging protocol address of a session's browser, with a ticket.
    pub fn cdp(&self, session: &SessionId, ticket: &str) -> String {
        let scheme = if self.scheme == "https" { "wss" } else { "ws" };
        let path = self.path(&format!("/api/v1/sessions/{session}/cdp"));
        format!("{scheme}://{}{path}?ticket={ticket}", self.authority)
    }

    /// The address of a path of this server.
    pub fn url(&self, path: &str) -> String {
        format!("{}://{}{}", self.scheme, self.authority, self.path(path))
    }

    pub fn host(&self) -> String {
        self.uri().host().unwrap_or_default().to_owned()
    }

    pub fn port(&self) -> String {
        let standard = if self.scheme == "https" { 443 } else { 80 };
        self.uri().port_u16().unwrap_or(standard).to_string()
    }

    pub fn path(&self, path: &str) -> String {
        format!("{}{path}", self.prefix)
    }

    fn uri(&self) -> Uri {
        format!("{}://{}/", self.scheme, self.authority).parse().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_viewer_address_lets_the_page_resize_the_screen_when_asked() {
        let address =
            Address { scheme: "https".into(), authority: "a.example".into(), prefix: "/p".into() };
        let url = address.viewer(&SessionId::new("s"), Mode::Desktop, "t", Role::View);
        assert_eq!(
            url,
            "https://a.example/p/vnc.html?autoconnect=true&resize=remote&path=\
             api/v1/sessions/s/vnc%3Frole%3Dview%26ticket%3Dt"
        );
    }
}
