//! Completes and validates the requested settings of a session.

use std::{collections::BTreeMap, time::Duration};

use helmdeck_runtime::SandboxSpec;
use helmdeck_wire::{
    browser::without_secrets,
    extension::ExtensionName,
    guest::{Begin, OrphanLimits},
    proxy::Proxy,
    session::{A_YEAR_S, Mode, SessionSpec},
    size::{Bytes, Geometry},
};

use crate::{SessionError, attached, lifecycle::LifetimeLimits, locale, proxy, record::Record};

/// Default size of /dev/shm.
const DEFAULT_SHM: Bytes = Bytes(2 << 30);
/// A browser does not start with less memory.
const LEAST_MEMORY: Bytes = Bytes(256 << 20);
/// Maximum time that a guest waits for a server to return.
const ALONE_AT_MOST: Duration = Duration::from_secs(600);
/// Maximum size of all names and values in `env` together.
const MAX_ENV_BYTES: usize = 64 << 10;
/// Maximum length of `start_url`.
const MAX_URL: usize = 4000;
/// Default window size of a headless browser, which is also the default size of its view.
const HEADLESS: Geometry = Geometry { width: 1280, height: 800 };

/// Fills in defaults and refuses invalid settings.
pub fn complete(mut spec: SessionSpec, default_idle_s: u64) -> Result<SessionSpec, SessionError> {
    length("label", &spec.label, 200)?;
    length("image", &spec.image, 500)?;
    environment(&spec.env)?;
    let mode = named(&spec, "HELMDECK_MODE", "mode", spec.mode, |text| match text {
        "headless" => Ok(Mode::Headless),
        "desktop" => Ok(Mode::Desktop),
        other => Err(format!("{other:?} is not a mode: expected headless or desktop")),
    })?;
    let geometry = named(&spec, "HELMDECK_DISPLAY_GEOMETRY", "geometry", spec.geometry, |text| {
        text.parse::<Geometry>().map_err(|e| e.to_string())
    })?;
    if let Some(limit) = spec.memory_limit
        && limit < LEAST_MEMORY
    {
        let reason = format!("{limit} is too little for a browser: at least {LEAST_MEMORY}");
        return Err(invalid("memory_limit", reason));
    }
    if let Some(cores) = spec.cpu_limit
        && !(0.01..=1024.0).contains(&cores)
    {
        return Err(invalid("cpu_limit", format!("{cores} is not between 0.01 and 1024 cores")));
    }
    if let Some(seconds) = spec.timeout_seconds
        && !(1..=A_YEAR_S).contains(&seconds)
    {
        let reason = format!("{seconds} is not between 1 second and one year");
        return Err(invalid("timeout_seconds", reason));
    }
    if spec.idle_timeout_s.is_some_and(|seconds| seconds > A_YEAR_S) {
        return Err(invalid("idle_timeout_s", "expected at most one year, or 0 for never".into()));
    }
    start_url(spec.start_url.as_deref())?;
    if let Some(zone) = spec.timezone.as_deref().filter(|zone| !locale::is_timezone(zone)) {
        let reason =
            format!("{zone:?} is not a known time zone: expected a name such as Europe/Paris");
        return Err(invalid("timezone", reason));
    }
    if let Some(locale) = spec.locale.as_deref().filter(|locale| !locale::is_locale(locale)) {
        let reason = format!("{locale:?} is not a known language: expected a tag such as de-DE");
        return Err(invalid("locale", reason));
    }
    let mut names: Vec<&str> = spec.extensions.iter().map(ExtensionName::as_str).collect();
    names.sort_unstable();
    if names.windows(2).any(|pair| pair.first() == pair.last()) {
        return Err(invalid("extensions", "an extension is named twice".into()));
    }
    if let Some(proxy) = &spec.proxy {
        proxy::via(proxy)?;
    }
    let mode = mode.unwrap_or_default();
    spec.mode = Some(mode);
    spec.announce_automation.get_or_insert(mode == Mode::Headless);
    spec.geometry = Some(geometry.unwrap_or(match mode {
        Mode::Desktop => Geometry::default(),
        Mode::Headless => HEADLESS,
    }));
    spec.shm_size.get_or_insert(DEFAULT_SHM);
    spec.idle_timeout_s.get_or_insert(default_idle_s);
    Ok(spec)
}

/// The spec as replies show it: without values of `env`, credentials, and queries of addresses,
/// which may be secret.
pub fn for_reply(spec: &SessionSpec) -> SessionSpec {
    let mut shown = spec.clone();
    shown.start_url = spec.start_url.as_deref().map(without_secrets);
    shown.proxy = spec.proxy.as_ref().map(Proxy::without_credentials);
    for (name, value) in &mut shown.env {
        if !name.starts_with("HELMDECK_") {
            *value = "•••".into();
        }
    }
    shown
}

/// The spec as the guest receives it.
pub fn for_guest(spec: &SessionSpec) -> Begin {
    let limits = limits(spec);
    let millis = |limit: Duration| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
    let orphan_limits = OrphanLimits {
        wall_clock_ms: limits.wall_clock.map(millis),
        idle_ms: limits.idle.map(millis),
        server_gone_ms: millis(ALONE_AT_MOST),
    };
    Begin {
        orphan_limits,
        mode: spec.mode.unwrap_or_default(),
        geometry: spec.geometry.unwrap_or_default(),
        timezone: spec.timezone.clone(),
        locale: spec.locale.clone(),
        geolocation: spec.geolocation,
        color_scheme: spec.color_scheme,
        tmp_bytes: for_runtime(spec, BTreeMap::new()).tmp_bytes,
        shm_bytes: spec.shm_size.unwrap_or(DEFAULT_SHM).0,
        pids: SandboxSpec::default().limits.pids,
        workspace_bytes: None,
        watch_memory_bytes: None,
        env: spec.env.clone(),
        extensions: spec.extensions.clone(),
        proxy: spec.proxy.clone(),
        browser_passthrough: spec.browser_passthrough.unwrap_or_default(),
        announce_automation: spec.announce_automation.unwrap_or_default(),
        freeze_on_takeover: spec.freeze_on_takeover,
    }
}

/// Limits of the session's life.
pub fn limits(spec: &SessionSpec) -> LifetimeLimits {
    let seconds = |s: u64| (s > 0).then(|| Duration::from_secs(s));
    LifetimeLimits {
        wall_clock: spec.timeout_seconds.and_then(seconds),
        idle: spec.idle_timeout_s.and_then(seconds),
        max_tasks: Some(spec.max_tasks).filter(|tasks| *tasks > 0),
    }
}

/// The spec of its sandbox.
pub fn for_runtime(spec: &SessionSpec, labels: BTreeMap<String, String>) -> SandboxSpec {
    let standard = SandboxSpec::default();
    let memory = memory(spec);
    SandboxSpec {
        labels,
        // Files live in memory: full disks must leave some memory for programs.
        home_bytes: standard.home_bytes.min(memory / 2),
        browser_bytes: standard.browser_bytes.min(memory / 8),
        tmp_bytes: standard.tmp_bytes.min(memory / 4),
        workspace: standard.workspace,
        limits: helmdeck_runtime::SandboxLimits {
            memory_bytes: memory,
            cpu_cores: spec.cpu_limit,
            pids: standard.limits.pids,
        },
    }
}

/// The memory limit in bytes.
pub(crate) fn memory(spec: &SessionSpec) -> u64 {
    spec.memory_limit.map_or(SandboxSpec::default().limits.memory_bytes, |limit| limit.0)
}

/// Remarks about settings that have no effect.
pub fn notes(record: &Record) -> Vec<String> {
    let Record { spec, attached, .. } = record;
    if let Some(attached) = attached {
        return attached::notes(attached);
    }
    if spec.image.is_empty() {
        return Vec::new();
    }
    vec!["image is recorded; the local runtime uses this machine's programs".into()]
}

/// A value that is set by a field or by a variable. If both are set, they must agree.
fn named<T: PartialEq>(
    spec: &SessionSpec,
    variable: &str,
    field: &'static str,
    given: Option<T>,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, SessionError> {
    let from_env = spec.env.get(variable).map(|text| parse(text));
    let wrong = |reason| invalid("env", format!("{variable}: {reason}"));
    match (given, from_env.transpose().map_err(wrong)?) {
        (Some(field_value), Some(variable_value)) if field_value != variable_value => {
            Err(invalid(field, format!("differs from env.{variable}: give one of the two")))
        }
        (given, from_env) => Ok(given.or(from_env)),
    }
}

/// Refuses invalid environment variables.
pub(crate) fn environment(env: &BTreeMap<String, String>) -> Result<(), SessionError> {
    for name in env.keys() {
        let good = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(good) || name.starts_with(|c: char| c.is_numeric())
        {
            return Err(invalid("env", format!("{name:?} is not a variable name")));
        }
    }
    if env.values().any(|value| value.contains('\0')) {
        return Err(invalid("env", "a value contains a NUL character".into()));
    }
    let size: usize = env.iter().map(|(name, value)| name.len() + value.len() + 2).sum();
    if size > MAX_ENV_BYTES {
        return Err(invalid("env", format!("{size} bytes: at most {MAX_ENV_BYTES} are allowed")));
    }
    Ok(())
}

fn start_url(url: Option<&str>) -> Result<(), SessionError> {
    let Some(url) = url else { return Ok(()) };
    length("start_url", url, MAX_URL)?;
    if url.trim().is_empty() || url.trim().contains(char::is_whitespace) {
        return Err(invalid("start_url", format!("{url:?} is not an address such as example.com")));
    }
    Ok(())
}

fn length(field: &'static str, text: &str, most: usize) -> Result<(), SessionError> {
    if text.chars().count() > most || text.chars().any(char::is_control) {
        return Err(invalid(field, format!("expected at most {most} printable characters")));
    }
    Ok(())
}

pub(crate) fn invalid(field: &'static str, reason: String) -> SessionError {
    SessionError::InvalidSpec { field, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_env(name: &str, value: &str) -> SessionSpec {
        let env = [(name.to_owned(), value.to_owned())].into();
        SessionSpec { env, ..SessionSpec::default() }
    }

    #[test]
    fn the_mode_may_come_from_the_environment() {
        let spec = complete(with_env("HELMDECK_MODE", "desktop"), 300).unwrap();
        assert_eq!(spec.mode, Some(Mode::Desktop));
        assert_eq!(spec.geometry, Some(Geometry::default()));
        assert_eq!(spec.idle_timeout_s, Some(300));
        let headless = complete(SessionSpec::default(), 300).unwrap();
        assert_eq!(headless.geometry, Some(HEADLESS));
        assert!(complete(with_env("HELMDECK_MODE", "window"), 300).is_err());
        let both =
            SessionSpec { mode: Some(Mode::Headless), ..with_env("HELMDECK_MODE", "desktop") };
        assert!(complete(both, 300).is_err());
    }

    #[test]
    fn secrets_in_the_environment_are_not_shown() {
        let mut spec = with_env("API_KEY", "secret");
        spec.env.insert("HELMDECK_MODE".into(), "desktop".into());
        let shown = for_reply(&spec);
        assert_eq!(shown.env.get("API_KEY").unwrap(), "•••");
        assert_eq!(shown.env.get("HELMDECK_MODE").unwrap(), "desktop");
        assert_eq!(for_guest(&spec).env.get("API_KEY").unwrap(), "secret");
        spec.start_url = Some("https://a.example/in?token=secret".into());
        assert_eq!(for_reply(&spec).start_url.unwrap(), "https://a.example/in");
    }

    #[test]
    fn all_files_of_a_session_together_leave_memory_for_programs() {
        for memory in [256_u64 << 20, 4 << 30, 64 << 30] {
            let memory_limit = Some(helmdeck_wire::size::Bytes(memory));
            let spec = SessionSpec { memory_limit, ..SessionSpec::default() };
            let SandboxSpec { home_bytes, browser_bytes, tmp_bytes, .. } =
                for_runtime(&spec, BTreeMap::new());
            assert!(home_bytes + browser_bytes + tmp_bytes < memory, "{memory}");
        }
    }

    #[test]
    fn zero_means_no_limit() {
        let spec = SessionSpec { idle_timeout_s: Some(0), ..SessionSpec::default() };
        let limits = limits(&complete(spec, 300).unwrap());
        assert!(limits.idle.is_none() && limits.wall_clock.is_none() && limits.max_tasks.is_none());
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        let bad = |spec| match complete(spec, 300) {
            Err(SessionError::InvalidSpec { field, .. }) => field,
            other => panic!("{other:?}"),
        };
        for zone in ["../../etc/passwd\n", "Mars/Olympus"] {
            let timezone = Some(zone.to_owned());
            assert_eq!(bad(SessionSpec { timezone, ..SessionSpec::default() }), "timezone");
        }
        let locale = Some("xx-YY".to_owned());
        assert_eq!(bad(SessionSpec { locale, ..SessionSpec::default() }), "locale");
        assert_eq!(
            bad(SessionSpec { cpu_limit: Some(-1.0), ..SessionSpec::default() }),
            "cpu_limit"
        );
        assert_eq!(
            bad(SessionSpec { timeout_seconds: Some(0), ..SessionSpec::default() }),
            "timeout_seconds"
        );
        for url in [" ", "not an address", "http://a.example/\n"] {
            let start_url = Some(url.to_owned());
            assert_eq!(bad(SessionSpec { start_url, ..SessionSpec::default() }), "start_url");
        }
        assert_eq!(bad(with_env("A=B", "")), "env");
        assert_eq!(bad(with_env("A", &"x".repeat(70_000))), "env");
    }
}
