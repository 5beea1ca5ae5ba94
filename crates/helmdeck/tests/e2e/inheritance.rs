//! Programs of a session do not inherit the server's open files.

use std::{fs, io::Write};

use helmdeck_testkit::{Desk, Process, Server};
use rustix::io::{FdFlags, fcntl_setfd};

#[tokio::test]
async fn inherited_descriptors_of_the_server_reach_no_program() {
    let mut secret = tempfile::NamedTempFile::with_prefix("inherited-secret").unwrap();
    secret.write_all(b"inherited").unwrap();
    // Like a shell: exec 9<secret; helmdeck serve.
    fcntl_setfd(secret.as_file(), FdFlags::empty()).unwrap();
    let server = Server::start();
    fcntl_setfd(secret.as_file(), FdFlags::CLOEXEC).unwrap();
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    let name = secret.path().file_name().unwrap().to_str().unwrap();
    let seen = desk.shell("ls -l /proc/self/fd /proc/[0-9]*/fd").await;
    assert!(seen.contains("/dev/null") && !seen.contains(name), "{seen}");
    let read = desk.shell("cat /proc/[0-9]*/fd/* 2>/dev/null </dev/null & sleep 1; kill $!").await;
    assert!(!read.contains("inherited"), "{read}");

    let sandboxes = Process::in_sandboxes(&server.run_dir()).into_iter().map(|one| one.pid);
    let server_too = i32::try_from(server.pid()).unwrap();
    let mut looked_at = 0;
    for pid in sandboxes.chain([server_too]) {
        for entry in fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten() {
            let Ok(file) = fs::read_link(entry.path()) else { continue };
            looked_at += 1;
            assert_ne!(file, secret.path(), "process {pid} has it");
        }
    }
    assert!(looked_at > 20, "{looked_at}");
}
