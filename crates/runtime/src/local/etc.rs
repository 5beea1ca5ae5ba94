//! The `/etc` of a sandbox: a few generated files, and single entries of the host's.
//!
//! Never the host's whole directory, which would reveal account names and more.

use std::{fmt::Write, os::fd::OwnedFd};

use crate::RuntimeError;

/// Entries of the host's `/etc` that programs need and that contain nothing private.
pub const FROM_HOST: [&str; 20] = [
    "fonts",
    "ssl/certs",
    "ssl/openssl.cnf",
    "alternatives",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "gtk-3.0",
    "xdg",
    "mime.types",
    "dbus-1",
    "X11",
    "chromium/master_preferences",
    "chromium.d",
    "services",
    "protocols",
    "ca-certificates.conf",
    "bash.bashrc",
    "profile",
];

/// The files made by [`generate`].
const GENERATED: [&str; 8] = [
    "passwd",
    "group",
    "nsswitch.conf",
    "hosts",
    "resolv.conf",
    "machine-id",
    "hostname",
    CHROMIUM_POLICY,
];

/// The path of Chromium's policy. It applies to every browser of a session, including those that
/// the agent's programs start.
const CHROMIUM_POLICY: &str = "chromium/policies/managed/helmdeck.json";

/// The sandbox's host name.
pub const HOST_NAME: &str = "helmdeck";

/// The generated files, by name. They are copied into the sandbox: a bind mount would reveal their
/// path on the host.
pub fn generate() -> Result<Vec<(&'static str, OwnedFd)>, RuntimeError> {
    let file = |name| {
        let content = content(name)?;
        let file = helmdeck_spawn::memory_file(name, content.as_bytes())
            .map_err(|e| RuntimeError::System("a file of the sandbox cannot be stored", e))?;
        Ok((name, file))
    };
    GENERATED.into_iter().map(file).collect()
}

fn content(name: &str) -> Result<String, RuntimeError> {
    Ok(match name {
        "passwd" => "root:x:0:0:root:/root:/usr/sbin/nologin\n\
                     agent:x:1000:1000:Agent:/home/agent:/bin/bash\n\
                     nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
            .into(),
        "group" => "root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n".into(),
        "nsswitch.conf" => "passwd: files\ngroup: files\nshadow: files\nhosts: files\n\
                            services: files\nprotocols: files\n"
            .into(),
        "hosts" => format!("127.0.0.1 localhost\n::1 localhost\n127.0.1.1 {HOST_NAME}\n"),
        "hostname" => format!("{HOST_NAME}\n"),
        "machine-id" => machine_id()?,
        CHROMIUM_POLICY => include_str!("chromium_policy.json").into(),
        // Empty: names are resolved outside, by the proxy.
        _ => String::new(),
    })
}

fn machine_id() -> Result<String, RuntimeError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|e| RuntimeError::System("no randomness", std::io::Error::other(e)))?;
    let mut text = String::new();
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text.push('\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_policy_is_json_and_leaves_background_mode_to_the_browser() {
        let policy = include_str!("chromium_policy.json");
        let policy: serde_json::Value = serde_json::from_str(policy).unwrap();
        // Setting it would make a desktop's browser exit with its last window.
        assert!(policy.is_object() && policy.get("BackgroundModeEnabled").is_none());
    }
}
