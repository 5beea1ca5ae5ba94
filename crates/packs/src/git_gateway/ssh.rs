//! Git by SSH: the port leads to an SSH client outside of the session (ADR 59).
//!
//! Git starts `helmdeck git-ssh` in place of an SSH client, which only carries bytes to the port. The SSH
//! client with the key runs in its own sandbox. The server opens its connection, under the egress
//! policy, and decides which command it runs.

use std::{collections::BTreeMap, convert::Infallible, sync::Arc, time::Duration};

use helmdeck_runtime::{IsolatedProgram, Runtime};
use helmdeck_wire::{ErrorCode, error::with_causes};
use parking_lot::Mutex;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt, DuplexStream, copy, split},
    process::{Child, ChildStderr, ChildStdin, ChildStdout},
    time::timeout,
};

use super::{Permission, open_port, push, random_key, serve};
use crate::{
    Context, HttpClient, PackError, PackResult, Secrets, document::HELMDECK,
    git_credential::SshKey, repository::git_environment,
};

/// How long a program of the session may take to say that it is git.
const ADMISSION: Duration = Duration::from_secs(10);
/// How long the SSH client may take to end after its last byte.
const END: Duration = Duration::from_secs(10);
/// How much of what the SSH client says is kept.
const MAX_SAID: u64 = 64 << 10;
/// Where the SSH client finds its files.
const KEY: &str = "/run/ssh/key";
const KNOWN_HOSTS: &str = "/run/ssh/known_hosts";
/// Options of the SSH client. It asks nothing, trusts only known hosts, has only the key, and forwards
/// nothing. `-v` names the host's key.
const OPTIONS: [&str; 18] = [
    "BatchMode=yes",
    "StrictHostKeyChecking=yes",
    "UserKnownHostsFile=/run/ssh/known_hosts",
    "GlobalKnownHostsFile=/dev/null",
    "UpdateHostKeys=no",
    "CheckHostIP=no",
    "IdentityFile=/run/ssh/key",
    "IdentitiesOnly=yes",
    "IdentityAgent=none",
    "PreferredAuthentications=publickey",
    "ClearAllForwardings=yes",
    "ForwardAgent=no",
    "ForwardX11=no",
    "PermitLocalCommand=no",
    "ControlPath=none",
    "ConnectTimeout=20",
    "ServerAliveInterval=30",
    "ServerAliveCountMax=4",
];

/// The repository behind the port.
struct Gateway {
    http: HttpClient,
    runtime: Arc<dyn Runtime>,
    /// First line of every connection, so that only this git uses the port.
    admission: String,
    key: SshKey,
    secrets: Secrets,
    permission: Permission,
    /// Why a connection failed. Git would say only that it ended.
    failure: Mutex<Option<PackError>>,
}

/// Runs `work` while git in the session reaches a repository with a key. `work` gets the environment
/// for git.
pub async fn with_key<T>(
    context: &Context,
    key: SshKey,
    permission: Permission,
    work: impl AsyncFnOnce(BTreeMap<String, String>) -> PackResult<T>,
) -> PackResult<T> {
    let gateway = Arc::new(Gateway {
        http: context.http.clone(),
        runtime: context.runtime.clone(),
        admission: random_key()?,
        key,
        secrets: context.secrets.clone(),
        permission,
        failure: Mutex::default(),
    });
    let session = context.session()?;
    let (forward, port) = open_port(context, session).await?;
    let mut environment = git_environment();
    let command = format!("{HELMDECK} git-ssh {port} {}", gateway.admission);
    environment.insert("GIT_SSH_COMMAND".to_owned(), command);
    environment.insert("GIT_SSH_VARIANT".to_owned(), "ssh".to_owned());
    let done = tokio::select! {
        done = work(environment) => done,
        ended = serve(session, forward, |stream| gateway.clone().serve(stream)) => Err(ended),
    };
    let failure = gateway.failure.lock().take();
    done.map_err(|error| match failure {
        // The SSH client also fails if git hangs up, and git knows why it did.
        Some(failure) if is_precise(&failure) || !is_precise(&error) => failure,
        _ => error,
    })
}

fn is_precise(error: &PackError) -> bool {
    error.code() != ErrorCode::HandlerFailed
}

impl Gateway {
    async fn serve(self: Arc<Self>, mut stream: DuplexStream) {
        if let Err(error) = self.carry(&mut stream).await {
            // Before the stream ends, and with it git. The first failure is the cause of the others.
            self.failure.lock().get_or_insert(error);
        }
    }

    /// Carries one connection of git.
    async fn carry(&self, stream: &mut DuplexStream) -> PackResult<()> {
        let (mut from_git, mut to_git) = split(stream);
        if !self.admits(&mut from_git).await {
            return Ok(());
        }
        let mut ssh = self.start().await?;
        let missing = || PackError::failed("the SSH client has no pipes");
        let (stdin, mut stdout, stderr) = pipes(&mut ssh).ok_or_else(missing)?;
        let receive = async {
            tokio::select! {
                refused = self.send(&mut from_git, stdin) => match refused? {},
                // Git may be gone; the SSH client then ends as well.
                _ = copy(&mut stdout, &mut to_git) => PackResult::Ok(()),
            }
        };
        let ((), said) = tokio::try_join!(receive, async { Ok(said(stderr).await) })?;
        match timeout(END, ssh.wait()).await {
            Ok(Ok(status)) if status.success() => Ok(()),
            _ => Err(self.explain(&said)),
        }
    }

    /// Whether the first line is ours.
    async fn admits(&self, from: &mut (impl AsyncRead + Unpin)) -> bool {
        let mut line = vec![0; self.admission.len() + 1];
        let read = timeout(ADMISSION, from.read_exact(&mut line)).await;
        matches!(read, Ok(Ok(_))) && line.strip_suffix(b"\n") == Some(self.admission.as_bytes())
    }

    /// Connects to the server and starts the SSH client.
    async fn start(&self) -> PackResult<Child> {
        let address = &self.key.address;
        let connection = self.http.dial(&address.target).await?.into_std();
        let connection = connection.and_then(|stream| {
            stream.set_nonblocking(false)?;
            Ok(stream.into())
        });
        let broken =
            |error: std::io::Error| PackError::failed(format!("{}: {error}", address.target));
        let mut options: Vec<_> = OPTIONS.iter().map(|it| (*it).to_owned()).collect();
        options.push(format!("HostKeyAlias={}", address.known_as()));
        if matches!(self.permission, Permission::Fetch) {
            // Git understands whichever version the server then speaks.
            options.push("SetEnv=GIT_PROTOCOL=version=2".to_owned());
        }
        let mut arguments: Vec<String> = ["-F", "none", "-v", "-T", "-l"].map(str::to_owned).into();
        arguments.push(address.user.clone());
        arguments.extend(options.into_iter().flat_map(|option| ["-o".to_owned(), option]));
        let command = address.command(self.permission.service());
        arguments.extend(["--".to_owned(), "127.0.0.1".to_owned(), command]);
        let program = IsolatedProgram {
            command: "ssh-client",
            arguments,
            connection: connection.map_err(broken)?,
            files: vec![
                (KEY, self.key.private_key.clone()),
                (KNOWN_HOSTS, self.key.known_hosts.clone().into_bytes()),
            ],
        };
        let unable = |error: &dyn std::error::Error| {
            let message = format!("SSH is not available: {}", with_causes(error));
            PackError::new(ErrorCode::NotReady, message).permanent()
        };
        let mut command = self.runtime.isolated(program).map_err(|error| unable(&error))?;
        let piped = std::process::Stdio::piped;
        command.stdin(piped()).stdout(piped()).stderr(piped());
        command.spawn().map_err(|error| unable(&error))
    }

    /// Passes on what git sends. Ends only if git may not send it.
    async fn send(
        &self,
        from: &mut (impl AsyncRead + Unpin),
        mut to: ChildStdin,
    ) -> PackResult<Infallible> {
        if let Permission::Push(update) = &self.permission {
            let begun = push::checked_start(from, update).await?;
            // If the SSH client is gone, it says why.
            let _ = to.write_all(&begun).await;
        }
        let _ = copy(from, &mut to).await;
        drop(to);
        std::future::pending().await
    }

    /// Says what to do about a failed SSH client.
    fn explain(&self, said: &str) -> PackError {
        let (name, host) = (&self.key.name, self.key.address.known_as());
        let invalid = |message| PackError::new(ErrorCode::CredentialInvalid, message);
        let has = |text: &str| said.contains(text);
        let presented = said.lines().find_map(|line| line.split_once("Server host key: "));
        let presented = presented.map_or("unknown", |(_, key)| key.trim());
        if has("REMOTE HOST IDENTIFICATION HAS CHANGED") {
            let message = format!(
                "the host key of {host} is not the known one: it presented {presented}. Another server \
                 may pretend to be {host}"
            );
            return invalid(message).hint(
                "ask the server's operator whether its key changed; if so, replace its line in the \
                 `known_hosts` of the credential, or in the file HELMDECK_SSH_KNOWN_HOSTS",
            );
        }
        if has("Host key verification failed") {
            let message = format!("the host key of {host} is not known: it presented {presented}");
            return invalid(message).hint(format!(
                "compare the fingerprint with the one that the server's operator publishes; then add the \
                 line of `ssh-keyscan` for {host} to the `known_hosts` in the metadata of the credential \
                 {name}, or to the file HELMDECK_SSH_KNOWN_HOSTS"
            ));
        }
        if has("ssh is not installed") {
            let hint = "scripts/packages.sh install runtime";
            let message = "repositories by SSH need the program ssh on the server";
            return PackError::new(ErrorCode::NotReady, message).permanent().hint(hint);
        }
        if has("invalid format") || has("error in libcrypto") || has("incorrect passphrase") {
            let message = format!(
                "vault: {name} cannot be used for git: expected a private SSH key without a passphrase"
            );
            return invalid(message);
        }
        if has("Permission denied") {
            let message = format!("{host} rejected the key of the credential {name}");
            let hint =
                "check that its public key is registered there, and may access this repository";
            return invalid(message).hint(hint);
        }
        if has("does not appear to be a git repository") || has("Repository not found") {
            let path = &self.key.address.path;
            let message =
                format!("url: {host} has no repository {path}, or the key may not access it");
            return PackError::invalid("url", message);
        }
        let quote: Vec<_> = said.lines().filter(|line| is_said_to_people(line)).collect();
        PackError::program("ssh", "git by SSH", &quote.join("\n"), &self.secrets.redactor())
    }
}

/// Whether a line is not one of `-v`.
fn is_said_to_people(line: &str) -> bool {
    let technical =
        ["debug1:", "OpenSSH_", "Transferred:", "Bytes per second:", "Authenticated to"];
    !line.trim().is_empty() && !technical.iter().any(|start| line.starts_with(start))
}

fn pipes(ssh: &mut Child) -> Option<(ChildStdin, ChildStdout, ChildStderr)> {
    Some((ssh.stdin.take()?, ssh.stdout.take()?, ssh.stderr.take()?))
}

/// What the SSH client says, up to a limit. The rest is read as well, so that it does not wait.
async fn said(mut stderr: ChildStderr) -> String {
    let mut bytes = Vec::new();
    let _ = (&mut stderr).take(MAX_SAID).read_to_end(&mut bytes).await;
    let _ = copy(&mut stderr, &mut tokio::io::sink()).await;
    String::from_utf8_lossy(&bytes).into_owned()
}
