//! Where the agent's programs look for a browser, and find the wrapper.

use std::{fs, io, os::unix::fs::PermissionsExt as _, path::Path};

/// The wrapper: its path and the arguments follow behind.
const WRAPPER: &str = "#!/opt/helmdeck/helmdeck browser\n";
/// The same where browsers of the agent's programs are not followed: it only opens pages.
const OPENER: &str = "#!/opt/helmdeck/helmdeck open-page\n";
/// Where it is made, out of sight of the agent's programs, which see it in the other places only.
const MADE: &str = "/run/helmdeck/browser";
/// Where the real browser is found then.
pub const REAL: &str = "/opt/helmdeck/browser/chromium";
/// What browsers are called in the PATH.
const NAMES: [&str; 4] = ["google-chrome", "google-chrome-stable", "chromium", "chromium-browser"];
/// Where Chrome is on a system that has it; Playwright and Selenium know no other place.
const CHROME: &str = "/opt/google/chrome/chrome";

/// For programs that ask the environment where the browser is: the PATH, Lighthouse, Karma,
/// Puppeteer, Playwright's own server.
pub const ENVIRONMENT: [(&str, &str); 5] = [
    ("PATH", "/opt/helmdeck/bin:/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"),
    ("CHROME_PATH", "/opt/helmdeck/bin/chromium"),
    ("CHROME_BIN", "/opt/helmdeck/bin/chromium"),
    ("PUPPETEER_EXECUTABLE_PATH", "/opt/helmdeck/bin/chromium"),
    ("PLAYWRIGHT_MCP_EXECUTABLE_PATH", "/opt/helmdeck/bin/chromium"),
];

/// Makes the wrapper. Returns what bubblewrap must be told to have it in all places, and the real
/// browser in one that only the wrapper knows. Of the host, nothing changes. Unless browsers are
/// `followed`, only those that the machine has are covered.
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
        // A link leads to a place that is covered itself, or to a program that must stay where it is.
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
