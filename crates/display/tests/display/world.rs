//! An X server of our own per test, and programs on it. All of them end with the test.

use std::{
    io::{BufRead as _, BufReader},
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use helmdeck_display::Display;
use helmdeck_wire::window::{ListWindows, Window};
use tempfile::TempDir;
use tokio::time::Instant;

/// An X server without programs, and a display on it.
pub struct World {
    pub display: Display,
    pub name: String,
    pub home: TempDir,
    server: Program,
}

impl World {
    pub fn bare() -> Self {
        Self::sized("1280x800")
    }

    pub fn sized(geometry: &str) -> Self {
        // Servers that choose their number by themselves take each other's socket.
        static SERVERS: AtomicU32 = AtomicU32::new(0);
        let nth = SERVERS.fetch_add(1, Ordering::Relaxed);
        let name = format!(":{}", 1000 + std::process::id() % 10_000 + nth * 10_000);
        let mut command = Command::new("Xtigervnc");
        command.arg(&name);
        command.args("-displayfd 1 -rfbport -1 -nolisten local -nolisten tcp".split(' '));
        // Without any place for viewers, newer versions do not start.
        let home = tempfile::tempdir().unwrap();
        command.arg("-rfbunixpath").arg(home.path().join("rfb"));
        command.args("-extension GLX -SecurityTypes None -depth 24 -geometry".split(' '));
        command.arg(geometry).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = Program::start(command);
        let mut ready = String::new();
        BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut ready).unwrap();
        let display = Display::connect(&name).unwrap();
        Self { display, name, home, server }
    }

    /// An X server with a window manager.
    pub async fn managed() -> (Self, Program) {
        Self::managed_by("openbox", &[]).await
    }

    pub async fn managed_by(manager: &str, arguments: &[&str]) -> (Self, Program) {
        let world = Self::bare();
        let manager = world.run(manager, arguments);
        world.display.wait_for_window_manager(soon()).await.unwrap();
        (world, manager)
    }

    pub fn run(&self, program: &str, arguments: &[&str]) -> Program {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("DISPLAY", &self.name)
            .env("HOME", self.home.path())
            .env("XDG_CONFIG_HOME", self.home.path())
            .env("XDG_RUNTIME_DIR", self.home.path())
            .env("TMPDIR", self.home.path())
            .env("LC_ALL", "C.UTF-8")
            .env("GSETTINGS_BACKEND", "memory")
            .env("NO_AT_BRIDGE", "1")
            .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent")
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Program::start(command)
    }

    /// A terminal that does not wait five seconds for a window manager that has just started.
    pub fn xterm(&self, arguments: &[&str]) -> Program {
        self.run("xterm", &[&["-xrm", "*wmTimeout: 100"], arguments].concat())
    }

    /// A Chromium that shows `page`, a piece of HTML.
    pub async fn chromium(&self, page: &str) -> Program {
        let url = format!("data:text/html;charset=utf-8,{page}");
        let data = format!("--user-data-dir={}", self.home.path().join("chromium").display());
        let mut arguments = vec![
            "--no-first-run",
            "--disable-gpu",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--password-store=basic",
            "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup",
            &data,
            &url,
        ];
        if rustix::process::geteuid().is_root() {
            arguments.push("--no-sandbox");
        }
        let program = self.run("chromium", &arguments);
        self.display.wait_until_painted("Chromium", soon()).await.unwrap();
        program
    }

    /// The window whose title contains `title`, as soon as there is one that is active.
    pub async fn window(&self, title: &str) -> Window {
        let deadline = soon();
        loop {
            let windows = self.display.windows(&ListWindows {}).await.unwrap().windows;
            if let Some(window) = windows.iter().find(|w| w.name.contains(title) && w.focused) {
                return window.clone();
            }
            assert!(Instant::now() < deadline, "no {title:?} among {windows:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Ends the X server, as a crash would.
    pub fn end_server(&mut self) {
        self.server.end();
    }

    /// Stops the X server where it is, as a hang would.
    pub fn freeze_server(&self) {
        let pid = rustix::process::Pid::from_child(&self.server.0);
        rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.server.end();
        // A server that is killed leaves these behind.
        let number = self.name.trim_start_matches(':');
        let _ = std::fs::remove_file(format!("/tmp/.X11-unix/X{number}"));
        let _ = std::fs::remove_file(format!("/tmp/.X{number}-lock"));
    }
}

/// A program that ends with the test, and with it whatever it started.
pub struct Program(Child);

impl Program {
    fn start(mut command: Command) -> Self {
        command.stdin(Stdio::null()).process_group(0);
        // SAFETY: one system call, which may be made between fork and exec.
        unsafe {
            command.pre_exec(|| {
                let signal = Some(rustix::process::Signal::KILL);
                Ok(rustix::process::set_parent_process_death_signal(signal)?)
            });
        }
        Self(command.spawn().unwrap())
    }

    fn end(&mut self) {
        let group = rustix::process::Pid::from_child(&self.0);
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = self.0.wait();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.end();
    }
}

/// A deadline that only a broken program misses.
pub fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

/// The content of a file, once it has `length` bytes or stopped growing.
pub async fn content(file: &Path, length: usize) -> Vec<u8> {
    let mut last = (Vec::new(), Instant::now());
    loop {
        let now = std::fs::read(file).unwrap_or_default();
        if now.len() != last.0.len() {
            last = (now, Instant::now());
        }
        if last.0.len() >= length || last.1.elapsed() > Duration::from_secs(3) {
            return last.0;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
