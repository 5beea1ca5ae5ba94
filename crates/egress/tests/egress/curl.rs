//! curl as a client, through a TCP port in front of the socket, as inside a sandbox.

use tokio::process::Command;

use crate::{
    origin::Origin,
    world::{ALLOWED, DENIED, Front, Names, World},
};

/// Runs curl; `None` where it is not installed.
async fn curl(front: &Front, kind: &str, arguments: &[&str]) -> Option<(i32, String)> {
    let proxy = front.address.to_string();
    let ran = Command::new("curl")
        .args(["-sS", "--max-time", "20", "--noproxy", "", kind, &proxy])
        .args(arguments)
        .kill_on_drop(true)
        .output()
        .await;
    let output = ran.ok()?;
    let text = [output.stdout, output.stderr].concat();
    Some((output.status.code().unwrap(), String::from_utf8_lossy(&text).into_owned()))
}

#[tokio::test]
async fn curl_reaches_only_the_allowed_host_by_every_protocol() {
    let (allowed, denied) = Origin::start_both(ALLOWED, DENIED).await;
    let world = World::with(Default::default(), Names::of(&[&[ALLOWED], &[DENIED]]));
    let front = world.port().await;
    for arguments in [&["-x"][..], &["--proxytunnel", "-x"], &["--socks5"], &["--socks5-hostname"]]
    {
        let (kind, more) = arguments.split_last().unwrap();
        let url = allowed.url("/hello");
        let Some((code, text)) = curl(&front, kind, &[more, &[&url]].concat()).await else {
            return;
        };
        assert_eq!((code, text.as_str()), (0, "hello from the test host\n"), "{arguments:?}");
        let url = denied.url("/hello");
        let (code, text) = curl(&front, kind, &[more, &["-f", &url]].concat()).await.unwrap();
        assert_ne!(code, 0, "{arguments:?}: {text}");
    }

    let url = format!("http://rebinding.test:{}/hello", allowed.address.port());
    let (code, text) = curl(&front, "--socks5-hostname", &[&url]).await.unwrap();
    assert_eq!((code, text.as_str()), (0, "hello from the test host\n"));
    let (code, _) = curl(&front, "--socks5-hostname", &[&url]).await.unwrap();
    assert_eq!(code, 97, "curl's code for a refusal by the proxy");

    let redirect = allowed.url(&format!("/redirect?{}", denied.url("/hello")));
    let (_, text) = curl(&front, "-x", &["-L", &redirect]).await.unwrap();
    assert!(text.contains("HELMDECK_EGRESS_ALLOWLIST"), "{text}");
    assert_eq!(denied.accepted(), 0);
}

#[tokio::test]
async fn curl_sends_and_fetches_files() {
    let (world, origin) = (World::new(), Origin::start(ALLOWED).await);
    let front = world.port().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, vec![b'x'; 8 << 20]).unwrap();
    let upload = format!("@{}", file.display());
    let count = ["--data-binary", &upload, &origin.url("/count")];
    // curl asks with Expect: 100-continue for a file of this size.
    let Some((code, text)) = curl(&front, "-x", &count).await else { return };
    assert_eq!((code, text.as_str()), (0, "8388608"));
    let chunked = ["-H", "Transfer-Encoding: chunked", "--data-binary", &upload];
    let (code, text) =
        curl(&front, "-x", &[&chunked[..], &[&origin.url("/count")]].concat()).await.unwrap();
    assert_eq!((code, text.as_str()), (0, "8388608"));

    let size = ["-o", "/dev/null", "-w", "%{size_download}", &origin.url("/big?67108864")];
    let (code, text) = curl(&front, "-x", &size).await.unwrap();
    assert_eq!((code, text.as_str()), (0, "67108864"));
    let (code, text) = curl(&front, "-x", &["-I", &origin.url("/hello")]).await.unwrap();
    assert!(code == 0 && text.contains("content-length: 25"), "{text}");
    let (code, text) = curl(&front, "-x", &["-0", &origin.url("/big?100000")]).await.unwrap();
    assert_eq!((code, text.len()), (0, 100_000), "HTTP/1.0");
}
