//! Addresses of a service, a bucket and its objects.

use std::fmt;

use http::Uri;

/// Where a service listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Whether connections are encrypted.
    pub secure: bool,
    /// Host, with brackets if it is an IPv6 address.
    host: String,
    /// Port, if it is not the default one.
    port: Option<u16>,
}

/// Where requests name the bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addressing {
    /// `https://host/bucket/key`.
    Path,
    /// `https://bucket.host/key`.
    VirtualHost,
}

impl Endpoint {
    /// `https://host`, `http://host:port`, or `host:port`, which `secure` decides about.
    pub fn parse(text: &str, secure: bool) -> Option<Self> {
        let text = text.trim().trim_end_matches('/');
        let (secure, authority) = match text.split_once("://") {
            Some(("https", rest)) => (true, rest),
            Some(("http", rest)) => (false, rest),
            Some(_) => return None,
            None => (secure, text),
        };
        let uri: Uri = format!("http://{authority}").parse().ok()?;
        if authority.contains(['/', '?', '#', '@', '\\']) || uri.host()?.is_empty() {
            return None;
        }
        let port = uri.port_u16();
        if authority.len() > uri.host()?.len() && port.is_none() {
            return None;
        }
        let default = if secure { 443 } else { 80 };
        let host = uri.host()?.to_ascii_lowercase();
        Some(Self { secure, host, port: port.filter(|port| *port != default) })
    }

    /// The endpoint of AWS in a region.
    pub fn aws(region: &str) -> Self {
        Self { secure: true, host: format!("s3.{region}.amazonaws.com"), port: None }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.secure { "https" } else { "http" };
        write!(f, "{scheme}://{}", self.host)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

/// Where a bucket is.
#[derive(Debug, Clone)]
pub(crate) struct BucketAddress {
    /// Host to connect to, without brackets.
    pub host: String,
    /// Port to connect to.
    pub port: u16,
    /// The `Host` header.
    pub authority: String,
    /// Begins the path of every request, and ends with `/`.
    root: String,
}

impl BucketAddress {
    pub fn new(endpoint: &Endpoint, bucket: &str, addressing: Addressing) -> Self {
        let (host, root) = match addressing {
            Addressing::Path => (endpoint.host.clone(), format!("/{bucket}/")),
            Addressing::VirtualHost => (format!("{bucket}.{}", endpoint.host), "/".to_owned()),
        };
        let authority = match endpoint.port {
            Some(port) => format!("{host}:{port}"),
            None => host.clone(),
        };
        let port = endpoint.port.unwrap_or(if endpoint.secure { 443 } else { 80 });
        Self { host: host.trim_matches(['[', ']']).to_owned(), port, authority, root }
    }

    /// The path of the bucket.
    pub fn bucket(&self) -> &str {
        // Servers differ in what they sign for `/bucket/`.
        match self.root.as_str() {
            "/" => "/",
            root => root.trim_end_matches('/'),
        }
    }

    /// The path of an object. Keys need no encoding: see [`is_key`].
    pub fn object(&self, key: &str) -> String {
        format!("{}{key}", self.root)
    }
}

/// Whether a key or prefix has only characters that look the same in a path, and no empty or relative
/// segments.
pub(crate) fn is_key(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.~".contains(&b);
    let segment = |segment: &str| !matches!(segment, "" | "." | "..") && segment.bytes().all(plain);
    text.len() <= 900 && text.split('/').all(segment)
}

/// Whether a text can be the name of a bucket.
pub(crate) fn is_bucket(text: &str) -> bool {
    (3..=63).contains(&text.len()) && !text.contains('/') && is_key(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_a_host_with_a_scheme_and_a_port() {
        for (text, shown) in [
            ("https://s3.example.com", "https://s3.example.com"),
            ("https://S3.example.com:443/", "https://s3.example.com"),
            ("http://10.0.0.7:9000", "http://10.0.0.7:9000"),
            ("http://[::1]:9000", "http://[::1]:9000"),
            ("garage:3900", "https://garage:3900"),
        ] {
            assert_eq!(Endpoint::parse(text, true).unwrap().to_string(), shown);
        }
        let plain = Endpoint::parse("garage:3900", false).unwrap();
        assert_eq!(plain.to_string(), "http://garage:3900");
        for bad in ["", "https://", "ftp://a", "https://a/b", "https://u:p@a", "a:b", "https://a?x"]
        {
            assert_eq!(Endpoint::parse(bad, true), None, "{bad}");
        }
    }

    #[test]
    fn a_bucket_is_in_the_path_or_in_the_host() {
        let endpoint = Endpoint::parse("http://[::1]:9000", true).unwrap();
        let path = BucketAddress::new(&endpoint, "files", Addressing::Path);
        assert_eq!((path.host.as_str(), path.authority.as_str()), ("::1", "[::1]:9000"));
        assert_eq!((path.bucket(), path.object("a/b").as_str()), ("/files", "/files/a/b"));
        let aws = BucketAddress::new(&Endpoint::aws("eu-west-1"), "files", Addressing::VirtualHost);
        assert_eq!(aws.authority, "files.s3.eu-west-1.amazonaws.com");
        assert_eq!((aws.port, aws.bucket(), aws.object("a").as_str()), (443, "/", "/a"));
    }

    #[test]
    fn keys_have_no_characters_to_encode() {
        for good in ["a", "ab/abc", "team-1/x_y.z"] {
            assert!(is_key(good), "{good}");
        }
        for bad in ["", "/a", "a/", "a//b", "../a", "a b", "a%2f", "é"] {
            assert!(!is_key(bad), "{bad}");
        }
        assert!(is_bucket("my-files") && !is_bucket("ab") && !is_bucket("a/b/c"));
    }
}
