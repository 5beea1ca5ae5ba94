//! What a session cannot see or reach: the host, the guest, and the X server's sockets.

use std::{
    fs,
    path::{Path, PathBuf},
    process,
};

use helmdeck_testkit::{Desk, Process, Server, is_root};
use serde_json::json;

/// Host files that no session may find. Removed on drop.
struct Canaries {
    name: String,
    paths: Vec<PathBuf>,
}

impl Canaries {
    const CONTENT: &str = "tweet-9f2c";

    fn plant(server: &Server) -> Self {
        let name = format!("helmdeck-canary-{}", process::id());
        let mut dirs: Vec<PathBuf> = ["/tmp", "/var/tmp"].map(PathBuf::from).to_vec();
        dirs.extend([server.data_dir(), server.run_dir(), server.installation.path().to_owned()]);
        if is_root() {
            dirs.extend(
                ["/", "/home", "/root", "/run", "/var", "/var/lib", "/etc"].map(PathBuf::from),
            );
        } else {
            let own = ["HOME", "XDG_RUNTIME_DIR"].iter().filter_map(std::env::var_os);
            dirs.extend(own.map(PathBuf::from).filter(|dir| dir.is_dir()));
        }
        let paths: Vec<_> = dirs.iter().map(|dir| dir.join(&name)).collect();
        for path in &paths {
            fs::write(path, Self::CONTENT).unwrap();
        }
        Self { name, paths }
    }
}

impl Drop for Canaries {
    fn drop(&mut self) {
        for path in &self.paths {
            let _ = fs::remove_file(path);
        }
    }
}

#[tokio::test]
async fn the_hosts_files_are_not_visible() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let canaries = Canaries::plant(&server);
    let desk = Desk::desktop(&client).await;

    // The search works: it finds existing files.
    let find = |name: &str| {
        format!(
            "find / -path /proc -prune -o -path /usr -prune -o -name '{name}*' -print 2>/dev/null"
        )
    };
    desk.shell("touch ~/own-canary").await;
    assert_eq!(desk.shell(&find("own-canary")).await, "/home/agent/own-canary\n");

    assert_eq!(desk.shell(&find(&canaries.name)).await, "");
    for path in &canaries.paths {
        let seen = desk.shell(&format!("cat {}", path.display())).await;
        assert!(seen.contains("No such file") || seen.contains("Permission denied"), "{seen}");
        assert!(!seen.contains(Canaries::CONTENT), "{seen}");
    }
    // Nor through another process's root.
    let through_proc =
        format!("cat /proc/[0-9]*/root/tmp/{0} /proc/[0-9]*/root/root/{0}", canaries.name); // tidy: allow, a path inside
    assert!(!desk.shell(&through_proc).await.contains(Canaries::CONTENT));

    let visible = desk.shell("ls -A /home; ls -A /root").await;
    let host_home = fs::read_dir("/home").unwrap().map_while(Result::ok);
    for name in host_home.map(|entry| entry.file_name().into_string().unwrap()) {
        assert!(
            name == "agent" || !visible.lines().any(|line| line == name),
            "{name} in {visible}"
        );
    }
}

#[tokio::test]
async fn the_hosts_accounts_and_name_are_not_visible() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let accounts = desk.shell("cut -d: -f1 /etc/passwd").await;
    assert_eq!(accounts, "root\nagent\nnobody\n");
    assert_eq!(desk.shell("id -un; id -u; hostname").await, "agent\n1000\nhelmdeck\n");
    assert!(desk.shell("cat /etc/shadow").await.contains("No such file"));
    let machine = fs::read_to_string("/etc/machine-id").unwrap_or_default();
    assert_ne!(desk.shell("cat /etc/machine-id").await, machine);
    let capabilities = desk.shell("grep CapEff /proc/self/status").await;
    assert_eq!(capabilities.trim(), "CapEff:\t0000000000000000");
}

#[tokio::test]
async fn only_the_agents_own_processes_are_visible() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let commands = desk.shell("cat /proc/[0-9]*/cmdline | tr '\\0' ' '; echo; ps axo args").await;
    assert!(commands.contains("xfwm4") && commands.contains("nest --name agent"), "{commands}");
    for hidden in ["helmdeck guest", "Xtigervnc", "helmdeck serve", "--json-status-fd"] {
        assert!(!commands.contains(hidden), "{hidden} in {commands}");
    }
    let highest = desk.shell("ls -d /proc/[0-9]* | wc -l").await.trim().parse::<usize>().unwrap();
    assert!(highest < Process::in_sandboxes(&server.run_dir()).len() + 10, "{highest}");
    // The nested sandbox's first process has no secrets.
    let first = desk.shell("tr '\\0' '\\n' </proc/1/environ; ls -l /proc/1/fd /proc/2/fd").await;
    assert!(!first.contains("HELMDECK_") && !first.contains("sock ->"), "{first}");
}

#[tokio::test]
async fn the_sockets_of_guest_and_x_server_cannot_be_reached() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let sockets = desk.shell("find / -path /proc -prune -o -type s -print 2>/dev/null").await;
    assert!(sockets.contains("/tmp/.X11-unix/X99"), "{sockets}");
    for hidden in ["guest.sock", "rfb.sock"] {
        assert!(!sockets.contains(hidden), "{sockets}");
    }
    let connect = "perl -MIO::Socket::UNIX -e \
                   'print IO::Socket::UNIX->new(Peer=>$ARGV[0]) ? \"open\" : \"closed: $!\"' --";
    assert_eq!(desk.shell(&format!("{connect} /tmp/.X11-unix/X99")).await, "open\n");
    let rfb = desk.shell(&format!("{connect} /run/helmdeck/rfb.sock")).await;
    assert!(rfb.starts_with("closed: No such file"), "{rfb}");

    let named = desk.shell("cat /proc/net/unix").await;
    assert!(!named.contains("@/tmp/.X11-unix"), "an abstract X socket: {named}");
    assert!(!named.contains("guest.sock"), "{named}");
}

#[tokio::test]
async fn a_bus_service_of_the_agent_runs_in_the_same_sandbox() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let spy = "mkdir -p ~/.local/share/dbus-1/services
        printf '#!/bin/bash\\n(readlink /proc/self/ns/pid; ps axo args; ls /run) >~/seen.part\\n\
                mv ~/seen.part ~/seen\\n' >~/spy
        chmod +x ~/spy
        printf '[D-BUS Service]\\nName=org.helmdeck.Spy\\nExec=/home/agent/spy\\n' \
            >~/.local/share/dbus-1/services/org.helmdeck.Spy.service
        timeout 5 dbus-send --session --print-reply --reply-timeout=3000 \
            --dest=org.freedesktop.DBus / org.freedesktop.DBus.StartServiceByName \
            string:org.helmdeck.Spy uint32:0
        for i in $(seq 100); do [ -e ~/seen ] && break; sleep 0.05; done
        cat ~/seen";
    let seen = desk.shell(spy).await;
    let here = desk.shell("readlink /proc/self/ns/pid").await;
    assert!(seen.contains(here.trim()), "it ran elsewhere, or not at all: {seen}");
    assert!(!seen.contains("helmdeck guest") && !seen.contains("Xtigervnc"), "{seen}");
    assert!(!seen.lines().any(|line| line == "helmdeck"), "/run/helmdeck is visible: {seen}");
}

#[tokio::test]
async fn mounting_is_refused_even_in_a_new_namespace() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let plain = desk.shell("mount -t tmpfs none /tmp && echo mounted").await;
    assert!(!plain.contains("mounted"), "{plain}");
    let unshared =
        desk.shell("unshare -Ur --mount --propagation unchanged true && echo possible").await;
    assert_eq!(unshared, "possible\n", "else the next line proves nothing");
    let script =
        "unshare -Ur --mount --propagation unchanged mount -t tmpfs none /tmp && echo mounted";
    let nested = desk.shell(script).await;
    assert!(!nested.contains("mounted"), "{nested}");
    let written = desk.shell("touch /usr/x /etc/x /opt/helmdeck/x && echo written").await;
    assert!(!written.contains("written"), "{written}");
}

#[tokio::test]
async fn known_ways_around_the_sandbox_are_closed() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;

    // Mounts and processes do not reveal host paths.
    let told = "cat /proc/[0-9]*/mountinfo; readlink /proc/[0-9]*/exe; cat /proc/[0-9]*/cmdline";
    let told = desk.shell(told).await;
    assert!(told.contains(" /home/agent/Downloads "), "{told}");
    for hidden in [server.run_dir().to_str().unwrap(), "/sandboxes/", &desk.id] {
        let line = told.lines().find(|line| line.contains(hidden));
        assert_eq!(line, None, "{hidden}");
    }

    // Unknown newer system calls and the other calling convention are refused.
    let calls = "for (467, 0x40000000 + 39) { print syscall($_, 0, 0, 0, 0, 0), \" $!\\n\" }";
    let refused = "-1 Function not implemented\n".repeat(2);
    assert_eq!(desk.shell(&format!("perl -e '{calls}'")).await, refused);
    assert_eq!(desk.shell("perl -e 'print syscall(39) == $$'").await, "1\n");

    // The X server cannot be made to connect to a listening viewer.
    let listen = r#"
        perl -MIO::Socket::INET -e '
            $all = IO::Socket::INET->new(Listen => 9, LocalAddr => "127.0.0.1:5500");
            print STDERR "up\n"; $SIG{ALRM} = sub { exit }; alarm 5;
            while ($one = $all->accept) { print "accepted a connection\n"; sysread $one, $x, 12; print "$x" }
        ' 2> ~/up &
        until [ -s ~/up ]; do sleep 0.1; done
        tigervncconfig -connect 127.0.0.1:5500
        (exec 3<>/dev/tcp/127.0.0.1/5500; echo 'this is a test' >&3)
        wait"#;
    assert!(desk.shell("command -v tigervncconfig").await.starts_with('/'));
    let said = desk.shell(listen).await;
    assert!(!said.contains("RFB "), "{said}");
    assert_eq!(said.matches("accepted a connection").count(), 1, "{said}");
}

#[tokio::test]
async fn sandboxes_run_as_separate_unprivileged_users() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let one = Desk::create(&client, &json!({})).await;
    let first = Process::in_sandboxes(&server.run_dir());
    let two = Desk::create(&client, &json!({})).await;
    let second: Vec<_> = Process::in_sandboxes(&server.run_dir())
        .into_iter()
        .filter(|process| first.iter().all(|known| known.pid != process.pid))
        .filter(|process| process.command.contains(&two.id) || process.command.contains("guest"))
        .collect();
    assert!(first.len() > 5 && !second.is_empty(), "{first:#?} {second:#?}");
    assert!(one.id != two.id);
    if is_root() {
        let uid = first[0].uid;
        assert!(uid >= 2_000_000_000, "{uid}");
        assert!(first.iter().all(|process| process.uid == uid), "{first:#?}");
        assert!(second.iter().all(|p| p.uid >= 2_000_000_000 && p.uid != uid), "{second:#?}");
    } else {
        let own = fs_uid();
        assert!(first.iter().chain(&second).all(|process| process.uid == own), "{first:#?}");
    }
    for process in first.iter().chain(&second) {
        if let Some(capabilities) = process.status("CapPrm").filter(|_| is_outer(process)) {
            assert_eq!(capabilities, "0000000000000000", "{process:?}");
        }
    }
}

/// Whether it is the guest itself, outside its children's namespaces.
fn is_outer(process: &Process) -> bool {
    process.command.starts_with("/opt/helmdeck/helmdeck guest")
}

/// The user id of this test.
fn fs_uid() -> u32 {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(Path::new("/proc/self")).unwrap().uid()
}
