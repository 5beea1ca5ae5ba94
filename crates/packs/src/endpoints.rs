//! Addresses of services that packs use.

/// Addresses of services.
#[derive(Debug, Clone)]
pub struct Endpoints {
    /// GitHub's REST API.
    pub github: Endpoint,
    /// Resend's API.
    pub resend: Endpoint,
    /// A Firecrawl server, if there is one.
    pub firecrawl: Option<Endpoint>,
    /// A Docling service, if there is one.
    pub docling: Option<Endpoint>,
}

/// The address of a service.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The address, without a slash at its end.
    pub url: String,
    /// Whether the operator configured it. Such a service may be in a private network.
    pub is_configured: bool,
}

impl Endpoint {
    /// A service on the Internet.
    pub fn public(url: &str) -> Self {
        Self { url: url.to_owned(), is_configured: false }
    }

    /// A service that the operator chose.
    pub fn configured(url: &str) -> Self {
        // The policy refuses the name, whatever the address is.
        let url = url.trim_end_matches('/').replacen("://localhost", "://127.0.0.1", 1);
        Self { url, is_configured: true }
    }
}

impl Default for Endpoints {
    fn default() -> Self {
        Self {
            github: Endpoint::public("https://api.github.com"),
            resend: Endpoint::public("https://api.resend.com"),
            firecrawl: None,
            docling: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configured_address_may_be_this_machine() {
        let endpoint = Endpoint::configured("http://localhost:3002/");
        assert_eq!(endpoint.url, "http://127.0.0.1:3002");
    }
}
