//! The desktop's own programs: session bus, accessibility, window manager, panel.

use std::{fs, io, os::fd::OwnedFd, path::Path, sync::Arc, time::Duration};

use helmdeck_cdp::Current;
use helmdeck_display::{BrowserWindows, Display, DisplayError, Owner};
use tokio::{
    io::AsyncReadExt,
    net::unix::pipe,
    select,
    time::{sleep, timeout},
};

use crate::{
    browser,
    error::GuestError,
    log::Log,
    nest::{BROWSER_HOME, HOME, Nest, RUNTIME_DIR, Start},
    reports::Reports,
};

/// The bus starts in 10 ms on an idle machine.
const BUS_DEADLINE: Duration = Duration::from_secs(10);
/// The shortest interval between two reports of a window's position.
const FOLLOW_PAUSE: Duration = Duration::from_millis(500);
/// How long one attempt waits for a browser.
const FOLLOW_DEADLINE: Duration = Duration::from_secs(60);
/// Without a bus, Chromium keeps asking for one.
const BROWSER_BUS: &str = "<busconfig><type>session</type><auth>EXTERNAL</auth>\
    <listen>unix:path=/run/user/1000/bus</listen>\
    <policy context=\"default\"><allow send_destination=\"*\"/><allow receive_sender=\"*\"/>\
    <allow own=\"*\"/></policy></busconfig>";
/// Lists the programs on an accessibility bus.
const REGISTRY: &str = "/usr/libexec/at-spi2-registryd";
/// Space that maximised windows leave for the panel.
const PANEL_HEIGHT: u32 = 28;
/// The desktop's own programs need no accessibility tree, and start faster without it.
const NO_BRIDGE: &[(&str, &str)] = &[("NO_AT_BRIDGE", "1")];
/// The colour behind all windows.
pub const BACKGROUND: [u8; 3] = [0x1d, 0x27, 0x33];

/// Defaults for xterm and similar programs. They must not wait for seconds, with unread keys, until
/// a busy window manager has placed them.
const X_DEFAULTS: &str = "XTerm*faceName: DejaVu Sans Mono\n\
    XTerm*faceSize: 11\n\
    XTerm*foreground: #e6e6e6\n\
    XTerm*background: #1d2733\n\
    XTerm*saveLines: 5000\n\
    *waitForWm: false\n";

/// Writes the settings that the desktop's programs read when they start.
pub fn write_settings() -> io::Result<()> {
    let dir = Path::new(HOME).join(".config/xfce4/xfconf/xfce-perchannel-xml");
    fs::create_dir_all(&dir)?;
    fs::write(Path::new(HOME).join(".Xdefaults"), X_DEFAULTS)?;
    // The margin is set before the panel starts, so that no window moves when it appears.
    fs::write(dir.join("xfwm4.xml"), xfwm4_settings())?;
    fs::write(dir.join("xfce4-panel.xml"), panel_settings())
}

/// Starts the session bus of the agent's programs and waits until it accepts clients.
pub async fn start_bus(nest: &Nest) -> Result<(), GuestError> {
    start_bus_with(nest, "--session".to_owned()).await
}

/// Starts a bus without services for the session's browser.
pub async fn start_browser_bus(nest: &Nest) -> Result<(), GuestError> {
    let config = format!("{BROWSER_HOME}/bus.conf");
    fs::write(&config, BROWSER_BUS).map_err(|e| GuestError::Io("settings of the bus", e))?;
    start_bus_with(nest, format!("--config-file={config}")).await
}

/// Starts the registry of accessible programs beside the session's browser: the browser is the only
/// one there. Without it, elements of the browser's toolbar are not known.
pub async fn start_browser_registry(nest: &Nest, log: &Log) {
    let registry = Start { program: REGISTRY, ..Start::default() };
    if let Err(error) = nest.require(registry).await {
        log.line("guest", &error.to_string());
    }
}

async fn start_bus_with(nest: &Nest, config: String) -> Result<(), GuestError> {
    let pipes = |e: io::Error| GuestError::Io("pipe of the bus", e);
    let (ready, written) = std::io::pipe().map_err(pipes)?;
    let args = [
        config,
        "--nofork".to_owned(),
        "--nopidfile".to_owned(),
        format!("--address=unix:path={RUNTIME_DIR}/bus"),
        "--print-address=3".to_owned(),
    ];
    let descriptors = vec![(written.into(), 3)];
    let program = "dbus-daemon";
    nest.require(Start { program, args: args.to_vec(), descriptors, ..Start::default() }).await?;
    let ready = OwnedFd::from(ready);
    rustix::io::ioctl_fionbio(&ready, true).map_err(|e| pipes(e.into()))?;
    let mut ready = pipe::Receiver::from_owned_fd(ready).map_err(pipes)?;
    match timeout(BUS_DEADLINE, ready.read_u8()).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(_)) => Err(GuestError::Ended("dbus-daemon")),
        Err(_) => {
            Err(GuestError::NotReady { program: "dbus-daemon", seconds: BUS_DEADLINE.as_secs() })
        }
    }
}

/// Starts the window manager. The display shows when it is ready.
pub async fn start_window_manager(nest: &Nest) -> Result<(), GuestError> {
    let args = vec!["--compositor=off".to_owned()];
    let start = Start { program: "xfwm4", args, env: NO_BRIDGE, ..Start::default() };
    nest.require(start).await.map(|_| ())
}

/// Starts optional parts of a desktop, when everything else is ready. A failure is logged and does
/// not end the session.
pub async fn start_extras(nest: &Nest, log: &Log) {
    let launcher = Start {
        program: "/usr/libexec/at-spi-bus-launcher",
        args: vec!["--launch-immediately".to_owned(), "--a11y=1".to_owned()],
        ..Start::default()
    };
    let args = vec!["--disable-wm-check".to_owned()];
    let panel = Start { program: "xfce4-panel", args, env: NO_BRIDGE, ..Start::default() };
    for extra in [panel, launcher] {
        if let Err(error) = nest.require(extra).await {
            log.line("guest", &error.to_string());
        }
    }
}

fn xfwm4_settings() -> String {
    channel(
        "xfwm4",
        &format!(
            r#"<property name="general" type="empty">
    <property name="margin_bottom" type="int" value="{PANEL_HEIGHT}"/>
    <property name="workspace_count" type="int" value="1"/>
    <property name="use_compositing" type="bool" value="false"/>
    <property name="box_move" type="bool" value="false"/>
    <property name="raise_with_any_button" type="bool" value="true"/>
    <property name="placement_ratio" type="int" value="20"/>
  </property>"#
        ),
    )
}

fn panel_settings() -> String {
    channel(
        "xfce4-panel",
        &format!(
            r#"<property name="configver" type="int" value="2"/>
  <property name="panels" type="array">
    <value type="int" value="1"/>
    <property name="dark-mode" type="bool" value="true"/>
    <property name="panel-1" type="empty">
      <property name="position" type="string" value="p=10;x=0;y=0"/>
      <property name="length" type="uint" value="100"/>
      <property name="position-locked" type="bool" value="true"/>
      <property name="disable-struts" type="bool" value="true"/>
      <property name="icon-size" type="uint" value="16"/>
      <property name="size" type="uint" value="{PANEL_HEIGHT}"/>
      <property name="plugin-ids" type="array">
        <value type="int" value="1"/>
        <value type="int" value="2"/>
        <value type="int" value="3"/>
        <value type="int" value="4"/>
      </property>
    </property>
  </property>
  <property name="plugins" type="empty">
    <property name="plugin-1" type="string" value="applicationsmenu"/>
    <property name="plugin-2" type="string" value="tasklist"/>
    <property name="plugin-3" type="string" value="separator">
      <property name="expand" type="bool" value="true"/>
      <property name="style" type="uint" value="0"/>
    </property>
    <property name="plugin-4" type="string" value="clock">
      <property name="mode" type="uint" value="2"/>
      <property name="digital-format" type="string" value="%H:%M"/>
    </property>
  </property>"#
        ),
    )
}

fn channel(name: &str, properties: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <channel name=\"{name}\" version=\"1.0\">\n  {properties}\n</channel>\n"
    )
}

/// Reports the position of the current browser's window, for the life of the guest.
pub async fn follow_browser(display: Display, current: Arc<Current>, reports: Reports) {
    loop {
        if let Ok(mut windows) = display.follow_browser() {
            while follow_one(&mut windows, &current, &reports).await.is_ok() {}
        }
        // A program on the display may have made the server close our connection.
        sleep(FOLLOW_PAUSE).await;
    }
}

/// Reports the position of one browser's window, while it is the current browser.
async fn follow_one(
    windows: &mut BrowserWindows,
    current: &Current,
    reports: &Reports,
) -> Result<(), DisplayError> {
    let Ok(cdp) = current.get(Duration::ZERO).await else {
        reports.tell_window(None);
        // On a timeout, the caller waits again.
        let _ = current.get(FOLLOW_DEADLINE).await;
        windows.forget();
        return Ok(());
    };
    windows.of(if current.is_own(&cdp) {
        Some(Owner::Browser)
    } else {
        browser::process(&cdp).await.map(Owner::Program)
    });
    loop {
        select! {
            window = windows.next() => reports.tell_window(window?),
            () = current.changed(&cdp) => return Ok(()),
        }
        sleep(FOLLOW_PAUSE).await;
    }
}
