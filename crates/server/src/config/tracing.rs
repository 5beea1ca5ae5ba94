//! Settings of traces for OpenTelemetry.

use http::{HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};

use super::{
    endpoints::address,
    layers::{ConfigError, Layers},
};

/// Where spans are sent.
#[derive(Debug, Clone)]
pub struct TraceSettings {
    /// `HELMDECK_OTLP_ENDPOINT`: the OpenTelemetry collector that gets spans of requests, jobs and calls
    /// of models, as OTLP over HTTP, such as `http://127.0.0.1:4318`; `/v1/traces` is appended (see
    /// [operations](operations.md#traces)). It may be in any network. Default: none; no spans are made.
    pub endpoint: Option<String>,
    /// `HELMDECK_OTLP_HEADERS`: headers for the collector, such as `authorization=Bearer abc`, separated
    /// by commas. Default: none.
    pub headers: Option<SecretString>,
}

impl TraceSettings {
    pub(super) fn read(layers: &mut Layers) -> Result<Self, ConfigError> {
        Ok(Self {
            endpoint: layers.value(
                "otlp_endpoint",
                "an address that begins with http:// or https://",
                |text| if text.is_empty() { Some(None) } else { address(text).map(Some) },
                || None,
            )?,
            headers: layers.secret("otlp_headers", "name=value, separated by commas", |text| {
                headers(text).is_some()
            })?,
        })
    }

    /// A value as text; secrets as dots.
    pub(super) fn shown(&self, key: &str) -> Option<String> {
        match key {
            "otlp_endpoint" => Some(self.endpoint.clone().unwrap_or_default()),
            "otlp_headers" => self.headers.as_ref().map(|_| "••••".to_owned()),
            _ => None,
        }
    }

    /// The headers for the collector.
    pub(crate) fn headers(&self) -> HeaderMap {
        let text = self.headers.as_ref().map(ExposeSecret::expose_secret);
        text.and_then(headers).unwrap_or_default()
    }
}

fn headers(text: &str) -> Option<HeaderMap> {
    let pairs = text.split(',').filter(|pair| !pair.trim().is_empty());
    let header = |pair: &str| {
        let (name, value) = pair.split_once('=')?;
        let name = HeaderName::try_from(name.trim()).ok()?;
        let mut value = HeaderValue::try_from(value.trim()).ok()?;
        value.set_sensitive(true);
        Some((name, value))
    };
    pairs.map(header).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_pairs() {
        let read = headers("authorization=Bearer a=b, x-team = ops,").unwrap();
        assert_eq!(
            (&read["authorization"], &read["x-team"]),
            (&"Bearer a=b".parse().unwrap(), &"ops".parse().unwrap())
        );
        assert!(headers("").unwrap().is_empty());
        for bad in ["a", "a b=c", "=x", "a=\u{7}"] {
            assert!(headers(bad).is_none(), "{bad}");
        }
    }
}
