//! A git server on this machine that needs a login: git's own CGI program behind a few lines of HTTP.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::Duration,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    process::Command,
    task::AbortHandle,
    time::sleep,
};

/// Before each answer.
const DELAY: Duration = Duration::from_millis(300);

/// The files of the repository. Its test fails until the README is changed.
const FILES: [(&str, &str); 3] = [
    ("README.md", "# The old app\n"),
    ("main.py", "print(\"hi\")\n"),
    (
        "test_app.py",
        "import unittest\n\n\nclass Readme(unittest.TestCase):\n    def test_is_new(self):\n        \
         self.assertIn(\"new\", open(\"README.md\").read())\n",
    ),
];

/// Serves one bare repository, `app.git`. Dropping it ends it.
pub struct GitServer {
    /// Its port.
    pub port: u16,
    dir: TempDir,
    task: AbortHandle,
}

impl GitServer {
    /// Serves a repository with one commit to those who know the password.
    pub async fn start(user: &str, password: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        make_repository(dir.path()).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let login = BASE64_STANDARD.encode(format!("{user}:{password}"));
        let login = Arc::new(format!("Basic {login}"));
        let root = dir.path().to_owned();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, root.clone(), login.clone()));
            }
        });
        Self { port, dir, task: task.abort_handle() }
    }

    /// Runs git in the repository and returns what it says.
    pub async fn git(&self, args: &[&str]) -> String {
        git_in(self.dir.path(), args).await
    }
}

impl Drop for GitServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Makes the bare repository `app.git` with one commit.
pub async fn make_repository(dir: &Path) {
    let src = dir.join("src");
    fs::create_dir(&src).unwrap();
    for (name, content) in FILES {
        fs::write(src.join(name), content).unwrap();
    }
    let script = "cd src && git init -q -b main && git add -A && \
                  git -c user.name=a -c user.email=a@example.com commit -qm first && \
                  git clone -q --bare . ../app.git && \
                  git -C ../app.git config http.receivepack true";
    let made = Command::new("bash").args(["-c", script]).current_dir(dir).status();
    assert!(made.await.unwrap().success());
}

/// Runs git in that repository and returns what it says.
pub async fn git_in(dir: &Path, args: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=b", "-c", "user.email=b@example.com", "-c", "safe.directory=*"]);
    let said = git.args(args).current_dir(dir.join("app.git")).output().await.unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    String::from_utf8(said.stdout).unwrap().trim().to_owned()
}

/// Answers one request and closes the connection.
async fn serve(stream: TcpStream, root: PathBuf, login: Arc<String>) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let header = |name: &str| {
        let fields = lines.iter().filter_map(|line| line.split_once(':'));
        let mut found = fields.filter(|(it, _)| it.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.trim().to_owned())
    };
    if header("authorization").as_deref() != Some(login.as_str()) {
        let refusal = "HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Basic realm=git\r\n\
                       content-length: 0\r\nconnection: close\r\n\r\n";
        stream.write_all(refusal.as_bytes()).await.ok()?;
        return None;
    }
    // A program that watches git has time to see it.
    sleep(DELAY).await;
    let body =
        read_body(&mut stream, header("content-length"), header("transfer-encoding")).await?;
    let mut words = lines.first()?.split(' ');
    let (method, target) = (words.next()?, words.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut backend = Command::new("git")
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REMOTE_USER", "agent")
        .env("REQUEST_METHOD", method)
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("CONTENT_TYPE", header("content-type").unwrap_or_default())
        .env("CONTENT_LENGTH", body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", header("content-encoding").unwrap_or_default())
        .env("GIT_PROTOCOL", header("git-protocol").unwrap_or_default())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let mut input = backend.stdin.take()?;
    let write = async {
        let _ = input.write_all(&body).await;
        drop(input);
    };
    let (said, ()) = tokio::join!(backend.wait_with_output(), write);
    let said = said.ok()?.stdout;
    let end = said.windows(4).position(|part| part == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(said.get(..end)?).into_owned();
    let content = said.get(end + 4..)?;
    let status = head.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK");
    let fields: Vec<_> = head.lines().filter(|line| !line.starts_with("Status: ")).collect();
    let length = content.len();
    let head = format!(
        "HTTP/1.1 {status}\r\n{}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n",
        fields.join("\r\n")
    );
    stream.write_all(head.as_bytes()).await.ok()?;
    stream.write_all(content).await.ok()?;
    stream.shutdown().await.ok()
}

/// A body with a length, or in chunks.
async fn read_body(
    stream: &mut BufReader<TcpStream>,
    length: Option<String>,
    coding: Option<String>,
) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    if coding.is_none() {
        body.resize(length.and_then(|it| it.parse().ok()).unwrap_or(0), 0);
        stream.read_exact(&mut body).await.ok()?;
        return Some(body);
    }
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        let size = usize::from_str_radix(line.trim(), 16).ok()?;
        let mut chunk = vec![0; size + 2];
        stream.read_exact(&mut chunk).await.ok()?;
        if size == 0 {
            return Some(body);
        }
        body.extend_from_slice(chunk.get(..size)?);
    }
}
