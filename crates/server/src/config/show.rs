//! The settings in effect, as `helmdeck config` prints them.

use std::{fmt::Write, path::PathBuf};

use helmdeck_egress::Cidr;
use helmdeck_wire::size::Bytes;

use super::{Config, Origin, artifacts, vault::SecretSetting};

impl Config {
    /// The effective configuration as TOML, each value with its origin, secrets as dots.
    pub fn show(&self) -> String {
        let mut out = String::new();
        for (key, origin) in &self.origins {
            let origin = match origin {
                Origin::Default => "default".to_owned(),
                Origin::File(path) => format!("from {}", path.display()),
                Origin::Env(variable) => format!("from {variable}"),
            };
            // Writing to a String cannot fail.
            let _ = match self.rendered(key) {
                Some(value) => writeln!(out, "{key} = {value}  # {origin}{}", also(key)),
                None => writeln!(out, "# {key} is not set: {}", without(key)),
            };
        }
        out
    }

    /// A value as TOML; `None` if it is not set.
    pub(super) fn rendered(&self, key: &str) -> Option<String> {
        let text = |text: &str| toml::Value::String(text.to_owned()).to_string();
        let path = |path: &Option<PathBuf>| {
            text(&path.as_ref().map_or("".into(), |it| it.to_string_lossy()))
        };
        let size = |size: Option<Bytes>| text(&size.map_or("0".to_owned(), |it| it.to_string()));
        let dots = |secret: &secrecy::SecretString| {
            let _ = secret;
            text("••••")
        };
        if let Some(shown) = self.models.shown(key).or_else(|| self.traces.shown(key)) {
            return Some(text(&shown));
        }
        if let Some(number) = self.models.number(key) {
            return Some(number);
        }
        Some(match key {
            "addr" => text(&self.addr.to_string()),
            "data_dir" => text(&self.data_dir.to_string_lossy()),
            "run_dir" => text(&self.run_dir.to_string_lossy()),
            "jwt_secret" => self.jwt_secret.as_ref().map(dots)?,
            "admin_username" => text(&self.admin_username),
            "admin_password" => self.admin_password.as_ref().map(dots)?,
            "profile_key" => self.profile_key.as_ref().map(dots)?,
            "max_sessions" => self.max_sessions.to_string(),
            "max_sessions_per_caller" => self.max_sessions_per_caller.to_string(),
            "max_memory_limit" => text(&self.ceilings.caller.memory.to_string()),
            "max_memory_per_caller" => size(self.max_memory_per_caller),
            "max_cpu_limit" => self.ceilings.caller.cpu.to_string(),
            "workspace_limit" => size(self.workspace_limit),
            "idle_timeout_s" => self.idle_timeout_s.to_string(),
            "egress_allowlist" => text(&list(&self.egress_allowlist)),
            "trusted_proxies" => text(&list(&self.trusted_proxies)),
            "forward_allow" => text(&ports(&self.forward_allow)),
            "action_log_days" => self.action_log.days.to_string(),
            "action_log_per_session" => self.action_log.per_session.to_string(),
            "audit_retention" => text(&self.audit_log.retention.to_string()),
            "artifact_ttl" => text(&self.artifacts.ttl.map_or("0".to_owned(), artifacts::show)),
            "artifact_quota" => size(self.artifacts.quota),
            "artifact_janitor_interval" => text(&artifacts::show(self.artifacts.janitor_interval)),
            "s3_bucket" => text(self.s3.bucket.as_deref().unwrap_or_default()),
            "s3_use_ssl" => self.s3.use_ssl.to_string(),
            "s3_endpoint" => {
                text(&self.s3.endpoint.as_ref().map_or(String::new(), ToString::to_string))
            }
            "s3_region" => text(&self.s3.region),
            "s3_prefix" => text(&self.s3.prefix),
            "s3_path_style" => self.s3.path_style.unwrap_or(self.s3.endpoint.is_some()).to_string(),
            "vnc_public_base" => {
                text(&self.live.vnc_public_base.as_ref().map_or(String::new(), ToString::to_string))
            }
            "command_packs_dir" => path(&self.command_packs_dir),
            "docling_enabled" => self.documents.docling_enabled.to_string(),
            "docling_url" => text(
                &self.documents.docling_url.as_ref().map_or(String::new(), ToString::to_string),
            ),
            "publish_vnc_ports" => self.live.publish_vnc_ports.to_string(),
            "embed_ancestors" => text(self.live.embed_ancestors.as_deref().unwrap_or_default()),
            "allowed_origins" => text(&self.live.allowed_origins.join(",")),
            "browser_passthrough" => self.live.browser_passthrough.to_string(),
            "github_api_url" => text(self.services.github_api_url.as_deref().unwrap_or_default()),
            "resend_api_url" => text(self.services.resend_api_url.as_deref().unwrap_or_default()),
            "firecrawl_enabled" => self.services.firecrawl_enabled.to_string(),
            "firecrawl_url" => text(&self.services.firecrawl_url),
            "ssh_known_hosts" => path(&self.services.ssh_known_hosts),
            "tls_cert" => path(&self.tls.cert),
            "tls_key" => path(&self.tls.key),
            "tls_self_signed" => self.tls.self_signed.to_string(),
            "max_body_bytes" => self.max_body_bytes.to_string(),
            "drain_seconds" => self.drain_seconds.to_string(),
            "log" => text(&self.log),
            "log_format" => text(self.log_format.as_str()),
            key if self.pack_switch(key).is_some() => self.pack_switch(key)?.to_string(),
            key if key.ends_with("_file") => {
                let file = self.secret_setting(key)?.file.as_ref();
                text(&file.map_or("".into(), |it| it.to_string_lossy()))
            }
            key => self.secret_setting(key)?.value.as_ref().map(dots)?,
        })
    }

    /// Whether packs are enabled, if this is the key of a switch.
    fn pack_switch(&self, key: &str) -> Option<bool> {
        let switches = &self.pack_switches;
        Some(match key {
            "email_enabled" => switches.email_enabled,
            "github_enabled" => switches.github_enabled,
            "http_fetch_enabled" => switches.http_fetch_enabled,
            "repo_push_enabled" => switches.repo_push_enabled,
            _ => return None,
        })
    }

    /// The secret setting with this key, also if it names a file.
    pub(super) fn secret_setting(&self, key: &str) -> Option<&SecretSetting> {
        let found = self.vault.secret(key).or_else(|| self.s3.secret(key));
        found.or_else(|| self.models.secret(key))
    }
}

fn ports(ranges: &[std::ops::RangeInclusive<u16>]) -> String {
    let range = |range: &std::ops::RangeInclusive<u16>| match (range.start(), range.end()) {
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first}-{last}"),
    };
    ranges.iter().map(range).collect::<Vec<_>>().join(",")
}

fn list(ranges: &[Cidr]) -> String {
    ranges.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// What else affects a value.
fn also(key: &str) -> &'static str {
    match key {
        "browser_passthrough" => {
            "; an admin can also turn it on in Settings, which is not shown here"
        }
        _ => "",
    }
}

/// What happens without a value.
fn without(key: &str) -> &'static str {
    match key {
        "profile_key" => "profiles are not encrypted on disk",
        "otlp_headers" => "none are sent",
        "s3_access_key" | "s3_secret_key" => "artifacts are in the data directory",
        "vault_key_old" => "the vault keeps its key",
        "fal_key" => "the vault may have the credential",
        key if key.ends_with("_api_key") => "the vault may have the credential",
        _ => "generated on the first start",
    }
}
