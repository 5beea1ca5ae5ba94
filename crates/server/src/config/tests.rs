//! Origins of settings, and refused values.

use std::time::Duration;

use secrecy::ExposeSecret;

use super::*;

fn load(file: Option<&str>, env: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let dir = tempfile::tempdir().unwrap();
    if let Some(text) = file {
        std::fs::write(dir.path().join("helmdeck.toml"), text).unwrap();
    }
    let here = ("HELMDECK_DATA_DIR".to_owned(), dir.path().to_str().unwrap().to_owned());
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Config::load(None, env.chain([here]))
}

#[test]
fn without_any_setting_only_this_machine_is_served() {
    let config = load(None, &[]).unwrap();
    assert_eq!(config.addr.to_string(), "127.0.0.1:3000");
    assert_eq!(config.admin_username, "admin");
    assert_eq!((config.idle_timeout_s, config.drain_seconds), (300, 10));
    assert!((4..=64).contains(&config.max_sessions));
    assert!(config.jwt_secret.is_none() && config.warnings.is_empty());
}

#[test]
fn a_variable_beats_the_file_and_the_file_beats_the_default() {
    let file = "max_sessions = 3\ndrain_seconds = 7\nlog_format = \"json\"";
    let config = load(Some(file), &[("HELMDECK_MAX_SESSIONS", "5")]).unwrap();
    assert_eq!((config.max_sessions, config.drain_seconds), (5, 7));
    assert_eq!(config.log_format, LogFormat::Json);
}

#[test]
fn an_address_without_a_host_means_every_interface() {
    for (text, addr) in
        [(":8080", "0.0.0.0:8080"), ("localhost:1", "127.0.0.1:1"), ("[::1]:9", "[::1]:9")]
    {
        assert_eq!(load(None, &[("HELMDECK_ADDR", text)]).unwrap().addr.to_string(), addr);
    }
}

#[test]
fn a_bad_value_is_reported_with_its_name_and_what_is_allowed() {
    let message = |name, value| load(None, &[(name, value)]).unwrap_err().to_string();
    assert_eq!(
        message("HELMDECK_ADDR", "x"),
        "HELMDECK_ADDR is \"x\": expected host:port or :port"
    );
    assert_eq!(
        message("HELMDECK_MAX_SESSIONS", "0"),
        "HELMDECK_MAX_SESSIONS is \"0\": expected a number from 1 to 10000"
    );
    assert!(message("HELMDECK_LOG_FORMAT", "xml").contains("human or json"));
    assert!(message("HELMDECK_RUN_DIR", "here").contains("an absolute path"));
    assert!(message("HELMDECK_LOG", "helmdeck=loud").contains("filter"));

    let from_file = load(Some("drain_seconds = true"), &[]).unwrap_err().to_string();
    assert!(from_file.starts_with("drain_seconds in /"), "{from_file}");
}

#[test]
fn a_short_secret_is_refused_without_being_shown() {
    let message = load(None, &[("HELMDECK_JWT_SECRET", "hunter2")]).unwrap_err().to_string();
    assert!(message.contains("HELMDECK_JWT_SECRET") && message.contains("at least 32 bytes"));
    assert!(!message.contains("hunter2"), "{message}");
}

#[test]
fn the_retention_of_actions_can_be_set() {
    let config = load(None, &[]).unwrap();
    assert_eq!((config.action_log.days, config.action_log.per_session), (30, 10_000));
    let env = [("HELMDECK_ACTION_LOG_PER_SESSION", "0")];
    let config = load(Some("action_log_days = 7"), &env).unwrap();
    assert_eq!((config.action_log.days, config.action_log.per_session), (7, 0));
    let error = load(None, &[("HELMDECK_ACTION_LOG_DAYS", "-1")]).unwrap_err().to_string();
    assert!(
        error.contains("HELMDECK_ACTION_LOG_DAYS") && error.contains("0 to keep them forever"),
        "{error}"
    );
}

#[test]
fn artifacts_are_kept_for_a_week_within_a_quota_unless_it_is_set() {
    let config = load(None, &[]).unwrap().artifacts;
    let (week, hour) = (Duration::from_secs(7 * 24 * 3600), Duration::from_secs(3600));
    assert_eq!((config.ttl, config.quota), (Some(week), Some(Bytes(10 << 30))));
    assert_eq!(config.janitor_interval, hour);
    let env = [("HELMDECK_ARTIFACT_TTL", "0"), ("HELMDECK_ARTIFACT_QUOTA", "0")];
    let config = load(Some("artifact_janitor_interval = \"10m\""), &env).unwrap();
    assert_eq!((config.artifacts.ttl, config.artifacts.quota), (None, None));
    let shown = config.show();
    assert!(shown.contains("artifact_ttl = \"0\"") && shown.contains("artifact_quota = \"0\""));
    assert!(shown.contains("artifact_janitor_interval = \"10m\""), "{shown}");
    for (name, bad) in [("TTL", "a week"), ("QUOTA", "-1"), ("JANITOR_INTERVAL", "0")] {
        assert!(load(None, &[(&format!("HELMDECK_ARTIFACT_{name}"), bad)]).is_err(), "{name}");
    }
}

#[test]
fn an_unknown_key_is_an_error_and_an_unknown_variable_a_warning() {
    let error = load(Some("adr = \":1\""), &[]).unwrap_err().to_string();
    assert!(error.contains("unknown key \"adr\"") && error.contains("addr, data_dir"), "{error}");

    let config = load(None, &[("HELMDECK_ADRR", ":1"), ("HELMDECK_TOKEN", "t")]).unwrap();
    let warning =
        "HELMDECK_ADRR is set, but helmdeck does not know it: did you mean HELMDECK_ADDR?";
    assert_eq!(config.warnings, [warning]);
}

#[test]
fn a_file_that_was_asked_for_must_exist() {
    let env = [("HELMDECK_CONFIG".to_owned(), "/nonexistent/helmdeck.toml".to_owned())];
    let error = Config::load(None, env.into_iter()).unwrap_err();
    assert!(error.to_string().contains("/nonexistent/helmdeck.toml"), "{error}");
}

#[test]
fn the_effective_configuration_shows_origins_and_hides_secrets() {
    let secret = "0123456789abcdef0123456789abcdef";
    let config = load(Some("max_sessions = 3"), &[("HELMDECK_JWT_SECRET", secret)]).unwrap();
    let shown = config.show();

    assert!(shown.contains("addr = \"127.0.0.1:3000\"  # default"), "{shown}");
    assert!(shown.contains("max_sessions = 3  # from /"), "{shown}");
    assert!(shown.contains("jwt_secret = \"••••\"  # from HELMDECK_JWT_SECRET"), "{shown}");
    assert!(shown.contains("# admin_password is not set"), "{shown}");
    let passthrough =
        "browser_passthrough = false  # default; an admin can also turn it on in Settings";
    assert!(shown.contains(passthrough), "{shown}");
    assert_eq!(config.jwt_secret.as_ref().unwrap().expose_secret(), secret);
    assert!(!shown.contains(secret) && !format!("{config:?}").contains(secret));
    shown.parse::<toml::Table>().unwrap();
}

#[test]
fn origins_are_written_without_a_path() {
    let origins = |text| load(None, &[("HELMDECK_ALLOWED_ORIGINS", text)]);
    let config = origins("https://novnc.example:443, http://other.example:8080").unwrap();
    assert_eq!(config.live.allowed_origins, ["https://novnc.example", "http://other.example:8080"]);
    assert!(config.show().contains("allowed_origins = \"https://novnc.example,"));
    for bad in ["*", "novnc.example", "https://novnc.example/", "https://a.example/b", "ftp://a"] {
        assert!(origins(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_caller_may_ask_for_half_of_the_memory_and_all_cores_unless_it_is_set() {
    let config = load(None, &[]).unwrap();
    let (caller, machine) = (config.ceilings.caller, config.ceilings.machine);
    assert!(caller.memory.0 >= 4 << 30 && caller.memory.0 >= machine.memory.0 / 2);
    assert!(caller.cpu == machine.cpu && caller.cpu >= 1.0);
    let env = [("HELMDECK_MAX_MEMORY_LIMIT", "2g"), ("HELMDECK_MAX_CPU_LIMIT", "1.5")];
    let config = load(None, &env).unwrap();
    let shown = config.show();
    assert!(shown.contains("max_memory_limit = \"2g\"") && shown.contains("max_cpu_limit = 1.5"));
    assert!(load(None, &[("HELMDECK_MAX_MEMORY_LIMIT", "1m")]).is_err());
    assert!(shown.contains("max_memory_per_caller = \"0\""), "{shown}");
    let config = load(None, &[("HELMDECK_MAX_MEMORY_PER_CALLER", "16g")]).unwrap();
    assert_eq!(config.memory_per_caller(), Bytes(16 << 30));
    let config = load(None, &[("HELMDECK_MAX_SESSIONS", "3")]).unwrap();
    assert_eq!(config.memory_per_caller(), Bytes(12 << 30));
    assert!(load(None, &[("HELMDECK_MAX_MEMORY_PER_CALLER", "1m")]).is_err());
}

#[test]
fn trusted_proxies_are_addresses_and_ranges() {
    let proxies = |text| load(None, &[("HELMDECK_TRUSTED_PROXIES", text)]);
    let config = proxies("127.0.0.1,10.0.0.0/8").unwrap();
    assert_eq!(config.trusted_proxies.len(), 2);
    assert!(config.show().contains("trusted_proxies = \"127.0.0.1"));
    assert!(proxies("proxy.example").is_err());
}

#[test]
fn a_workspace_is_on_the_disk_unless_its_limit_is_zero() {
    let limit = |text| load(None, &[("HELMDECK_WORKSPACE_LIMIT", text)]);
    assert_eq!(load(None, &[]).unwrap().workspace_limit, Some(Bytes(4 << 30)));
    assert_eq!(limit("512m").unwrap().workspace_limit, Some(Bytes(512 << 20)));
    let none = limit("0").unwrap();
    assert_eq!(none.workspace_limit, None);
    assert!(none.show().contains("workspace_limit = \"0\""));
    assert!(limit("1k").is_err() && limit("all").is_err());
}
