//! The server's settings: one TOML file, overridden by `HELMDECK_*` variables.
//!
//! Every setting has one name: `addr` in the file is `HELMDECK_ADDR` in the environment. This file
//! composes and validates; `config/layers.rs` tracks where values come from, and `config/unknown.rs` finds
//! names that no setting has.

mod action_log;
mod artifacts;
mod audit_log;
mod ceilings;
mod defaults;
mod documents;
mod endpoints;
mod layers;
mod live;
mod models;
mod pack_switches;
mod running;
mod s3;
mod show;
mod tls;
mod tracing;
mod unknown;
mod vault;

use std::{net::SocketAddr, ops::RangeInclusive, path::PathBuf, str::FromStr};

use helmdeck_egress::Cidr;
use helmdeck_sessions::Ceilings;
use helmdeck_wire::size::Bytes;
use secrecy::SecretString;

pub use self::tracing::TraceSettings;
pub use action_log::ActionLog;
pub use artifacts::ArtifactSettings;
pub use audit_log::AuditLog;
pub use documents::DocumentSettings;
pub use endpoints::ServiceSettings;
pub use layers::{ConfigError, Origin};
use layers::{Layers, Origins};
pub use live::Live;
pub use models::ModelSettings;
pub use pack_switches::PackSwitches;
pub use running::Change;
pub use s3::S3Settings;
pub use tls::TlsSettings;
pub use vault::VaultSettings;

/// The settings in effect.
#[derive(Debug, Clone)]
pub struct Config {
    /// `HELMDECK_ADDR`: the address to listen on. `:3000` listens on every interface. Default
    /// `127.0.0.1:3000`.
    pub addr: SocketAddr,
    /// `HELMDECK_DATA_DIR`: where tokens, profiles, extensions, artifacts and history are stored. Default
    /// `/var/lib/helmdeck` for root, else `$XDG_DATA_HOME/helmdeck` or `~/.local/share/helmdeck`.
    pub data_dir: PathBuf,
    /// `HELMDECK_RUN_DIR`: where sockets of running sessions are. Default `/run/helmdeck` for root,
    /// else `$XDG_RUNTIME_DIR/helmdeck` or `/tmp/helmdeck-<uid>`.
    pub run_dir: PathBuf,
    /// `HELMDECK_JWT_SECRET`: the key that signs tokens. Default: generated on the first start and
    /// kept in `jwt.secret` in the data directory.
    pub jwt_secret: Option<SecretString>,
    /// `HELMDECK_ADMIN_USERNAME`: the admin's user name. Default `admin`.
    pub admin_username: String,
    /// `HELMDECK_ADMIN_PASSWORD`: the admin's password. Default: generated on the first start and
    /// printed once.
    pub admin_password: Option<SecretString>,
    /// `HELMDECK_MAX_SESSIONS`: how many sessions can run at once. Default: one for every 384 MB of
    /// memory, at most eight for every processor core, and between 4 and 64.
    pub max_sessions: usize,
    /// `HELMDECK_MAX_SESSIONS_PER_CALLER`: how many sessions of one token subject can run at once.
    /// Default 10000, which leaves the limit to `HELMDECK_MAX_SESSIONS`.
    pub max_sessions_per_caller: usize,
    /// `HELMDECK_MAX_MEMORY_LIMIT` and `HELMDECK_MAX_CPU_LIMIT`: the most memory and the most
    /// processor cores that a caller can request for one session; an admin can request the whole
    /// machine. Default: half of the memory, and all cores.
    pub ceilings: Ceilings,
    /// `HELMDECK_MAX_MEMORY_PER_CALLER`: what the memory limits of one caller's running sessions may
    /// add up to; an admin's are not limited. Default 0: as much as `HELMDECK_MAX_SESSIONS` sessions
    /// with the default limit, 4g each.
    pub max_memory_per_caller: Option<Bytes>,
    /// `HELMDECK_WORKSPACE_LIMIT`: the most that the `/workspace` of a session can hold; it is a
    /// directory on disk. 0 keeps it in memory, as a part of the home. Default 4g.
    pub workspace_limit: Option<Bytes>,
    /// `HELMDECK_IDLE_TIMEOUT_S`: seconds without a call after which a session ends, for sessions
    /// that do not set `idle_timeout_s`; 0 turns the limit off. Default 300.
    pub idle_timeout_s: u64,
    /// `HELMDECK_EGRESS_ALLOWLIST`: private addresses and ranges that sessions may reach (see
    /// [network](network.md)). Default: none.
    pub egress_allowlist: Vec<Cidr>,
    /// `HELMDECK_FORWARD_ALLOW`: ports on the server's loopback that every caller may forward into
    /// its sessions (see [network](network.md)); an admin may forward any. Default: none.
    pub forward_allow: Vec<RangeInclusive<u16>>,
    /// `HELMDECK_PROFILE_KEY`: the key that encrypts browser profiles on disk; make one with
    /// `openssl rand -hex 32`. Default: none; profiles are stored unencrypted and only the server's
    /// user can read them.
    pub profile_key: Option<SecretString>,
    /// The vault's key, and credentials in variables.
    pub vault: VaultSettings,
    /// Services that packs use.
    pub services: ServiceSettings,
    /// Retention of recorded actions.
    pub action_log: ActionLog,
    /// Retention of artifacts.
    pub artifacts: ArtifactSettings,
    /// The bucket for artifacts.
    pub s3: S3Settings,
    /// Spans for OpenTelemetry.
    pub traces: TraceSettings,
    /// Retention of the audit log.
    pub audit_log: AuditLog,
    /// `HELMDECK_COMMAND_PACKS_DIR`: a folder whose programs are packs, named `cmd.NAME` (see
    /// [operator packs](packs-guide.md#your-own-packs)). Default: none.
    pub command_packs_dir: Option<PathBuf>,
    /// What reads documents.
    pub documents: DocumentSettings,
    /// Whether packs that act outside of sessions may be called.
    pub pack_switches: PackSwitches,
    /// Providers of models, and budgets.
    pub models: ModelSettings,
    /// Settings of the live view.
    pub live: Live,
    /// How connections are encrypted.
    pub tls: TlsSettings,
    /// `HELMDECK_TRUSTED_PROXIES`: addresses and ranges of reverse proxies whose `X-Forwarded-For`
    /// header is trusted (see [behind a proxy](behind-a-proxy.md)). Default: none.
    pub trusted_proxies: Vec<Cidr>,
    /// `HELMDECK_MAX_BODY_BYTES`: the largest request body that is accepted. File transfers are not
    /// limited by it, and calls of packs may have 12 MiB. Default 2097152 (2 MiB).
    pub max_body_bytes: usize,
    /// `HELMDECK_DRAIN_SECONDS`: how long a stopping server waits for running requests. Default 10.
    pub drain_seconds: u64,
    /// `HELMDECK_LOG`: what is logged, in the syntax of `RUST_LOG`. Default `info`.
    pub log: String,
    /// `HELMDECK_LOG_FORMAT`: how log lines are written: for people, or one JSON object per line.
    /// Default `human`.
    pub log_format: LogFormat,
    /// Warnings for the operator about unknown `HELMDECK_*` variables.
    pub warnings: Vec<String>,
    origins: Origins,
}

/// Format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Human,
    /// For programs: one JSON object per line.
    Json,
}

impl LogFormat {
    fn read(layers: &mut Layers) -> Result<Self, ConfigError> {
        layers.value("log_format", "human or json", |text| text.parse().ok(), || Self::Human)
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Json => "json",
        }
    }
}

impl FromStr for LogFormat {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "human" => Ok(Self::Human),
            "json" => Ok(Self::Json),
            _ => Err(()),
        }
    }
}

impl Config {
    /// Reads the settings. The file is `config_file`, else `HELMDECK_CONFIG`, else `helmdeck.toml`
    /// in the data directory if it exists. `env` is the whole environment.
    pub fn load(
        config_file: Option<&std::path::Path>,
        env: impl Iterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let mut layers = Layers::read(config_file, env)?;
        let data_dir = defaults::data_dir(layers.environment());
        let run_dir = defaults::run_dir(layers.environment());
        let config = Self {
            addr: layers.value("addr", "host:port or :port", address, || defaults::ADDR)?,
            data_dir: layers.value("data_dir", "an absolute path", absolute, || data_dir)?,
            run_dir: layers.value("run_dir", "an absolute path", absolute, || run_dir)?,
            jwt_secret: layers.secret("jwt_secret", "at least 32 bytes", |s| s.len() >= 32)?,
            admin_username: layers.value(
                "admin_username",
                "1 to 200 characters",
                username,
                || "admin".to_owned(),
            )?,
            admin_password: layers.secret("admin_password", "not empty", |s| !s.is_empty())?,
            max_sessions: sessions(&mut layers, "max_sessions", defaults::max_sessions)?,
            max_sessions_per_caller: sessions(&mut layers, "max_sessions_per_caller", || 10_000)?,
            ceilings: ceilings::read(&mut layers)?,
            max_memory_per_caller: ceilings::per_caller(&mut layers)?,
            workspace_limit: layers.value(
                "workspace_limit",
                "a size such as 4g, at least 16m, or 0 for a workspace in memory",
                workspace_limit,
                || Some(defaults::WORKSPACE_LIMIT),
            )?,
            idle_timeout_s: layers.value(
                "idle_timeout_s",
                "seconds, or 0 for never",
                |text| whole(text, 0, u64::MAX),
                || 300,
            )?,
            egress_allowlist: ranges(&mut layers, "egress_allowlist")?,
            forward_allow: forward_allow(&mut layers)?,
            profile_key: layers.secret("profile_key", "64 hexadecimal digits", |text| {
                helmdeck_store::SealingKey::parse(text).is_some()
            })?,
            vault: VaultSettings::read(&mut layers)?,
            services: ServiceSettings::read(&mut layers)?,
            action_log: ActionLog::read(&mut layers)?,
            artifacts: ArtifactSettings::read(&mut layers)?,
            s3: S3Settings::read(&mut layers)?,
            traces: TraceSettings::read(&mut layers)?,
            audit_log: AuditLog::read(&mut layers)?,
            command_packs_dir: layers.value(
                "command_packs_dir",
                "an absolute path",
                |text| if text.is_empty() { Some(None) } else { absolute(text).map(Some) },
                || None,
            )?,
            documents: DocumentSettings::read(&mut layers)?,
            pack_switches: PackSwitches::read(&mut layers)?,
            models: ModelSettings::read(&mut layers)?,
            live: Live::read(&mut layers)?,
            tls: TlsSettings::read(&mut layers)?,
            trusted_proxies: ranges(&mut layers, "trusted_proxies")?,
            max_body_bytes: layers.value(
                "max_body_bytes",
                "1024 to 1073741824",
                |text| whole(text, 1024, 1 << 30),
                || 2 << 20,
            )?,
            drain_seconds: layers.value(
                "drain_seconds",
                "a number from 0 to 3600",
                |text| whole(text, 0, 3600),
                || 10,
            )?,
            log: layers.value("log", "a filter such as info or helmdeck=debug", filter, || {
                "info".to_owned()
            })?,
            log_format: LogFormat::read(&mut layers)?,
            warnings: Vec::new(),
            origins: Vec::new(),
        };
        let (origins, warnings) = layers.finish()?;
        Ok(Self { warnings, origins, ..config })
    }
}

fn sessions(
    layers: &mut Layers,
    key: &'static str,
    default: fn() -> usize,
) -> Result<usize, ConfigError> {
    layers.value(key, "a number from 1 to 10000", |text| whole(text, 1, 10_000), default)
}

fn ranges(layers: &mut Layers, key: &'static str) -> Result<Vec<Cidr>, ConfigError> {
    let allowed = "addresses or ranges such as 10.1.0.0/16, separated by commas";
    layers.value(key, allowed, |text| Cidr::list(text).ok(), Vec::new)
}

fn forward_allow(layers: &mut Layers) -> Result<Vec<RangeInclusive<u16>>, ConfigError> {
    let allowed = "ports or ranges such as 5173,8000-8099, separated by commas";
    layers.value("forward_allow", allowed, ports, Vec::new)
}

/// `127.0.0.1:3000`, `[::1]:3000`, `localhost:3000`, or `:3000` for every interface.
fn address(text: &str) -> Option<SocketAddr> {
    match text.rsplit_once(':') {
        Some(("", port)) => Some(SocketAddr::from(([0, 0, 0, 0], port.parse().ok()?))),
        Some(("localhost", port)) => Some(SocketAddr::from(([127, 0, 0, 1], port.parse().ok()?))),
        _ => text.parse().ok(),
    }
}

/// `5173,8000-8099`, or empty.
fn ports(text: &str) -> Option<Vec<RangeInclusive<u16>>> {
    let port = |text: &str| text.trim().parse::<u16>().ok().filter(|port| *port > 0);
    let range = |text: &str| {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let (first, last) = (port(first)?, port(last)?);
        (first <= last).then_some(first..=last)
    };
    text.split(',').filter(|part| !part.trim().is_empty()).map(range).collect()
}

/// `4g`, or `0` for none.
fn workspace_limit(text: &str) -> Option<Option<Bytes>> {
    if text.trim() == "0" {
        return Some(None);
    }
    text.parse().ok().filter(|limit| *limit >= defaults::LEAST_WORKSPACE).map(Some)
}

fn absolute(text: &str) -> Option<PathBuf> {
    Some(PathBuf::from(text)).filter(|path| path.is_absolute())
}

fn username(text: &str) -> Option<String> {
    (1..=200).contains(&text.chars().count()).then(|| text.to_owned())
}

fn filter(text: &str) -> Option<String> {
    tracing_subscriber::EnvFilter::try_new(text).ok().map(|_| text.to_owned())
}

fn whole<N: FromStr + PartialOrd>(text: &str, least: N, most: N) -> Option<N> {
    text.parse().ok().filter(|number| (least..=most).contains(number))
}

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
