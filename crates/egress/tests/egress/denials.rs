//! What must not get out, and the text of refusals.

use helmdeck_egress::{Cidr, Policy, ProxyLimits, Rule, Verdict};
use std::{sync::atomic::Ordering, time::Duration};

use crate::{
    origin::Origin,
    world::{ALLOWED, DENIED, Names, World},
};

#[tokio::test]
async fn a_denied_address_is_never_dialled_in_any_spelling() {
    let (world, denied) = (World::new(), Origin::start(DENIED).await);
    let port = denied.address.port();
    let spellings = [
        "127.0.0.3",
        "127.0.0.3.",
        "127.3",
        "127.0.3",
        "2130706435",
        "0x7f000003",
        "0x7F.0.0.3",
        "017700000003",
        "0177.0.0.03",
        "[::ffff:127.0.0.3]",
        "[::ffff:7f00:3]",
        "[0:0:0:0:0:ffff:127.0.0.3]",
        "[::127.0.0.3]",
        "[64:ff9b::127.0.0.3]",
        "[2002:7f00:3::]",
    ];
    for host in spellings {
        let answer = world.ask(&format!("http://{host}:{port}/hello")).await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{host}: {answer}");
        let request = format!("CONNECT {host}:{port} HTTP/1.1\r\nConnection: close\r\n\r\n");
        let answer = world.say(request).await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{host}: {answer}");
    }
    assert_eq!(denied.accepted(), 0);
    assert_eq!(world.decisions().len(), 2 * spellings.len());
}

#[tokio::test]
async fn a_name_that_changes_its_answer_reaches_only_the_checked_address() {
    let (allowed, denied) = Origin::start_both(ALLOWED, DENIED).await;
    let names = Names::of(&[&[ALLOWED], &[DENIED]]);
    let world = World::with(ProxyLimits::default(), names.clone());
    let url = format!("http://rebinding.test:{}/hello", allowed.address.port());

    let first = world.ask(&url).await;
    assert!(first.ends_with("hello from the test host\n"), "{first}");
    assert_eq!(names.asked.load(Ordering::SeqCst), 1, "resolved once");
    let second = world.ask(&url).await;
    assert!(second.starts_with("HTTP/1.1 403"), "{second}");
    assert_eq!((allowed.accepted(), denied.accepted()), (1, 0));
}

#[tokio::test]
async fn only_the_allowed_addresses_of_a_name_are_dialled() {
    let (allowed, denied) = Origin::start_both(ALLOWED, DENIED).await;
    let names = Names::of(&[&[DENIED, "10.0.0.1", ALLOWED, "::1"]]);
    let world = World::with(ProxyLimits::default(), names);
    let answer = world.ask(&format!("http://many.test:{}/hello", allowed.address.port())).await;
    assert!(answer.ends_with("hello from the test host\n"), "{answer}");
    assert_eq!(denied.accepted(), 0);
    assert_eq!(world.decisions()[0].address, Some(ALLOWED.parse().unwrap()));
}

#[tokio::test]
async fn a_redirect_to_a_denied_address_is_a_new_decision() {
    let (world, allowed) = (World::new(), Origin::start(ALLOWED).await);
    let denied = Origin::start(DENIED).await;
    let hop = world.ask(&allowed.url(&format!("/redirect?{}", denied.url("/hello")))).await;
    assert!(hop.starts_with("HTTP/1.1 302") && hop.contains(&denied.url("/hello")), "{hop}");
    let answer = world.ask(&denied.url("/hello")).await;
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    assert_eq!(denied.accepted(), 0);
}

#[tokio::test]
async fn the_machine_name_works_only_when_opened() {
    let origin = Origin::start("127.0.0.1").await;
    let url = format!("http://host.helmdeck.internal:{}/hello", origin.address.port());
    let closed = World::new();
    let answer = closed.ask(&url).await;
    assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("127.0.0.1"), "{answer}");

    let policy = Policy::new(Cidr::list("127.0.0.0/8").unwrap(), []);
    let open = World::of(policy, ProxyLimits::default(), Names::none());
    let answer = open.ask(&url).await;
    assert!(answer.ends_with("hello from the test host\n"), "{answer}");
    assert_eq!(open.decisions()[0].host, "host.helmdeck.internal");
}

#[tokio::test]
async fn our_own_listeners_cannot_be_opened() {
    let own = Origin::start("127.0.0.1").await;
    let policy = Policy::new(Cidr::list("0.0.0.0/0, ::/0").unwrap(), [own.address]);
    let world = World::of(policy, ProxyLimits::default(), Names::of(&[&["127.0.0.1", "0.0.0.0"]]));
    let port = own.address.port();
    for host in
        ["127.0.0.1", "0.0.0.0", "0", "[::ffff:127.0.0.1]", "host.helmdeck.internal", "a.test"]
    {
        let answer = world.ask(&format!("http://{host}:{port}/hello")).await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{host}: {answer}");
        assert!(answer.contains("helmdeck itself listens there"), "{answer}");
    }
    assert_eq!(own.accepted(), 0);
}

#[tokio::test]
async fn localhost_gets_a_hint() {
    let world = World::new();
    for host in ["localhost", "LOCALHOST.", "app.localhost"] {
        let answer = world.ask(&format!("http://{host}:3000/")).await;
        assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("no_proxy"), "{answer}");
    }
    assert_eq!(world.verdicts(), [Verdict::Denied(Rule::Localhost); 3]);
}

#[tokio::test]
async fn a_browser_gets_a_page_and_the_query_is_nowhere_in_it() {
    let world = World::new();
    let answer = world
        .say(
            "GET http://10.1.2.3/path?token=secret HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\
             Accept: text/html,*/*;q=0.8\r\n\r\n",
        )
        .await;
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    for part in [
        "content-type: text/html; charset=utf-8",
        "cache-control: no-store",
        "x-helmdeck-egress: denied",
        "10.1.2.3",
        "10.0.0.0/8 is closed: a private network",
        "HELMDECK_EGRESS_ALLOWLIST",
    ] {
        assert!(answer.contains(part), "{part} in {answer}");
    }
    assert!(!answer.contains("secret") && !answer.contains("/path"), "{answer}");
    assert!(!format!("{:?}", world.decisions()).contains("secret"));
}

#[tokio::test]
async fn unresolved_names_and_slow_resolvers_have_different_errors() {
    let limits = ProxyLimits { resolve: Duration::from_millis(100), ..ProxyLimits::default() };
    let world = World::with(limits, Names::none());
    let unknown = world.ask("http://unknown.test/").await;
    assert!(
        unknown.starts_with("HTTP/1.1 502") && unknown.contains("does not resolve"),
        "{unknown}"
    );
    let slow = world.ask("http://never.test/").await;
    assert!(slow.starts_with("HTTP/1.1 504") && slow.contains("in time"), "{slow}");
}

#[tokio::test]
async fn a_refused_upload_can_read_the_refusal() {
    let world = World::new();
    let request = format!(
        "POST http://10.0.0.1/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\
         Content-Length: 900000\r\n\r\n{}",
        "x".repeat(900_000)
    );
    let answer = world.say(request).await;
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
}
