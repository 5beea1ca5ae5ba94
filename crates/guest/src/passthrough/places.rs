//! The paths where the agent's programs look for a browser and find the wrapper.

use std::{fs, io, os::unix::fs::PermissionsExt as _, path::Path};

/// The wrapper script. The kernel appends its path and the arguments.
const WRAPPER: &str = "#!/opt/helmdeck/helmdeck browser\n";
/// The wrapper without passthrough: it only opens pages.
const OPENER: &str = "#!/opt/helmdeck/helmdeck open-page\n";
/// Where it is created, hidden from the agent's programs, which see it only at the other paths.
const MADE: &str = "/run/helmdeck/browser";
/// Where the real browser is then.
pub const REAL: &str = "/opt/helmdeck/browser/chromium";
/// The names of browsers in the PATH.
const NAMES: [&str; 4] = ["google-chrome", "google-chrome-stable", "chromium", "chromium-browser"];
/// The path of an installed Chrome; Playwright and Selenium look only there.
const CHROME: &str = "/opt/google/chrome/chrome";

/// For programs that read the browser's path from the environment: the PATH, Lighthouse, Karma,
/// Puppeteer and Playwright's server.
pub const ENVIRONMENT: [(&str, &str); 5] = [
    ("PATH", "/opt/helmdeck/bin:/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"),
    ("CHROME_PATH", "/opt/helmdeck/bin/chromium"),
    ("CHROME_BIN", "/opt/helmdeck/bin/chromium"),
    ("PUPPETEER_EXECUTABLE_PATH", "/opt/helmdeck/bin/chromium"),
    ("PLAYWRIGHT_MCP_EXECUTABLE_PATH", "/opt/helmdeck/bin/chromium"),
];

/// Creates the wrapper. Returns the bubblewrap arguments that put it at all these paths, and the
/// real browser at a path that only the wrapper uses. The host is not changed. Unless browsers are
/// `followed`,
/// only existing browsers are covered.
pub fn arguments(followed: bool) -> io::Result<String> {
    let real = ["/usr/local/bin/chromium", "/usr/bin/chromium"];
    let Some(real) = real.into_iter().find(|path| Path::new(path).exists()) else {
        return Err(io::Error::new(io::ErrorKind::NotFound, "there is no Chromium"));
    };
    fs::write(MADE, if followed { WRAPPER } else { OPENER })?;
    fs::set_permissions(MADE, fs::Permissions::from_mode(0o755))?;
    let covered = is_file(real);
    let mut arguments = if covered {
        format!("--ro-bind {real} {REAL}")
    } else {
        format!("--symlink {real} {REAL}")
    };
    let mut cover = |path: &str| arguments.push_str(&format!(" --ro-bind {MADE} {path}"));
    for name in NAMES {
        if followed {
            cover(&format!("/opt/helmdeck/bin/{name}"));
        }
        // A link leads to a path that is covered itself, or to a program that must stay.
        for path in [format!("/usr/local/bin/{name}"), format!("/usr/bin/{name}")] {
            if is_file(&path) {
                cover(&path);
            }
        }
    }
    if followed {
        cover(CHROME);
    }
    Ok(arguments)
}

fn is_file(path: &str) -> bool {
    fs::symlink_metadata(path).is_ok_and(|facts| facts.is_file())
}
