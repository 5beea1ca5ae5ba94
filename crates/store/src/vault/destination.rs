//! Where a secret is sent, and whether a credential is for it. Pure.

/// Where a secret is sent. Describe it before placeholders are replaced: it is recorded.
#[derive(Debug, Clone, Copy)]
pub struct Destination<'a> {
    /// Host name or address, without brackets and port.
    pub host: &'a str,
    /// Port, if known. A credential for a port is not sent without one.
    pub port: Option<u16>,
    /// Path of the address, without query; empty if there is none.
    pub path: &'a str,
}

impl<'a> From<&'a str> for Destination<'a> {
    /// A host, without port and path.
    fn from(host: &'a str) -> Self {
        Self { host, port: None, path: "" }
    }
}

impl Destination<'_> {
    /// The host as it is compared and recorded.
    pub(super) fn host(&self) -> String {
        self.host.trim_end_matches('.').to_ascii_lowercase()
    }

    /// The path as it is recorded: without a query, and not too long.
    pub(super) fn path(&self) -> String {
        let path = self.path.split(['?', '#']).next().unwrap_or_default();
        path.chars().take(500).collect()
    }

    /// Whether a credential with these patterns is for this destination.
    pub(super) fn fits(&self, host_pattern: &str, path_pattern: Option<&str>) -> bool {
        self.fits_host(host_pattern) && path_pattern.is_none_or(|pattern| self.fits_path(pattern))
    }

    fn fits_host(&self, pattern: &str) -> bool {
        let pattern = pattern.to_ascii_lowercase();
        let (pattern, port) = match pattern.rsplit_once(':') {
            Some((host, port)) => (host, port.parse::<u16>().ok()),
            None => (pattern.as_str(), None),
        };
        let host = self.host();
        let host_fits = match pattern.strip_prefix("*.") {
            Some(domain) => host
                .strip_suffix(domain)
                .and_then(|rest| rest.strip_suffix('.'))
                .is_some_and(|sub| !sub.is_empty()),
            None => host == pattern,
        };
        host_fits && (port.is_none() || port == self.port)
    }

    /// Whether the path is the pattern or below it. A path that servers may resolve to another one
    /// never is.
    fn fits_path(&self, pattern: &str) -> bool {
        let path = self.path.split(['?', '#']).next().unwrap_or_default();
        let path = if path.is_empty() { "/" } else { path };
        let lower = path.to_ascii_lowercase();
        let odd = ["%2e", "%2f", "%5c", "\\", "//"].iter().any(|it| lower.contains(it))
            || path.split('/').any(|segment| segment == "." || segment == "..");
        let pattern = pattern.trim_end_matches('/');
        let below = path.strip_prefix(pattern);
        !odd && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// How exact a host pattern is: those that name a host come before wildcards, and longer ones before
/// shorter.
pub(super) fn precision(host_pattern: &str, path_pattern: Option<&str>) -> (bool, usize, usize) {
    let exact = !host_pattern.starts_with("*.");
    (exact, host_pattern.len(), path_pattern.map_or(0, str::len))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(host: &str, pattern: &str) -> bool {
        Destination::from(host).fits(pattern, None)
    }

    #[test]
    fn a_host_is_matched_whole_and_a_wildcard_matches_subdomains_only() {
        assert!(fits("api.example.com", "api.example.com"));
        assert!(fits("API.Example.com.", "api.EXAMPLE.com"));
        assert!(fits("a.example.com", "*.example.com") && fits("a.b.example.com", "*.example.com"));
        for (host, pattern) in [
            ("example.com", "*.example.com"),
            (".example.com", "*.example.com"),
            ("evilexample.com", "*.example.com"),
            ("api.example.com.evil.net", "api.example.com"),
            ("xapi.example.com", "api.example.com"),
            ("evil.net", "*.example.com"),
            ("", "api.example.com"),
        ] {
            assert!(!fits(host, pattern), "{host} {pattern}");
        }
    }

    #[test]
    fn a_port_in_the_pattern_must_be_the_port_of_the_destination() {
        let at = |port| Destination { host: "127.0.0.1", port, path: "/" };
        assert!(at(Some(8080)).fits("127.0.0.1:8080", None));
        assert!(!at(Some(8081)).fits("127.0.0.1:8080", None));
        assert!(!at(None).fits("127.0.0.1:8080", None));
        assert!(at(Some(8081)).fits("127.0.0.1", None));
    }

    #[test]
    fn a_path_is_matched_by_segments_and_never_by_one_that_leads_elsewhere() {
        let fits = |path, pattern| {
            Destination { host: "a.example", port: None, path }.fits("a.example", Some(pattern))
        };
        for path in ["/v1", "/v1/", "/v1/x", "/v1?q=..", "/v1/${vault:a}/x"] {
            assert!(fits(path, "/v1") && fits(path, "/v1/"), "{path}");
        }
        assert!(fits("", "/") && fits("/x", "/"));
        for path in
            ["/v10", "/", "", "/v2", "/v1/../v2", "/v1/%2e%2e/v2", "/v1/..%2fv2", "/v1\\..\\v2"]
        {
            assert!(!fits(path, "/v1"), "{path}");
        }
    }
}
