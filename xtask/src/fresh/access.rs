//! How this machine reaches package registries, so that the new system does the same. Read at run
//! time; nothing of it is in the repository.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use super::plan::Release;

/// The mirrors of Debian's packages.
#[derive(Debug, PartialEq, Eq)]
pub struct Mirrors {
    pub main: Option<String>,
    pub security: Option<String>,
}

/// The mirrors of this machine's apt.
pub fn mirrors() -> Mirrors {
    let mut files = vec![PathBuf::from("/etc/apt/sources.list")];
    files.extend(entries(Path::new("/etc/apt/sources.list.d")));
    let wanted = |path: &PathBuf| {
        path.extension().is_some_and(|ending| ending == "list" || ending == "sources")
    };
    let texts: Vec<String> = files
        .iter()
        .filter(|path| wanted(path))
        .filter_map(|path| fs::read_to_string(path).ok())
        .collect();
    mirrors_in(&texts.join("\n"))
}

/// Parses both formats of sources: `deb URL suite …` and `URIs: URL`.
fn mirrors_in(text: &str) -> Mirrors {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let urls = lines.filter_map(|line| {
        let rest = line.strip_prefix("URIs:").or_else(|| line.strip_prefix("deb "))?;
        let url = rest.split_whitespace().find(|word| word.contains("://"))?;
        Some(url.trim_end_matches('/').to_owned())
    });
    let (security, main): (Vec<_>, Vec<_>) =
        urls.filter(|url| url.contains("debian")).partition(|url| url.ends_with("security"));
    Mirrors { main: main.into_iter().next(), security: security.into_iter().next() }
}

/// The apt sources of a new system.
pub fn sources(release: Release, main: &str, security: Option<&str>) -> String {
    let suite = release.suite();
    let mut text = format!("deb {main} {suite} main\ndeb {main} {suite}-updates main\n");
    if let Some(security) = security {
        text += &format!("deb {security} {suite}-security main\n");
    }
    text
}

/// Configuration files for registries, and their paths in the new system with the home `home`.
pub fn files(home: &str) -> Vec<(PathBuf, String)> {
    let own = env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let cargo = env::var_os("CARGO_HOME").map_or_else(|| own.join(".cargo"), PathBuf::from);
    let mut files = vec![
        ("/etc/resolv.conf".into(), "etc/resolv.conf".to_owned()),
        ("/etc/pip.conf".into(), "etc/pip.conf".to_owned()),
        (own.join(".npmrc"), format!("{home}/.npmrc")),
        (cargo.join("config.toml"), format!("{home}/.cargo/config.toml")),
        (cargo.join("credentials.toml"), format!("{home}/.cargo/credentials.toml")),
    ];
    let own_authorities = entries(Path::new("/usr/local/share/ca-certificates"));
    let apt = entries(Path::new("/etc/apt/apt.conf.d")).into_iter().filter(|path| {
        fs::read_to_string(path).is_ok_and(|text| text.contains("Acquire::"))
            && !path.ends_with("docker-clean")
    });
    for path in own_authorities.into_iter().chain(apt) {
        let inside = path.to_string_lossy().trim_start_matches('/').to_owned();
        files.push((path, inside));
    }
    files.retain(|(path, _)| path.is_file());
    files
}

/// Environment variables for registries.
pub fn variables() -> Vec<(String, String)> {
    const PREFIXES: [&str; 5] =
        ["CARGO_HTTP_", "CARGO_NET_", "CARGO_REGISTR", "CARGO_SOURCE_", "NPM_CONFIG_"];
    const NAMES: [&str; 4] = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"];
    let ours = |name: &str| {
        let name = name.to_ascii_uppercase();
        NAMES.contains(&name.as_str()) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    };
    // The new system has the same CA certificates at the same path.
    let authorities = |name: &str, value: &str| {
        ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"].contains(&name) && value.starts_with("/etc/ssl/")
    };
    env::vars().filter(|(name, value)| ours(name) || authorities(name, value)).collect()
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> =
        fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrors_are_read_from_both_kinds_of_sources() {
        let expected = Mirrors {
            main: Some("http://mirror.example/debian".to_owned()),
            security: Some("http://mirror.example/debian-security".to_owned()),
        };
        let deb822 = "Types: deb\n# URIs: http://old.example/debian\n\
            URIs: http://mirror.example/debian/\nSuites: bookworm\n\n\
            URIs: http://mirror.example/debian-security\nSuites: bookworm-security\n";
        assert_eq!(mirrors_in(deb822), expected);
        let lines = "deb [signed-by=/x.gpg] https://tools.example/apt stable main\n\
            deb http://mirror.example/debian bookworm main\n\
            deb http://mirror.example/debian-security bookworm-security main\n";
        assert_eq!(mirrors_in(lines), expected);
    }
}
