//! Third-party VNC programs through `helmdeck vnc`: TigerVNC's viewer, and a client library.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    time::Duration,
};

use helmdeck_testkit::{Desk, Server, eventually};
use serde_json::json;
use tokio::net::TcpStream;
use vnc::{PixelFormat, VncClient, VncConnector, VncEncoding, VncEvent, X11Event};

const SOON: Duration = Duration::from_secs(20);
const PAGE: &str = "<title>empty</title><textarea autofocus style='position:fixed;inset:0;\
                    width:100%' oninput=\"document.title='typed '+this.value\"></textarea>";

/// A process that is killed at the end of the test.
struct Program(Child);

impl Program {
    /// Starts a program and reads its first line.
    fn start(command: &mut Command) -> (Self, String) {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        (Self(child), line)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A port for one VNC program, and its address.
fn open_port(server: &Server, desk: &Desk<'_>, more: &[&str]) -> (Program, String) {
    let url = format!("http://{}", server.address);
    let arguments = [&["vnc", &desk.id, "--url", &url], more].concat();
    let (port, line) = Program::start(&mut server.installation.command(arguments));
    let address = line.split_once("vncviewer ").expect("it prints how to connect").1.trim();
    (port, address.to_owned())
}

/// A connected third-party client library.
async fn client_of(address: &str) -> VncClient {
    let stream = TcpStream::connect(address.replace("::", ":")).await.unwrap();
    VncConnector::new(stream)
        .set_auth_method(async { Ok(String::new()) })
        .add_encoding(VncEncoding::Zrle)
        .add_encoding(VncEncoding::CopyRect)
        .add_encoding(VncEncoding::Raw)
        .allow_shared(true)
        .set_pixel_format(PixelFormat::bgra())
        .build()
        .unwrap()
        .try_start()
        .await
        .unwrap()
        .finish()
        .unwrap()
}

/// Waits for more white than panel and tabs could show.
async fn sees_the_page(vnc: &VncClient) {
    let mut white = 0;
    let deadline = tokio::time::Instant::now() + SOON;
    while white < 500_000 {
        assert!(tokio::time::Instant::now() < deadline, "{white} white pixels");
        vnc.input(X11Event::Refresh).await.unwrap();
        while let Some(event) = vnc.poll_event().await.unwrap() {
            if let VncEvent::RawImage(_, pixels) = event {
                white += pixels.chunks(4).filter(|pixel| pixel[..3] == [0xff; 3]).count();
            }
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn press(vnc: &VncClient, symbol: u32) {
    for down in [true, false] {
        vnc.input(X11Event::KeyEvent((symbol, down).into())).await.unwrap();
    }
}

#[tokio::test]
async fn a_client_library_can_watch_and_with_control_drive() {
    let server = Server::start();
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    desk.browse(PAGE, "empty").await;
    desk.act("click", json!({ "x": 600, "y": 500 })).await;

    let (_port, address) = open_port(&server, &desk, &[]);
    let watching = client_of(&address).await;
    sees_the_page(&watching).await;
    press(&watching, u32::from(b'w')).await;

    let (_port, address) = open_port(&server, &desk, &["--control"]);
    let driving = client_of(&address).await;
    sees_the_page(&driving).await;
    press(&driving, u32::from(b'd')).await;
    desk.titled("typed d").await;
    // The first client's keys had enough time to arrive.
    press(&watching, u32::from(b'w')).await;
    press(&driving, u32::from(b'e')).await;
    desk.titled("typed de").await;
}

#[tokio::test]
async fn a_vnc_program_can_watch_and_with_control_drive() {
    let server = Server::start();
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    desk.browse(PAGE, "empty").await;

    // A screen for the viewer itself.
    let dir = tempfile::tempdir().unwrap();
    let (_screen, number) = Program::start(
        Command::new("Xtigervnc")
            .args(["-displayfd", "1", "-SecurityTypes", "None", "-rfbport", "-1", "-rfbunixpath"])
            .arg(dir.path().join("rfb"))
            .args(["-geometry", "1400x950", "-depth", "24", "-nolisten", "tcp"]),
    );
    let display = format!(":{}", number.trim());
    let (_port, address) = open_port(&server, &desk, &["--control"]);
    let _viewer = Program(
        Command::new("xtigervncviewer")
            .args(["-DesktopSize=", "-AlertOnFatalError=0", "-ReconnectOnError=0", &address])
            .env("DISPLAY", &display)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let drives = async || {
        let path = format!("/api/v1/sessions/{}/control", desk.id);
        (client.get(&path).await.json()["driver"] == "human").then_some(())
    };
    eventually(Duration::from_secs(20), drives).await.expect("the viewer has control");

    // Text typed into the viewer's window arrives in the session.
    let screen = |program: &str, arguments: &[&str]| {
        Command::new(program).args(arguments).env("DISPLAY", &display).output().unwrap()
    };
    // The viewer paints its window asynchronously. A letter that came too early is typed again.
    let typed = async || {
        screen("xdotool", &["mousemove", "700", "600", "click", "1", "type", "v"]);
        let windows = desk.windows().await;
        windows.iter().any(|w| w["name"].as_str().unwrap().starts_with("typed v")).then_some(())
    };
    eventually(Duration::from_secs(20), typed).await.expect("its keyboard reaches the session");

    // The picture is on its screen: mostly the white of the empty page.
    let white = async || {
        let pixel = ["-window", "root", "-crop", "1x1+700+700", "-depth", "8", "txt:-"];
        let text = String::from_utf8_lossy(&screen("import", &pixel).stdout).to_lowercase();
        text.contains("#ffffff").then_some(())
    };
    eventually(Duration::from_secs(15), white).await.expect("the desktop is seen");
}
