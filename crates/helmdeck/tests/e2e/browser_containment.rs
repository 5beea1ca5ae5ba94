//! What the agent's programs can and cannot do to the session's own browser.

use std::{fs, time::Duration};

use helmdeck_testkit::{Desk, Page, Process, Server, Site, eventually};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(30);
const CHROMIUM: &str = "/usr/lib/chromium/chromium --show";

/// A typed password. Scripts assemble it from its halves, so that they do not contain it.
const TYPED: [&str; 2] = ["hunter", "two-91c4"];

/// Searches the memory of all processes for two texts, given by their halves: one that an agent's
/// process holds, and the typed one.
const SEARCH_MEMORY: &str = r#"
    perl -e '$| = 1; $x = join("", "canary", "-5d1f") x 3; print "up\n"; sleep 60' > ~/up &
    until [ -s ~/up ]; do sleep 0.1; done
    perl -e '
        ($canary, $typed) = (join("", "canary", "-5d1f"), join("", @ARGV));
        for $pid (grep { $_ != $$ } map { m{(\d+)} } glob "/proc/[0-9]*") {
            open $maps, "<", "/proc/$pid/maps" or next;
            open $mem, "<:raw", "/proc/$pid/mem" or next;
            $read++;
            while (<$maps>) {
                my ($from, $to) = /^(\w+)-(\w+) r/ or next;
                ($from, $to) = (hex $from, hex $to);
                next if $to - $from > 256 << 20;
                sysseek $mem, $from, 0 or next;
                sysread $mem, $part, $to - $from or next;
                $found{canary} = 1 if index($part, $canary x 3) >= 0;
                $found{typed} = 1 if index($part, $typed) >= 0;
            }
        }
        print "read ", ($read > 1 ? "some" : "none"), ", found ", join(" ", sort keys %found), "\n";
    ' -- "$1" "$2"
    kill %1
"#;

/// Known ways to reach a browser: its processes, guessed pids, its files, its bus.
const LOOK_AROUND: &str = r#"
    cat /proc/[0-9]*/cmdline | tr '\0' ' ' | grep -o '[r]emote-debugging-pipe\|/[c]hromium/chromium'
    echo "processes: $?"
    for pid in $(seq 1 2000); do
        [ -d /proc/$pid ] || kill -0 $pid
    done 2>&1 | grep -v 'No such process'
    echo "guessed: $?"
    mkdir -p ~/x; touch ~/x/Cookies
    find / -name Cookies -o -name 'Login Data*' -o -name 'Local State' 2>/dev/null
    ls /home; ls -d /home/browser /home/handed-over /opt/extensions 2>/dev/null
    echo "listed: $?"
    ls /proc/[0-9]*/root/home 2>/dev/null | grep -v '^agent$\|^/proc\|^$'  # tidy: allow, the root link of a process
    echo "roots: $?"
"#;

fn page(path: &str) -> Page {
    let form = "<title>sign in</title><input type=password id=p autofocus>";
    let cookie = "set-cookie: session=kept; max-age=9999\r\n";
    let html = Page::html(if path == "/" { form } else { "<title>other</title>" });
    Page { headers: format!("{cookie}{}", html.headers), ..html }
}

#[tokio::test]
async fn the_sessions_browser_is_invisible_to_the_agents_programs() {
    let server = Server::start_with(&[Site::REACHABLE]);
    let site = Site::start(page).await;
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    desk.browser("navigate", json!({ "url": site.url("/") })).await.expect(200);
    let typed = TYPED.concat();
    desk.browser("type", json!({ "selector": "#p", "text": typed })).await.expect(200);
    let held = json!({ "script": "return document.querySelector('#p').value" });
    let held = desk.browser("execute", held).await.expect(200).json();
    assert_eq!(held["result"], typed, "the browser has it");

    let around = desk.shell(LOOK_AROUND).await;
    let expected = "processes: 1\nguessed: 1\n/home/agent/x/Cookies\nagent\nlisted: 2\nroots: 1\n";
    assert_eq!(around, expected);
    let [first, second] = TYPED;
    let search = format!("set -- {first} {second}\n{SEARCH_MEMORY}");
    let found = desk.shell(&search).await;
    assert!(found.contains("read some, found canary\n"), "{found}");

    // Its window is identified by its X connection, and programs' windows by their pid.
    let window = desk.titled("sign in").await;
    assert_eq!((&window["browser"], &window["pid"]), (&json!(true), &Value::Null), "{window}");
    let launched = desk.act("launch", json!({ "command": "xterm", "args": ["-T", "mine"] })).await;
    let window = desk.titled("mine").await;
    assert_eq!((&window["browser"], &window["pid"]), (&json!(false), &launched["pid"]), "{window}");

    // A new browser does not connect to an accessibility bus that a program announces.
    let trap = "dbus-daemon --session --fork --address=unix:abstract=trap \
                && xprop -root -f AT_SPI_BUS 8s -set AT_SPI_BUS unix:abstract=trap && echo laid";
    assert_eq!(desk.shell(trap).await.trim(), "laid");
    let old = find_chromium(&server);
    old.kill();
    let back = async || {
        let there = desk.browser("navigate", json!({ "url": site.url("/other") })).await;
        (!old.is_alive() && there.status == 200).then_some(())
    };
    eventually(PATIENCE, back).await.expect("it comes back");
    desk.titled("other").await;
    let names = "dbus-send --bus=unix:abstract=trap --print-reply --dest=org.freedesktop.DBus / \
                 org.freedesktop.DBus.ListNames | grep -c string";
    assert_eq!(desk.shell(names).await.trim(), "2", "the bus itself, and who asks");
    // An unconfined program connects.
    desk.act("launch", json!({ "command": "mousepad" })).await;
    let came = async || (desk.shell(names).await.trim() != "2").then_some(());
    eventually(PATIENCE, came).await.expect("the trap receives it");
}

fn find_chromium(server: &Server) -> Process {
    let found = Process::in_sandboxes(&server.run_dir()).into_iter();
    let mut main = found.filter(|process| process.command.starts_with(CHROMIUM));
    main.next().expect("Chromium runs")
}

#[tokio::test]
async fn files_are_handed_over_without_access_to_other_files() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let make = "mkdir -p ~/site/css ~/.hidden; echo secret > ~/.hidden/x
        echo 'h1 { color: rgb(1, 2, 3) }' > ~/site/css/a.css
        echo '<title>mine</title><link rel=stylesheet href=css/a.css><h1>x</h1>
              <input type=file id=f>' > ~/site/index.html
        echo given > ~/given.txt; echo given > ~/Downloads/given.txt
        for place in ~ ~/Downloads; do
            ln -s '/home/browser/.config/chromium/Default/Preferences' $place/leads-out
        done; mkfifo ~/pipe";
    desk.shell(make).await;
    let page = json!({ "url": "file:///home/agent/site/index.html" });
    desk.browser("navigate", page).await.expect(200);
    let run = async |script: &str| {
        let answer = desk.browser("execute", json!({ "script": script })).await.expect(200).json();
        answer["result"].clone()
    };
    let colour = run("return getComputedStyle(document.querySelector('h1')).color").await;
    assert_eq!(colour, "rgb(1, 2, 3)", "files next to a page are handed over, too");

    let upload = async |file: &str| {
        desk.browser("upload", json!({ "selector": "#f", "files": [file] })).await
    };
    let content = "return document.querySelector('#f').files[0].text()";
    for file in ["given.txt", "Downloads/given.txt"] {
        upload(file).await.expect(200);
        assert_eq!(run(content).await, "given\n", "{file}");
    }
    upload("leads-out").await.expect_error(400, "invalid_path");
    upload("Downloads/leads-out").await.expect_error(400, "invalid_path");
    upload("pipe").await.expect_error(409, "not_a_file");
    upload("missing").await.expect_error(404, "file_not_found");
    for missing in ["missing.html", ".hidden/y"] {
        let url = format!("file:///home/agent/{missing}");
        desk.browser("navigate", json!({ "url": url })).await.expect_error(404, "file_not_found");
    }

    // The browser neither follows links nor loads libraries in folders that others can write.
    let chromium = find_chromium(&server);
    let mounts = fs::read_to_string(format!("/proc/{}/mountinfo", chromium.pid)).unwrap();
    let options = |place: &str| {
        let mount = mounts.lines().find(|line| line.split(' ').nth(4) == Some(place));
        mount.and_then(|line| line.split(' ').nth(5)).expect(place).to_owned()
    };
    for place in ["/home/agent", "/home/agent/Downloads", "/home/agent/Desktop"] {
        let options = options(place);
        assert!(options.contains("noexec") && options.contains("nosymfollow"), "{place} {options}");
    }
    assert!(options("/home/browser").contains("noexec") && options("/tmp").contains("noexec"));

    // Deleted files are removed from the browser's folder, too.
    desk.shell("rm ~/given.txt; echo new > ~/site/new; mv ~/site/new ~/site/index.html").await;
    let root = format!("/proc/{}/root/home/agent", chromium.pid);
    let tidied = async || {
        let gone = !fs::exists(format!("{root}/given.txt")).unwrap_or(true);
        let new = fs::read_to_string(format!("{root}/site/index.html")).ok();
        (gone && new.as_deref() == Some("new\n")).then_some(())
    };
    eventually(PATIENCE, tidied).await.expect("the browser sees the current files");
}
