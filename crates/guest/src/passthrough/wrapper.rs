//! The wrapper at the paths of a browser: reports the browser to the guest, and becomes it.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File},
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    num::NonZeroU16,
    os::unix::{
        ffi::OsStrExt as _, fs::MetadataExt as _, net::UnixStream, process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::{FdFlags, fcntl_dupfd_cloexec, fcntl_setfd},
    net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with},
    process::{Pid, PidfdFlags, getpid, pidfd_open},
};
use serde::Serialize;

use super::{Hello, Listening, SEEN, SOCKET, page, places::REAL};
use crate::{browser::EARLY_INPUT, egress};

/// How long to wait for the guest's answer.
const ANSWER_DEADLINE: Duration = Duration::from_secs(1);
/// A browser has its port by then, or never.
const PORT_DEADLINE: Duration = Duration::from_secs(60);
/// The session's browser shows a page by then, or is not running.
const OPEN_DEADLINE: Duration = Duration::from_secs(30);
/// How often to check for the port.
const PORT_POLL: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
/// Callers assign lower numbers to their own descriptors.
const LEAST_DESCRIPTOR: i32 = 10;
/// The file in which a browser writes its port.
const PORT_FILE: &str = "DevToolsActivePort";
const MAX_PORT_FILE: u64 = 1024;

/// Becomes the browser that was called with `line`: the path of the wrapper, and arguments. Returns
/// only if there is no browser.
pub fn run(line: Vec<OsString>) -> io::Error {
    let mut line = line.into_iter();
    let called = PathBuf::from(line.next().unwrap_or_default());
    let args: Vec<OsString> = line.collect();
    if opened(&args) {
        std::process::exit(0);
    }
    let asked = BrowserArguments::read(&args);
    // If it cannot be followed, it still runs.
    let seen = asked.is_seen()
        && called.file_name().is_some_and(|name| announce(&asked, &name.to_string_lossy()).is_ok());
    Command::new(REAL).args(asked.additions(seen)).args(args).exec()
}

/// Opens pages in the session's browser, if the arguments in `line` contain only pages. Otherwise
/// becomes the machine's browser with the same arguments. Returns only if there is none.
pub fn open_page(line: Vec<OsString>) -> io::Error {
    let args: Vec<OsString> = line.into_iter().skip(1).collect();
    if opened(&args) {
        std::process::exit(0);
    }
    Command::new(REAL).args(args).exec()
}

/// Whether the arguments are only pages, and the session's browser has opened them.
fn opened(args: &[OsString]) -> bool {
    let Some(open) = page::parse_arguments(args) else { return false };
    let ask = || {
        let mut guest = greet()?;
        guest.set_read_timeout(Some(OPEN_DEADLINE))?;
        say(&mut guest, &open)?;
        confirmed(&guest)
    };
    ask().is_ok()
}

/// Fails unless the guest confirms.
fn confirmed(guest: &UnixStream) -> io::Result<()> {
    let mut answer = String::new();
    BufReader::new(guest.take(SEEN.len() as u64)).read_line(&mut answer)?;
    if answer.as_bytes() == SEEN {
        return Ok(());
    }
    Err(io::Error::other("the guest refused"))
}

/// The relevant arguments of the caller.
#[derive(Debug, Default, PartialEq, Eq)]
struct BrowserArguments {
    /// A profile other than the default one.
    data_dir: Option<PathBuf>,
    port: Option<Port>,
    proxied: bool,
    headless: bool,
    /// The browser does one thing and exits; with a port it would not.
    once: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Port {
    /// The browser chooses.
    Any,
    This(NonZeroU16),
    Nonsense,
}

impl BrowserArguments {
    fn read(args: &[OsString]) -> Self {
        let mut asked = Self::default();
        for arg in args.iter().map(|arg| arg.as_bytes()).take_while(|arg| *arg != b"--") {
            let Some(switch) = arg.strip_prefix(b"--").or_else(|| arg.strip_prefix(b"-")) else {
                continue;
            };
            let mut parts = switch.splitn(2, |byte| *byte == b'=');
            let (name, value) =
                (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            match name {
                b"user-data-dir" => {
                    let dir = Path::new(OsStr::from_bytes(value));
                    asked.data_dir = (!dir.as_os_str().is_empty()).then(|| dir.to_owned());
                }
                b"remote-debugging-port" => asked.port = Some(Port::read(value)),
                b"proxy-server" | b"proxy-pac-url" | b"proxy-auto-detect" | b"no-proxy-server" => {
                    asked.proxied = true;
                }
                b"headless" => asked.headless = true,
                b"dump-dom" | b"print-to-pdf" | b"screenshot" => asked.once = true,
                _ => {}
            }
        }
        asked
    }

    /// Whether the browser can be followed. A browser with the default profile has no debugging
    /// port, unless it is headless; a headless one cannot write its port, so the caller must have
    /// chosen it.
    fn is_seen(&self) -> bool {
        match self.port {
            None => self.data_dir.is_some() && !self.once,
            Some(Port::Any) => self.data_dir.is_some(),
            Some(Port::This(_)) => self.data_dir.is_some() || self.headless,
            Some(Port::Nonsense) => false,
        }
    }

    /// Arguments that the caller omitted. The port is added only if the browser is followed.
    fn additions(&self, seen: bool) -> Vec<String> {
        let mut additions = Vec::new();
        if self.is_seen() {
            additions.push(EARLY_INPUT.to_owned());
        }
        if seen && self.port.is_none() {
            additions.push("--remote-debugging-port=0".to_owned());
        }
        if self.is_seen() && !self.proxied {
            additions.push(format!("--proxy-server={}", egress::PROXY));
        }
        additions
    }
}

impl Port {
    fn read(value: &[u8]) -> Self {
        match std::str::from_utf8(value).ok().and_then(|text| text.parse::<u16>().ok()) {
            Some(port) => NonZeroU16::new(port).map_or(Self::Any, Self::This),
            None => Self::Nonsense,
        }
    }
}

/// Reports the browser that we are about to become. The connection stays open in the browser and
/// closes with it.
fn announce(asked: &BrowserArguments, name: &str) -> io::Result<()> {
    let pid = getpid();
    let mut guest = greet()?;
    let number = u32::try_from(pid.as_raw_nonzero().get()).map_err(io::Error::other)?;
    let hello = Hello { pid: number, name: name.to_owned(), headless: asked.headless };
    say(&mut guest, &hello)?;
    confirmed(&guest)?;
    match (asked.port, &asked.data_dir) {
        (Some(Port::This(port)), _) => say(&mut guest, &Listening { port })?,
        (_, Some(dir)) => {
            let file = dir.join(PORT_FILE);
            // A file left by another browser does not count.
            let before = Stamp::of(&file);
            let kept = guest.try_clone()?.into();
            helmdeck_spawn::detach(kept, |guest| {
                // If this fails, the browser is not followed.
                let _ = tell_port(guest.into(), pid, &file, before);
            })?;
        }
        (_, None) => {}
    }
    let high = fcntl_dupfd_cloexec(&guest, LEAST_DESCRIPTOR)?;
    fcntl_setfd(&high, FdFlags::empty())?;
    // Open for the life of the browser.
    std::mem::forget(high);
    Ok(())
}

/// Connects to the guest, with a short timeout.
fn greet() -> io::Result<UnixStream> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&socket, &SocketAddrUnix::new(SOCKET)?)?;
    let guest = UnixStream::from(socket);
    guest.set_nonblocking(false)?;
    guest.set_read_timeout(Some(ANSWER_DEADLINE))?;
    guest.set_write_timeout(Some(ANSWER_DEADLINE))?;
    Ok(guest)
}

fn say(guest: &mut UnixStream, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    guest.write_all(&line)
}

/// Waits until the browser has written its port, and reports it to the guest. Ends with the
/// browser.
fn tell_port(
    mut guest: UnixStream,
    browser: Pid,
    file: &Path,
    before: Option<Stamp>,
) -> io::Result<()> {
    let browser = pidfd_open(browser, PidfdFlags::empty())?;
    let until = Instant::now() + PORT_DEADLINE;
    while Instant::now() < until {
        if Stamp::of(file).is_some_and(|now| Some(now) != before)
            && let Some(port) = port_in(file)
        {
            return say(&mut guest, &Listening { port });
        }
        let mut over = [PollFd::new(&browser, PollFlags::IN)];
        if poll(&mut over, Some(&PORT_POLL))? > 0 {
            break;
        }
    }
    Ok(())
}

/// The port, once its line is complete.
fn port_in(file: &Path) -> Option<NonZeroU16> {
    let mut text = String::new();
    File::open(file).ok()?.take(MAX_PORT_FILE).read_to_string(&mut text).ok()?;
    text.split_once('\n')?.0.parse().ok()
}

/// Distinguishes a file from an earlier one with the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    modified: (i64, i64),
}

impl Stamp {
    fn of(file: &Path) -> Option<Self> {
        let facts = fs::metadata(file).ok().filter(fs::Metadata::is_file)?;
        Some(Self { inode: facts.ino(), modified: (facts.mtime(), facts.mtime_nsec()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn additions(line: &str) -> Vec<String> {
        let args: Vec<_> = line.split_whitespace().map(OsString::from).collect();
        let asked = BrowserArguments::read(&args);
        asked.additions(asked.is_seen())
    }

    const PROXY: &str = "--proxy-server=http://127.0.0.1:3128";

    #[test]
    fn a_browser_with_its_own_profile_gets_missing_arguments() {
        let port = "--remote-debugging-port=0";
        for dir in ["--user-data-dir=/tmp/p", "-user-data-dir=p", "about:blank --user-data-dir=p"] {
            assert_eq!(additions(dir), [EARLY_INPUT, port, PROXY], "{dir}");
        }
        let pipe = "--remote-debugging-pipe --headless --user-data-dir=/tmp/p --no-startup-window";
        assert_eq!(additions(pipe), [EARLY_INPUT, port, PROXY]);
        for given in ["--proxy-server=x:1", "--no-proxy-server", "--proxy-pac-url=x"] {
            assert_eq!(additions(&format!("--user-data-dir=p {given}")), [EARLY_INPUT, port]);
        }
        for given in ["--remote-debugging-port=0", "--remote-debugging-port=9222"] {
            assert_eq!(additions(&format!("--user-data-dir=p {given}")), [EARLY_INPUT, PROXY]);
        }
        assert_eq!(additions("--headless --remote-debugging-port=9222"), [EARLY_INPUT, PROXY]);
    }

    #[test]
    fn a_browser_that_cannot_be_followed_is_not_changed() {
        for line in [
            "",
            "https://example.com/",
            "--version",
            "--headless --dump-dom about:blank",
            "--headless --user-data-dir=p --print-to-pdf about:blank",
            "--headless --remote-debugging-port=0",
            "--user-data-dir=",
            "-- --user-data-dir=/tmp/p",
            "--user-data-dir=p --remote-debugging-port=many",
            "user-data-dir=/tmp/p",
        ] {
            assert!(additions(line).is_empty(), "{line}");
        }
    }

    #[test]
    fn a_port_is_read_from_a_complete_line_of_a_new_file() {
        let file = std::env::temp_dir().join(format!("helmdeck-port-{}", getpid()));
        for (text, port) in [("", None), ("41", None), ("0\n/x", None), ("41\n/x", Some(41))] {
            fs::write(&file, text).unwrap();
            assert_eq!(port_in(&file).map(NonZeroU16::get), port, "{text:?}");
        }
        let before = Stamp::of(&file);
        assert!(before.is_some() && before == Stamp::of(&file));
        fs::remove_file(&file).unwrap();
        assert_eq!(Stamp::of(&file), None);
    }
}
