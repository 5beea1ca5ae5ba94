//! The two nested sandboxes of a session: what each sees, and the environment of its programs.
//!
//! ```text
//!                  agent's programs           session's browser
//! /home/agent      the home                   what was handed over, read-only
//!   Downloads      shared                     shared
//!   Desktop        shared                     shared
//! /home/browser    -                          its profile
//! /workspace       on the disk, or in memory  -
//! /run/user/1000   session bus                a bus without services
//! extensions       -                          read-only
//! ```

use std::{collections::BTreeMap, ffi::CString, fs, io, path::Path};

use helmdeck_spawn::Restricted;
use helmdeck_wire::{guest::Begin, session::Mode};

use super::{HOME, NestSpec, RUNTIME_DIR};
use crate::{egress, extension, passthrough, workspace, xvnc};

/// The home of the session's browser.
pub const BROWSER_HOME: &str = "/home/browser";
/// The folder that the browser sees as the home: handed over files are linked here.
pub const HANDED_OVER: &str = "/home/handed-over";
/// Folders of the home that both sandboxes share. They are mounts, so programs cannot replace them
/// with links.
const SHARED: [&str; 2] = ["Desktop", "Downloads"];
/// Chromium's certificate folder, which is always below the home.
const CERTIFICATES: &str = ".pki";
/// The font cache for /usr, and where fontconfig expects it.
const FONTS: &str = "/run/helmdeck/fonts";
const FONTS_SEEN: &str = "/var/cache/fontconfig";
/// The search path for programs.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games";
/// Chromium hardly uses it.
const BROWSER_TMP: u64 = 256 << 20;
/// The size of a private sign-in's profile, in memory.
const PRIVATE_BYTES: u64 = 512 << 20;
/// Processes and threads reserved for the guest and the X server. The kernel counts both sandboxes
/// together, so the browser's limit is above that of the agent's programs.
const RESERVED_PIDS: u64 = 64;
const BROWSER_PIDS: u64 = 128;

/// Creates the folders of the sandboxes, before any program runs.
pub fn make_folders() -> io::Result<()> {
    for entry in fs::read_dir(FONTS)?.flatten() {
        // Without the cache, programs scan the fonts themselves.
        let _ = fs::copy(entry.path(), Path::new(FONTS_SEEN).join(entry.file_name()));
    }
    for folder in SHARED {
        fs::create_dir_all(format!("{HOME}/{folder}"))?;
        fs::create_dir_all(format!("{HANDED_OVER}/{folder}"))?;
    }
    fs::create_dir_all(format!("{HANDED_OVER}/{CERTIFICATES}"))?;
    fs::create_dir_all(format!("{BROWSER_HOME}/{CERTIFICATES}"))
}

/// Whether a path relative to the home is in a shared folder.
pub fn is_shared(path: &str) -> bool {
    SHARED.iter().any(|folder| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
}

/// Whether another folder is mounted over this path in the browser's sandbox.
pub fn is_mount(path: &str) -> bool {
    path == CERTIFICATES || SHARED.contains(&path)
}

/// The sandbox of the agent's programs. `wrapper` are the arguments added for passthrough.
pub fn agent(begin: &Begin, wrapper: &str) -> NestSpec {
    let (shared, workspace) = (shared(), workspace::arguments(begin));
    let mut env = environment(begin);
    env.insert("QT_LINUX_ACCESSIBILITY_ALWAYS_ON".into(), "1".into());
    if begin.browser_passthrough {
        let named = passthrough::ENVIRONMENT;
        env.extend(named.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
    NestSpec {
        name: "agent",
        with_display: begin.mode == Mode::Desktop,
        tmp_bytes: begin.tmp_bytes,
        shm_bytes: begin.shm_bytes,
        oom_score: 500,
        pids: begin.pids.saturating_sub(RESERVED_PIDS + BROWSER_PIDS),
        env,
        mounts: format!(
            "--bind {HOME} {HOME} {shared} --bind {RUNTIME_DIR} {RUNTIME_DIR} {workspace} {wrapper}"
        ),
    }
}

/// The sandbox of the session's own browser.
pub fn browser(begin: &Begin) -> NestSpec {
    let shared = shared();
    let extensions = if begin.extensions.is_empty() {
        String::new()
    } else {
        format!("--ro-bind {} {}", extension::OUTSIDE, extension::INSIDE)
    };
    let mut env = environment(begin);
    let own = |folder: &str| format!("{BROWSER_HOME}/{folder}");
    env.insert("XDG_CONFIG_HOME".into(), own(".config"));
    env.insert("XDG_CACHE_HOME".into(), own(".cache"));
    env.insert("XDG_DATA_HOME".into(), own(".local/share"));
    // Any program on the display can name an accessibility bus, which would receive every page.
    // This one is in the browser's own sandbox; without a screen there is none.
    let (bus, flag) = match begin.mode {
        Mode::Desktop => ("bus", "ACCESSIBILITY_ENABLED"),
        Mode::Headless => ("no-accessibility-bus", "NO_AT_BRIDGE"),
    };
    env.insert("AT_SPI_BUS_ADDRESS".into(), format!("unix:path={RUNTIME_DIR}/{bus}"));
    env.insert(flag.into(), "1".into());
    NestSpec {
        name: "browser",
        with_display: begin.mode == Mode::Desktop,
        tmp_bytes: begin.tmp_bytes.min(BROWSER_TMP),
        shm_bytes: begin.shm_bytes,
        oom_score: 300,
        pids: begin.pids.saturating_sub(RESERVED_PIDS),
        env,
        mounts: format!(
            "--ro-bind {HANDED_OVER} {HOME} {shared} --bind {BROWSER_HOME} {BROWSER_HOME} \
             --bind {BROWSER_HOME}/{CERTIFICATES} {HOME}/{CERTIFICATES} \
             --perms 0700 --size 16777216 --tmpfs {RUNTIME_DIR} {extensions}"
        ),
    }
}

/// The sandbox of a private sign-in's browser: it shares no folder or display with anything, and
/// keeps nothing.
pub fn private(begin: &Begin) -> NestSpec {
    let own = |folder: &str, size: u64| format!("--perms 0700 --size {size} --tmpfs {folder}");
    let mounts = [(BROWSER_HOME, PRIVATE_BYTES), (HOME, 16 << 20), (RUNTIME_DIR, 16 << 20)];
    NestSpec {
        name: "private",
        with_display: false,
        mounts: mounts.map(|(folder, size)| own(folder, size)).join(" "),
        ..browser(begin)
    }
}

/// Mounts of the browser's sandbox with content that others control: files of the agent's programs,
/// and site storage. Nothing may be run or loaded from there, because a program on the display can
/// name a library for GTK to load. Links in the home are not followed, because they could lead to
/// the profile.
pub fn restricted() -> [Restricted; 4] {
    [(HOME, true), (BROWSER_HOME, false), (RUNTIME_DIR, false), ("/tmp", false)].map(
        |(path, home)| Restricted {
            path: CString::new(path).unwrap_or_default(),
            recursive: home,
            no_links: home,
        },
    )
}

fn shared() -> String {
    SHARED.map(|folder| format!("--bind {HOME}/{folder} {HOME}/{folder}")).join(" ")
}

/// The environment of every program of the session. Variables set by the client are added for the
/// agent's programs only.
fn environment(begin: &Begin) -> BTreeMap<String, String> {
    let language = match &begin.locale {
        Some(locale) => format!("{}.UTF-8", locale.replace('-', "_")),
        None => "C.UTF-8".to_owned(),
    };
    let bus = format!("unix:path={RUNTIME_DIR}/bus");
    let mut env: BTreeMap<String, String> = [
        ("PATH", PATH),
        ("HOME", HOME),
        ("USER", "agent"),
        ("LOGNAME", "agent"),
        ("SHELL", "/bin/bash"),
        ("LANG", &language),
        ("XDG_RUNTIME_DIR", RUNTIME_DIR),
        ("DBUS_SESSION_BUS_ADDRESS", &bus),
        // Loopback belongs to the session; everything else goes through the policy.
        ("http_proxy", egress::PROXY),
        ("https_proxy", egress::PROXY),
        ("all_proxy", egress::PROXY),
        ("HTTP_PROXY", egress::PROXY),
        ("HTTPS_PROXY", egress::PROXY),
        ("ALL_PROXY", egress::PROXY),
        ("no_proxy", "localhost,127.0.0.1,::1"),
        ("NO_PROXY", "localhost,127.0.0.1,::1"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    if begin.mode == Mode::Desktop {
        env.insert("DISPLAY".into(), xvnc::DISPLAY.into());
        env.insert("XDG_CURRENT_DESKTOP".into(), "XFCE".into());
    }
    if let Some(timezone) = &begin.timezone {
        env.insert("TZ".into(), timezone.clone());
    }
    env
}
