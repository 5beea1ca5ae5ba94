//! The proxy for a session's outgoing connections, from the client's request to the egress gate.

use helmdeck_egress::{Bypass, Via};
use helmdeck_wire::proxy::{Proxy, Secret};

use crate::{Session, SessionError, spec::invalid};

/// Maximum number of hosts to dial directly.
const MAX_BYPASS: usize = 100;

impl Session {
    /// The session's proxy, without credentials.
    pub fn leaves_by(&self) -> Result<Option<Via>, SessionError> {
        let shown = self.inner.record.spec.proxy.as_ref().map(|proxy| Proxy {
            username: None,
            password: None,
            ..proxy.clone()
        });
        shown.as_ref().map(via).transpose()
    }
}

/// Validates a proxy for the gate. Errors name the invalid field and never quote a secret.
pub(crate) fn via(proxy: &Proxy) -> Result<Via, SessionError> {
    let via = Via::new(&proxy.server).map_err(|e| invalid("proxy.server", e.to_string()))?;
    if proxy.bypass.len() > MAX_BYPASS {
        let reason = format!("{} hosts: at most {MAX_BYPASS} are allowed", proxy.bypass.len());
        return Err(invalid("proxy.bypass", reason));
    }
    let bypass = proxy.bypass.iter().map(|host| host.parse::<Bypass>()).collect::<Result<_, _>>();
    let via = via.bypassing(bypass.map_err(|e| invalid("proxy.bypass", e.to_string()))?);
    match (&proxy.username, &proxy.password) {
        (None, None) => Ok(via),
        (None, Some(_)) => {
            Err(invalid("proxy.username", "is missing: a password needs one".into()))
        }
        (Some(username), password) => via
            .logging_in(username.reveal(), password.as_ref().map_or("", Secret::reveal))
            .map_err(|e| invalid("proxy.username", e.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_name_the_invalid_field_and_never_quote_a_secret() {
        let field = |body: serde_json::Value| {
            let proxy: Proxy = serde_json::from_value(body).unwrap();
            let error = via(&proxy).unwrap_err();
            assert!(!error.to_string().contains("hunter2"), "{error}");
            match error {
                SessionError::InvalidSpec { field, .. } => field,
                other => panic!("{other:?}"),
            }
        };
        for server in [
            "",
            "proxy.example:3128",
            "https://proxy.example:3128",
            "http://proxy.example",
            "http://alice:hunter2@proxy.example:3128",
            "socks5://proxy.example:1080/hunter2",
            "http://:80",
            "http://a b:80",
        ] {
            assert_eq!(field(json!({ "server": server })), "proxy.server", "{server}");
        }
        let server = "http://proxy.example:3128/";
        let bad = json!({ "server": server, "bypass": ["ok.example", "http://x"] });
        assert_eq!(field(bad), "proxy.bypass");
        let many: Vec<String> = (0..101).map(|n| format!("host{n}")).collect();
        assert_eq!(field(json!({ "server": server, "bypass": many })), "proxy.bypass");
        assert_eq!(field(json!({ "server": server, "password": "hunter2" })), "proxy.username");
        let colon = json!({ "server": server, "username": "a:b", "password": "hunter2" });
        assert_eq!(field(colon), "proxy.username");
    }
}
