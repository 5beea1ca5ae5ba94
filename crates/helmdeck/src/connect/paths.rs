//! Where the files and programs of clients are on this machine.

use std::{
    env,
    path::{Path, PathBuf},
};

use helmdeck_wire::connect::SettingsFile;

/// Variables by which people move a client's folder elsewhere.
const MOVED: [(&str, &str); 5] = [
    ("~/.config/", "XDG_CONFIG_HOME"),
    ("~/.claude/", "CLAUDE_CONFIG_DIR"),
    ("~/.codex/", "CODEX_HOME"),
    ("~/.hermes/", "HERMES_HOME"),
    ("~/.openclaw/", "OPENCLAW_STATE_DIR"),
];

/// The settings file of a client.
pub fn settings_file(file: SettingsFile) -> Result<PathBuf, String> {
    let written = match env::consts::OS {
        "macos" => file.macos,
        "windows" => file.windows,
        _ => file.linux,
    };
    let path = resolve(written)?;
    // Some clients read the same file under a name that says it may have comments.
    let commented = path.with_extension("jsonc");
    let is_json = path.extension().is_some_and(|extension| extension == "json");
    Ok(if is_json && !path.exists() && commented.exists() { commented } else { path })
}

/// A path with the home and the folders of this machine.
pub fn resolve(written: &str) -> Result<PathBuf, String> {
    resolve_with(written, |name| env::var_os(name).map(PathBuf::from))
}

fn resolve_with(written: &str, var: impl Fn(&str) -> Option<PathBuf>) -> Result<PathBuf, String> {
    let absolute = |name: &str| var(name).filter(|path| path.is_absolute());
    if let Some(rest) = written.strip_prefix("%APPDATA%\\") {
        let dir = absolute("APPDATA").ok_or("APPDATA is not set")?;
        return Ok(rest.split('\\').fold(dir, |dir, name| dir.join(name)));
    }
    for (prefix, name) in MOVED {
        if let Some(rest) = written.strip_prefix(prefix)
            && let Some(dir) = absolute(name)
        {
            return Ok(dir.join(rest));
        }
    }
    match written.strip_prefix("~/") {
        Some(rest) => {
            let home = absolute("HOME").or_else(|| absolute("USERPROFILE"));
            Ok(home.ok_or("HOME is not set")?.join(rest))
        }
        None => Ok(PathBuf::from(written)),
    }
}

/// A program on the PATH.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let file = |dir: PathBuf| {
        let names = [name.to_owned(), format!("{name}{}", env::consts::EXE_SUFFIX)];
        names.into_iter().map(|name| dir.join(name)).find(|path: &PathBuf| Path::is_file(path))
    };
    env::split_paths(&path).find_map(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_and_folders_that_were_moved_are_found() {
        let var = |name: &str| match name {
            "HOME" => Some(PathBuf::from("/home/ann")),
            "CODEX_HOME" => Some(PathBuf::from("/data/codex")),
            "HERMES_HOME" => Some(PathBuf::from("not absolute")),
            _ => None,
        };
        for (written, path) in [
            ("~/.gemini/settings.json", "/home/ann/.gemini/settings.json"),
            ("~/.codex/config.toml", "/data/codex/config.toml"),
            ("~/.hermes/config.yaml", "/home/ann/.hermes/config.yaml"),
        ] {
            assert_eq!(resolve_with(written, var), Ok(PathBuf::from(path)));
        }
        assert!(resolve_with("%APPDATA%\\Code\\User\\mcp.json", var).is_err());
        assert!(resolve_with("~/x", |_| None).is_err());
    }
}
