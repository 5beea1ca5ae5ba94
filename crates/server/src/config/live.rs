//! Settings of the live view.

use http::Uri;

use super::layers::{ConfigError, Layers};
use crate::origin::origin_of;

/// How people reach and see sessions.
#[derive(Debug, Clone)]
pub struct Live {
    /// `HELMDECK_VNC_PUBLIC_BASE`: the public address of the server, for example
    /// `https://desk.example.com/helmdeck` (see [behind a proxy](behind-a-proxy.md)). Default: the
    /// address of each request.
    pub vnc_public_base: Option<Uri>,
    /// `HELMDECK_PUBLISH_VNC_PORTS`: serves each desktop session on a separate port as well, the next
    /// free one from 6080. Default `false`.
    pub publish_vnc_ports: bool,
    /// `HELMDECK_EMBED_ANCESTORS`: sites that may show `/embed/{session}` in a frame. Default: none.
    pub embed_ancestors: Option<String>,
    /// `HELMDECK_ALLOWED_ORIGINS`: other sites whose pages may open a live view with a ticket, for
    /// example a noVNC served elsewhere. The login cookie is never accepted from them. Default: none.
    pub allowed_origins: Vec<String>,
    /// `HELMDECK_BROWSER_PASSTHROUGH`: shows browsers that the agent's programs start and lets them
    /// answer `/api/v1/browser/…`, for sessions that do not set `browser_passthrough`. An admin can
    /// also turn it on in *Settings*. Default `false`.
    pub browser_passthrough: bool,
}

impl Live {
    pub(super) fn read(layers: &mut Layers) -> Result<Self, ConfigError> {
        Ok(Self {
            vnc_public_base: layers.value(
                "vnc_public_base",
                "an address such as https://desk.example.com",
                |text| if text.is_empty() { Some(None) } else { base(text).map(Some) },
                || None,
            )?,
            publish_vnc_ports: layers.value(
                "publish_vnc_ports",
                "true or false",
                |text| text.parse().ok(),
                || false,
            )?,
            embed_ancestors: layers.value(
                "embed_ancestors",
                "addresses such as https://desk.example.com, separated by spaces",
                |text| if text.is_empty() { Some(None) } else { sources(text).map(Some) },
                || None,
            )?,
            allowed_origins: layers.value(
                "allowed_origins",
                "origins such as https://novnc.example.com, separated by commas",
                origins,
                Vec::new,
            )?,
            browser_passthrough: layers.value(
                "browser_passthrough",
                "true or false",
                |text| text.parse().ok(),
                || false,
            )?,
        })
    }
}

/// Origins: scheme, host and port, without a path.
fn origins(text: &str) -> Option<Vec<String>> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let origin = |part| {
        let base = base(part)?;
        (base.path() == "/" && !part.ends_with('/')).then(|| origin_of(&base)).flatten()
    };
    parts.map(origin).collect()
}

fn base(text: &str) -> Option<Uri> {
    let base: Uri = text.parse().ok()?;
    let web = matches!(base.scheme_str(), Some("http" | "https")) && base.authority().is_some();
    (web && base.query().is_none()).then_some(base)
}

/// Sources of a content security policy. Anything that could extend the policy is refused.
fn sources(text: &str) -> Option<String> {
    let good = |source: &str| {
        source == "'self'"
            || (source.starts_with("http://") || source.starts_with("https://"))
                && source.bytes().all(|b| b.is_ascii_alphanumeric() || b".:/-*[]".contains(&b))
    };
    let sources: Vec<_> = text.split_whitespace().collect();
    (!sources.is_empty() && sources.iter().all(|source| good(source))).then(|| sources.join(" "))
}
