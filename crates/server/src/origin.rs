//! Checks that requests with a cookie and live views come from pages of this server.

use std::net::IpAddr;

use helmdeck_wire::ErrorCode;
use http::{HeaderMap, Uri, header};

use crate::error::{ApiError, ApiResult};

/// The origins of this server's pages.
#[derive(Debug, Clone)]
pub struct Origins {
    /// Origin of the public address, if configured.
    public: Option<String>,
    /// Other sites that may open a live view with a ticket.
    live: Vec<String>,
    /// Whether browsers use https.
    pub secure: bool,
    /// Whether the server itself speaks TLS.
    tls: bool,
}

impl Origins {
    /// `live` are origins as [`origin_of`] writes them.
    pub fn new(public_base: Option<&Uri>, live: Vec<String>, tls: bool) -> Self {
        let public = public_base.and_then(origin_of);
        let secure = public_base.map_or(tls, |base| base.scheme_str() == Some("https"));
        Self { public, live, secure, tls }
    }

    /// Whether `origin` is a page of this server. Without a configured public address, only the
    /// machine's own names and addresses are: anyone could make another name resolve to this
    /// server.
    fn allow(&self, origin: &str, host: Option<&str>) -> bool {
        if self.public.as_deref().is_some_and(|public| public.eq_ignore_ascii_case(origin)) {
            return true;
        }
        let Ok(origin) = origin.parse::<Uri>() else { return false };
        let (Some(authority), Some(scheme)) = (origin.authority(), origin.scheme_str()) else {
            return false;
        };
        // Nothing of ours is on this port without TLS.
        if self.tls && scheme != "https" {
            return false;
        }
        let name = authority.host().trim_start_matches('[').trim_end_matches(']');
        let ours = name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok();
        // The page must come from the host that it connects to, whatever port was forwarded.
        ours && host.is_some_and(|host| host.eq_ignore_ascii_case(authority.as_str()))
    }
}

/// The origin as browsers write it: without the default port.
pub fn origin_of(base: &Uri) -> Option<String> {
    let (scheme, authority) = (base.scheme_str()?, base.authority()?);
    match (scheme, authority.port_u16()) {
        ("https", Some(443)) | ("http", Some(80)) => {
            Some(format!("{scheme}://{}", authority.host()))
        }
        _ => Some(format!("{scheme}://{authority}")),
    }
}

/// Refuses live views to pages of other sites, unless HELMDECK_ALLOWED_ORIGINS lists them. Only for
/// connections with a ticket: cookies of other sites are never accepted.
pub fn check_live(origins: &Origins, headers: &HeaderMap) -> ApiResult<()> {
    let origin = headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok());
    let listed = |origin: &str| origins.live.iter().any(|live| live.eq_ignore_ascii_case(origin));
    if origin.is_some_and(listed) {
        return Ok(());
    }
    check(origins, headers).map_err(|refused| {
        let message =
            format!("{}; HELMDECK_ALLOWED_ORIGINS can allow other sites", refused.message);
        ApiError { message, ..refused }
    })
}

/// Refuses requests from pages of other sites. Programs send no origin and are accepted.
pub fn check(origins: &Origins, headers: &HeaderMap) -> ApiResult<()> {
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    if origin.to_str().is_ok_and(|origin| origins.allow(origin, host)) {
        return Ok(());
    }
    let message = "this page does not belong to this server: open the server by its address, or set \
                   HELMDECK_VNC_PUBLIC_BASE to the address that you use";
    Err(ApiError::new(ErrorCode::ForeignOrigin, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(public: Option<&str>, origin: &str, host: &str) -> bool {
        let public = public.map(|text| text.parse::<Uri>().unwrap());
        let origins = Origins::new(public.as_ref(), Vec::new(), false);
        origins.allow(origin, Some(host))
    }

    #[test]
    fn our_own_pages_are_allowed_and_no_others() {
        assert!(allowed(None, "http://localhost:3000", "localhost:3000"));
        assert!(allowed(None, "http://127.0.0.1:3000", "127.0.0.1:3000"));
        assert!(allowed(None, "http://[::1]:3000", "[::1]:3000"));
        assert!(allowed(None, "http://192.168.1.5:3000", "192.168.1.5:3000"));
        assert!(allowed(None, "http://localhost:8080", "localhost:8080"), "a forwarded port");
        for foreign in ["http://evil.example", "http://localhost:3001", "null", "", "file://"] {
            assert!(!allowed(None, foreign, "localhost:3000"), "{foreign}");
        }
        assert!(!allowed(None, "http://evil.example:3000", "evil.example:3000"), "rebinding");
    }

    #[test]
    fn an_allowed_origin_opens_live_views_and_nothing_else() {
        let origins = Origins::new(None, vec!["https://novnc.example".into()], false);
        let from = |origin: &str| {
            let headers = [(header::ORIGIN, origin), (header::HOST, "localhost:3000")];
            headers.into_iter().map(|(name, value)| (name, value.parse().unwrap())).collect()
        };
        assert!(check_live(&origins, &from("https://novnc.example")).is_ok());
        assert!(check_live(&origins, &from("http://localhost:3000")).is_ok());
        assert!(check_live(&origins, &from("https://novnc.example.evil.example")).is_err());
        assert!(check_live(&origins, &from("http://novnc.example")).is_err());
        assert!(
            check(&origins, &from("https://novnc.example")).is_err(),
            "cookies are not accepted"
        );
    }

    #[test]
    fn with_tls_only_https_pages_are_ours_and_cookies_are_secure() {
        let origins = Origins::new(None, Vec::new(), true);
        assert!(origins.secure);
        assert!(origins.allow("https://localhost:3000", Some("localhost:3000")));
        assert!(!origins.allow("http://localhost:3000", Some("localhost:3000")));
    }

    #[test]
    fn the_public_address_is_ours_too() {
        let base = Some("https://desk.example.com/helm");
        assert!(allowed(base, "https://desk.example.com", "127.0.0.1:3000"));
        assert!(allowed(Some("https://desk.example.com:443"), "https://desk.example.com", "x"));
        assert!(!allowed(base, "http://desk.example.com", "desk.example.com"));
        assert!(allowed(base, "http://localhost:3000", "localhost:3000"));
    }
}
