//! Package managers inside a session, with a package index behind the proxy.

use std::{collections::HashMap, path::Path, process::Command, sync::Arc};

use helmdeck_testkit::{Desk, Server};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    sync::Mutex,
};

/// The machine's loopback, as sessions write it.
const HOST: &str = "host.helmdeck.internal";

/// A web server with a few files that records its requests.
pub struct Index {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Index {
    /// Serves `files`, which depend on the index's address.
    pub async fn start(files: impl Fn(&str) -> HashMap<String, (&'static str, Vec<u8>)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let files = Arc::new(files(&format!("http://{HOST}:{port}")));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = asked.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (files, kept) = (files.clone(), kept.clone());
                tokio::spawn(async move {
                    let mut head = [0; 8192];
                    let read = stream.read(&mut head).await.unwrap_or(0);
                    let head = String::from_utf8_lossy(&head[..read]).into_owned();
                    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                    let nothing = ("text/plain", Vec::new());
                    let file = path.split('?').next().unwrap_or_default();
                    let (status, (kind, body)) = match files.get(file) {
                        Some(found) => ("200 OK", found),
                        None => ("404 Not Found", &nothing),
                    };
                    kept.lock().await.push(path);
                    let length = body.len();
                    let head = format!(
                        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\n\
                         content-length: {length}\r\nconnection: close\r\n\r\n"
                    );
                    let _ = stream.write_all(head.as_bytes()).await;
                    let _ = stream.write_all(body).await;
                });
            }
        });
        Self { port, asked }
    }

    /// Its address in sessions.
    pub fn url(&self) -> String {
        format!("http://{HOST}:{}", self.port)
    }
}

/// Whether sessions, which see the machine's `/usr`, have these programs.
pub fn available(programs: &[&str]) -> bool {
    let missing = programs.iter().find(|program| !Path::new("/usr/bin").join(program).exists());
    if let Some(program) = missing {
        eprintln!("skipped: sessions on this machine have no /usr/bin/{program}");
    }
    missing.is_none()
}

/// Runs a local program that creates a file, and returns the file.
fn made_by(program: &str, args: &[&str], file: &str) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let said = Command::new(program).args(args).current_dir(dir.path()).output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    std::fs::read(dir.path().join(file)).unwrap()
}

/// A server whose sessions may reach this machine's loopback.
pub fn server() -> Server {
    Server::start_with(&[("HELMDECK_EGRESS_ALLOWLIST", "127.0.0.1/32")])
}

const WHEEL: &str = "tiny_thing-1.0-py3-none-any.whl";
const MAKE_WHEEL: &str = r#"
import zipfile
with zipfile.ZipFile("tiny_thing-1.0-py3-none-any.whl", "w") as wheel:
    put = wheel.writestr
    put("tiny_thing.py", "GREETING = 'hello from a wheel'\n")
    info = "tiny_thing-1.0.dist-info/"
    put(info + "METADATA", "Metadata-Version: 2.1\nName: tiny-thing\nVersion: 1.0\n")
    put(info + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    put(info + "RECORD", "tiny_thing.py,,\n")
"#;

#[tokio::test]
async fn pip_installs_through_the_proxy() {
    if !available(&["pip", "python3"]) {
        return;
    }
    let index = Index::start(|_| {
        let wheel = made_by("/usr/bin/python3", &["-c", MAKE_WHEEL], WHEEL);
        let page = format!("<!DOCTYPE html><a href=\"/files/{WHEEL}\">{WHEEL}</a>").into_bytes();
        [
            ("/simple/tiny-thing/".to_owned(), ("text/html", page)),
            (format!("/files/{WHEEL}"), ("application/zip", wheel)),
        ]
        .into()
    })
    .await;
    let server = server();
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    let from = format!(
        "--disable-pip-version-check --no-cache-dir --retries 0 --trusted-host {HOST} -i {}/simple",
        index.url()
    );
    let said = desk.shell(&format!("/usr/bin/pip download -d /tmp/got {from} tiny-thing")).await;
    let got = desk.shell("ls /tmp/got").await;
    assert_eq!(got.trim(), WHEEL, "{said}");
    let said = desk.shell(&format!("/usr/bin/pip install -t /tmp/lib {from} tiny-thing")).await;
    let greeting = "import tiny_thing; print(tiny_thing.GREETING)";
    let greeted = desk.shell(&format!("PYTHONPATH=/tmp/lib python3 -c '{greeting}'")).await;
    assert_eq!(greeted, "hello from a wheel\n", "{said}");
    let asked = index.asked.lock().await.clone();
    assert!(asked.contains(&format!("/files/{WHEEL}")), "{asked:?}");
    let egress = desk.describe().await["egress"].clone();
    assert!(egress["allowed"].as_u64() >= Some(4), "{egress}");
}

const MAKE_TARBALL: &str = r#"
mkdir package
echo '{ "name": "tiny-thing", "version": "1.0.0", "main": "main.js" }' >package/package.json
echo 'module.exports = "hello from a tarball"' >package/main.js
tar czf tiny-thing-1.0.0.tgz package
"#;

#[tokio::test]
async fn npm_installs_through_the_proxy() {
    if !available(&["npm", "node"]) {
        return;
    }
    let index = Index::start(|url| {
        let tarball = made_by("bash", &["-ec", MAKE_TARBALL], "tiny-thing-1.0.0.tgz");
        let about = serde_json::json!({
            "name": "tiny-thing",
            "dist-tags": { "latest": "1.0.0" },
            "versions": { "1.0.0": {
                "name": "tiny-thing",
                "version": "1.0.0",
                "main": "main.js",
                "dist": { "tarball": format!("{url}/files/tiny-thing-1.0.0.tgz") },
            } },
        });
        [
            ("/tiny-thing".to_owned(), ("application/json", about.to_string().into_bytes())),
            ("/files/tiny-thing-1.0.0.tgz".to_owned(), ("application/octet-stream", tarball)),
        ]
        .into()
    })
    .await;
    let server = server();
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    let from = format!(
        "--no-audit --no-fund --no-update-notifier --fetch-retries=0 --registry {}/",
        index.url()
    );
    let said = desk.shell(&format!("/usr/bin/npm view tiny-thing version {from}")).await;
    assert!(said.lines().any(|line| line.trim() == "1.0.0"), "{said}");
    let install =
        format!("mkdir /tmp/app && cd /tmp/app && /usr/bin/npm install tiny-thing {from}");
    let said = desk.shell(&install).await;
    let greeted = desk.shell("cd /tmp/app && node -p 'require(\"tiny-thing\")'").await;
    assert_eq!(greeted, "hello from a tarball\n", "{said}");
    let asked = index.asked.lock().await.clone();
    assert!(asked.contains(&"/files/tiny-thing-1.0.0.tgz".to_owned()), "{asked:?}");
}
