//! Upstream proxies: what is requested from them, what is not, and how failures read.

use std::time::Duration;

use helmdeck_egress::{Cidr, Failure, Policy, ProxyLimits, Verdict, Via};
use helmdeck_testkit::{Speaks, Upstream};
use tokio::{io::AsyncWriteExt, net::TcpListener};

use crate::{
    origin::Origin,
    world::{ALLOWED, DENIED, Names, World, head, rest},
};

const LOGIN: (&str, &str) = ("alice", "correct horse: battery");

/// A world with this upstream proxy, logged in.
fn world(server: &str, bypass: &[&str]) -> World {
    let via = Via::new(server).unwrap().logging_in(LOGIN.0, LOGIN.1).unwrap();
    leaving(via.bypassing(bypass.iter().map(|host| host.parse().unwrap()).collect()))
}

fn leaving(via: Via) -> World {
    let limits = ProxyLimits { proxy: Duration::from_millis(300), ..ProxyLimits::default() };
    let policy = Policy::new(Cidr::list("127.0.0.2/32").unwrap(), []);
    World::leaving(policy, limits, Names::of(&[&[ALLOWED]]), Some(via))
}

/// Both kinds of proxy, in front of a server that the policy would not allow.
async fn both() -> (Origin, [(Speaks, Upstream); 2]) {
    let origin = Origin::start(DENIED).await;
    let start = async |speaks| {
        (speaks, Upstream::start(ALLOWED, speaks, origin.address, Some(LOGIN)).await)
    };
    let proxies = [start(Speaks::Http).await, start(Speaks::Socks5).await];
    (origin, proxies)
}

#[tokio::test]
async fn the_proxy_resolves_names_and_the_policy_judges_addresses() {
    let (origin, proxies) = both().await;
    let direct = Origin::start(ALLOWED).await;
    for (speaks, proxy) in proxies {
        let world = world(&proxy.server(speaks), &["*.direct.test", ALLOWED]);
        let plain = world.ask("http://Shop.test./hello").await;
        assert!(plain.ends_with("hello from the test host\n"), "{speaks:?}: {plain}");
        let tunnel = "CONNECT shop.test:443 HTTP/1.1\r\n\r\n\
                      GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        let tunnel = world.say(tunnel).await;
        assert!(tunnel.ends_with("hello from the test host\n"), "{speaks:?}: {tunnel}");
        let address = world.ask("http://192.0.78.9/hello").await;
        assert!(address.ends_with("hello from the test host\n"), "{speaks:?}: {address}");
        let asked = ["shop.test:80", "shop.test:443", "192.0.78.9:80"];
        assert_eq!(proxy.asked().await, asked, "{speaks:?}");
        assert_eq!(world.decisions()[0].address, Some(ALLOWED.parse().unwrap()));

        let port = direct.address.port();
        for bypassed in [direct.url("/hello"), format!("http://a.direct.test:{port}/hello")] {
            let answer = world.ask(&bypassed).await;
            assert!(answer.ends_with("hello from the test host\n"), "{bypassed}: {answer}");
        }
        for denied in [
            "http://10.0.0.1/",
            "http://0x7f.3/",
            "http://[::ffff:10.0.0.1]/",
            "http://metadata.google.internal/",
            "http://localhost/",
            // Always handled here, and closed by the policy.
            "http://host.helmdeck.internal/",
        ] {
            let answer = world.ask(denied).await;
            assert!(answer.starts_with("HTTP/1.1 403"), "{denied}: {answer}");
        }
        assert_eq!(proxy.asked().await, asked, "nothing else was asked of {speaks:?}");
    }
    assert_eq!((origin.accepted(), direct.accepted()), (6, 4));
}

#[tokio::test]
async fn early_bytes_of_the_server_are_not_lost() {
    let (_origin, proxies) = both().await;
    for (speaks, proxy) in proxies {
        let world = world(&proxy.server(speaks), &[]);
        let mut stream = world.connect().await;
        stream.write_all(b"CONNECT early.test:25 HTTP/1.1\r\n\r\n").await.unwrap();
        assert!(head(&mut stream).await.starts_with("HTTP/1.1 200"));
        assert_eq!(rest(&mut stream).await, "early bytes", "{speaks:?}");
    }
}

#[tokio::test]
async fn a_failure_names_its_cause_and_gives_advice() {
    let (origin, proxies) = both().await;
    let says = async |world: &World, url: &str, status: u16, parts: &[&str]| {
        let page = world.ask(url).await;
        assert!(page.starts_with(&format!("HTTP/1.1 {status}")), "{url}: {page}");
        assert!(parts.iter().all(|part| page.contains(part)), "{parts:?}: {page}");
        assert!(!page.contains("horse") && !page.contains("wrong"), "{page}");
    };
    for (speaks, proxy) in proxies {
        let server = proxy.server(speaks);
        let plain = || Via::new(&server).unwrap();
        let wrong = leaving(plain().logging_in("alice", "wrong").unwrap());
        says(&wrong, "http://a.test/", 502, &["refuses the username", "proxy.password"]).await;
        let anonymous = leaving(plain());
        says(&anonymous, "http://a.test/", 502, &["requires a username"]).await;
        let known = world(&server, &[]);
        says(&known, "http://refused.test/", 502, &["did not connect", "proxy.bypass"]).await;
        says(&known, "http://silent.test/", 504, &["did not answer in time"]).await;
        let failed = |title| Verdict::Failed(Failure::Proxy(title));
        assert_eq!(wrong.verdicts(), [failed("The session's proxy refuses the credentials")]);
        let others = [
            "The session's proxy does not connect to the server",
            "The session's proxy does not answer as it should",
        ];
        assert_eq!(known.verdicts(), others.map(failed));
    }
    // No listener; the wrong protocol; a closed address.
    let gone = TcpListener::bind((ALLOWED, 0)).await.unwrap().local_addr().unwrap();
    let gone = world(&format!("http://{gone}"), &[]);
    says(&gone, "http://a.test/", 502, &["cannot be reached", "refused", "proxy.server"]).await;
    let babble = TcpListener::bind((ALLOWED, 0)).await.unwrap();
    let address = babble.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = babble.accept().await {
            let _: std::io::Result<()> = stream.write_all(b"SSH-2.0-x\r\n\r\n").await;
            // Reads first: closing early would lose the answer.
            let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
        }
    });
    let ssh = world(&format!("http://{address}"), &[]);
    says(&ssh, "http://a.test/", 502, &["does not speak HTTP", "scheme"]).await;
    let ssh = world(&format!("socks5://{address}"), &[]);
    says(&ssh, "http://a.test/", 502, &["does not speak SOCKS5", "scheme"]).await;
    let closed = world(&format!("http://{}", origin.address), &[]);
    says(&closed, "http://a.test/", 403, &["is closed", "HELMDECK_EGRESS_ALLOWLIST"]).await;
    assert!(matches!(closed.verdicts()[..], [Verdict::Denied(_)]));
    assert_eq!(origin.accepted(), 0, "a proxy on a closed address is never dialled");
}
