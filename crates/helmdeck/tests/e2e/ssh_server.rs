//! An SSH server on this machine that serves one git repository: OpenSSH's own, without privileges.

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use helmdeck_testkit::eventually;
use tempfile::TempDir;
use tokio::{
    net::TcpStream,
    process::{Child, Command},
};

use crate::git_server::{git_in, make_repository};

/// For the server to listen.
const SOON: Duration = Duration::from_secs(20);

/// Serves `app.git` to those who have the key. Dropping it ends it.
pub struct SshServer {
    /// Its port.
    pub port: u16,
    /// The private key that it admits.
    pub key: String,
    dir: TempDir,
    _program: Child,
}

impl SshServer {
    /// Serves a repository with one commit. It writes down the commands that it is asked to run.
    pub async fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path();
        make_repository(path).await;
        for name in ["host", "key", "other"] {
            make_key(&path.join(name)).await;
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let at = path.display();
        // The account's number inside is 1000 for any user who runs the test.
        let home = format!("git:x:1000:1000::{at}:/bin/sh\n");
        let shell = "git shell -c";
        let public = fs::read_to_string(path.join("key.pub")).unwrap();
        let command = format!(
            "echo \\\"$SSH_ORIGINAL_COMMAND\\\" >>{at}/commands; exec {shell} \\\"$SSH_ORIGINAL_COMMAND\\\""
        );
        let config = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {at}/host\nPidFile none\nUsePAM no\n\
             AuthorizedKeysFile {at}/authorized_keys\nStrictModes no\nPasswordAuthentication no\n\
             KbdInteractiveAuthentication no\nAcceptEnv GIT_PROTOCOL\n"
        );
        for (name, content) in [
            ("passwd", home),
            ("group", "git:x:1000:\n".to_owned()),
            ("authorized_keys", format!("command=\"{command}\" {public}")),
            ("sshd_config", config),
        ] {
            fs::write(path.join(name), content).unwrap();
        }
        let program = Command::new("bwrap")
            .args(["--unshare-user", "--uid", "1000", "--gid", "1000", "--unshare-pid"])
            .args(["--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"])
            .arg("--bind")
            .args([path, path])
            .arg("--ro-bind")
            .args([path.join("passwd"), "/etc/passwd".into()])
            .arg("--ro-bind")
            .args([path.join("group"), "/etc/group".into()])
            .args(["/usr/sbin/sshd", "-D", "-e", "-f"])
            .arg(path.join("sshd_config"))
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let listens = eventually(SOON, async || TcpStream::connect(("127.0.0.1", port)).await.ok());
        listens.await.expect("sshd listens; scripts/packages.sh install test installs it");
        let key = fs::read_to_string(path.join("key")).unwrap();
        Self { port, key, dir, _program: program }
    }

    /// Address of the repository for sessions.
    pub fn url(&self) -> String {
        format!("ssh://git@{}{}/app.git", self.host(), self.dir.path().display())
    }

    /// The server's name for sessions, with its port.
    pub fn host(&self) -> String {
        format!("host.helmdeck.internal:{}", self.port)
    }

    /// The line of `known_hosts` with the key that the server has, or with another.
    pub fn known_as(&self, key: &str) -> String {
        let public = self.read(&format!("{key}.pub"));
        format!("[host.helmdeck.internal]:{} {public}", self.port)
    }

    /// A private key that it does not admit.
    pub fn other_key(&self) -> String {
        self.read("other")
    }

    /// What it was asked to run.
    pub fn commands(&self) -> Vec<String> {
        self.read("commands").lines().map(str::to_owned).collect()
    }

    /// Fingerprint of its key.
    pub async fn fingerprint(&self) -> String {
        let file = self.dir.path().join("host.pub");
        let said = Command::new("ssh-keygen").arg("-lf").arg(file).output().await.unwrap();
        let said = String::from_utf8(said.stdout).unwrap();
        said.split(' ').nth(1).unwrap().to_owned()
    }

    /// Runs git in the repository and returns what it says.
    pub async fn git(&self, args: &[&str]) -> String {
        git_in(self.dir.path(), args).await
    }

    fn read(&self, name: &str) -> String {
        let file: PathBuf = self.dir.path().join(name);
        fs::read_to_string(file).unwrap_or_default()
    }
}

async fn make_key(file: &Path) {
    let mut keygen = Command::new("ssh-keygen");
    keygen.args(["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f"]).arg(file);
    assert!(keygen.status().await.unwrap().success());
}
