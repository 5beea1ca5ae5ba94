//! TigerVNC's own viewer, through `helmdeck vnc`.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    time::Duration,
};

use helmdeck_testkit::{Desk, Server, eventually};

/// A program that ends with the test.
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

#[tokio::test]
async fn a_vnc_program_sees_the_desktop_and_drives_it_if_it_may() {
    let server = Server::start();
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    let page = "<title>empty</title><textarea autofocus style='position:fixed;inset:0;width:100%' \
                oninput=\"document.title='typed '+this.value\"></textarea>";
    desk.browse(page, "empty").await;

    // A screen for the viewer itself.
    let (_screen, number) = Program::start(
        Command::new("Xtigervnc")
            .args(["-displayfd", "1", "-SecurityTypes", "None", "-rfbport", "-1"])
            .args(["-geometry", "1400x950", "-depth", "24", "-nolisten", "tcp"]),
    );
    let display = format!(":{}", number.trim());
    let url = format!("http://{}", server.address);
    let arguments = ["vnc", &desk.id, "--control", "--url", &url];
    let (_port, line) = Program::start(&mut server.installation.command(arguments));
    let address = line.split_once("vncviewer ").expect("it says how to connect").1.trim();
    let _viewer = Program(
        Command::new("xtigervncviewer")
            .args(["-DesktopSize=", "-AlertOnFatalError=0", "-ReconnectOnError=0", address])
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

    // What is typed into the viewer's window arrives in the session.
    let screen = |program: &str, arguments: &[&str]| {
        Command::new(program).args(arguments).env("DISPLAY", &display).output().unwrap()
    };
    // The viewer paints its window in its own time; a letter that came too early is typed again.
    let typed = async || {
        screen("xdotool", &["mousemove", "700", "600", "click", "1", "type", "v"]);
        let windows = desk.windows().await;
        windows.iter().any(|w| w["name"].as_str().unwrap().starts_with("typed v")).then_some(())
    };
    eventually(Duration::from_secs(20), typed).await.expect("its keyboard reaches the session");

    // And the picture is on its screen: mostly the white of the empty page.
    let white = async || {
        let pixel = ["-window", "root", "-crop", "1x1+700+700", "-depth", "8", "txt:-"];
        let text = String::from_utf8_lossy(&screen("import", &pixel).stdout).to_lowercase();
        text.contains("#ffffff").then_some(())
    };
    eventually(Duration::from_secs(15), white).await.expect("the desktop is seen");
}
