//! Which connections are admitted, and which give way.

use helmdeck_egress::Cidr;

use super::*;

const STRANGER: &str = "192.0.2.7";

/// 64 connections in total: 62 busy, 48 anonymous, 16 per caller, 9 per address.
fn limits() -> ConnectionLimits {
    let proxies = TrustedProxies::new(Cidr::list("10.0.0.0/8").unwrap());
    ConnectionLimits::new(Some(256), proxies, false)
}

fn connect(limits: &ConnectionLimits, peer: &str, now: Instant) -> Option<Connection> {
    match limits.try_admit(network(peer.parse().unwrap()), now) {
        Admitted::Yes(connection) => Some(connection),
        Admitted::TooMany | Admitted::Full => None,
    }
}

fn local(limits: &ConnectionLimits) -> Connection {
    connect(limits, "127.0.0.1", Instant::now()).unwrap()
}

fn ask(connection: &Connection, who: Who<'_>) -> Option<ErrorCode> {
    connection.begins([127, 0, 0, 1].into());
    connection.serves(who).err().map(|error| error.code)
}

#[test]
fn connections_leave_descriptors_for_all_else() {
    assert_eq!(Shares::of(None).total, MOST);
    assert_eq!(Shares::of(Some(1 << 20)).total, MOST);
    assert_eq!(Shares::of(Some(1024)).total, 256);
    for descriptors in [0, 2, 16, 100] {
        let Shares { total, busy, anonymous, caller, address } = Shares::of(Some(descriptors));
        assert!(total > busy && total > anonymous && caller > 0 && address > 0, "{descriptors}");
    }
}

#[test]
fn half_sent_heads_give_way_to_new_connections() {
    let (limits, start) = (limits(), Instant::now());
    let heads: Vec<_> = (0..64).map(|_| connect(&limits, "127.0.0.1", start).unwrap()).collect();
    assert!(connect(&limits, "127.0.0.1", start).is_none(), "each has some time to send its head");
    let later = start + PATIENCE;
    let new: Vec<_> =
        (0..64).map(|_| connect(&limits, "127.0.0.1", later).expect("a place")).collect();
    assert!(heads.iter().all(|head| head.closed.is_cancelled()));
    assert!(new.iter().all(|new| !new.closed.is_cancelled()));
}

#[test]
fn a_connection_with_a_request_under_way_never_gives_way() {
    let (limits, start) = (limits(), Instant::now());
    let open: Vec<_> = (0..64).map(|_| connect(&limits, "127.0.0.1", start).unwrap()).collect();
    for (n, busy) in open.iter().enumerate().skip(2) {
        assert_eq!(ask(busy, Who::Caller(&format!("{}", n / 10))), None);
    }
    open[1].begins([127, 0, 0, 1].into());
    let _new = connect(&limits, "127.0.0.1", start + PATIENCE).unwrap();
    assert!(open[0].closed.is_cancelled());
    assert_eq!(open.iter().filter(|one| one.closed.is_cancelled()).count(), 1);
}

#[test]
fn waiting_connections_of_unknown_clients_give_way_before_those_of_callers() {
    let (limits, start) = (limits(), Instant::now());
    let caller = connect(&limits, "127.0.0.1", start).unwrap();
    assert_eq!(ask(&caller, Who::Caller("t")), None);
    caller.rests();
    let later = start + PATIENCE_WITH_CALLERS;
    let strangers: Vec<_> =
        (0..63).map(|_| connect(&limits, "127.0.0.1", later).unwrap()).collect();
    let full = connect(&limits, "127.0.0.1", later);
    assert!(full.is_none() && !caller.closed.is_cancelled(), "new ones are closed before it");
    let _new = connect(&limits, "127.0.0.1", later + PATIENCE).unwrap();
    assert!(!caller.closed.is_cancelled());
    assert!(strangers.iter().any(|one| one.closed.is_cancelled()));
}

#[test]
fn requests_without_credentials_leave_a_share_to_callers_and_all_leave_one_to_health_checks() {
    let limits = limits();
    let open: Vec<_> = (0..64).map(|_| local(&limits)).collect();
    for one in &open[..48] {
        assert_eq!(ask(one, Who::Anonymous), None);
    }
    assert_eq!(ask(&open[48], Who::Anonymous), Some(ErrorCode::Overloaded));
    for one in &open[48..62] {
        assert_eq!(ask(one, Who::Caller("t")), None);
    }
    assert_eq!(ask(&open[62], Who::Caller("t")), Some(ErrorCode::Overloaded));
    assert_eq!(ask(&open[62], Who::Health), None);
    open[0].rests();
    assert_eq!(ask(&open[62], Who::Caller("t")), None, "there is room again");
}

#[test]
fn the_limit_of_one_caller_does_not_affect_others() {
    let limits = limits();
    let open: Vec<_> = (0..18).map(|_| local(&limits)).collect();
    for one in &open[..16] {
        assert_eq!(ask(one, Who::Caller("greedy")), None);
    }
    assert_eq!(ask(&open[16], Who::Caller("greedy")), Some(ErrorCode::TooManyConnections));
    assert_eq!(ask(&open[0], Who::Caller("greedy")), None, "its own next request");
    assert_eq!(ask(&open[17], Who::Caller("other")), None);
    drop(open);
    assert!(limits.shared.open.lock().entries.is_empty());
}

#[test]
fn one_address_has_a_limit_but_this_machine_and_trusted_proxies_do_not() {
    let (limits, now) = (limits(), Instant::now());
    let open: Vec<_> = (0..9).map(|_| connect(&limits, STRANGER, now).unwrap()).collect();
    for one in &open {
        one.begins(STRANGER.parse().unwrap());
        one.serves(Who::Anonymous).unwrap();
    }
    assert!(connect(&limits, STRANGER, now).is_none());
    open[0].rests();
    let _again = connect(&limits, STRANGER, now).expect("it replaces a waiting one");
    assert!(open[0].closed.is_cancelled());
    let _other = connect(&limits, "192.0.2.8", now).unwrap();
    let proxied: Vec<_> = (0..20).map(|_| connect(&limits, "10.0.0.1", now).unwrap()).collect();
    for (n, one) in proxied.iter().enumerate() {
        one.begins("198.51.100.1".parse().unwrap());
        let refused = one.serves(Who::Anonymous).err().map(|error| error.code);
        assert_eq!(refused, (n >= 9).then_some(ErrorCode::TooManyConnections), "{n}");
    }
    proxied[19].begins("198.51.100.2".parse().unwrap());
    assert!(proxied[19].serves(Who::Anonymous).is_ok(), "another client of the proxy");
}

#[test]
fn addresses_of_one_ipv6_network_count_as_one() {
    let (limits, now) = (limits(), Instant::now());
    let peer = |n: usize| format!("2001:db8::{n}");
    let open: Vec<_> = (1..10).map(|n| connect(&limits, &peer(n), now).unwrap()).collect();
    for one in &open {
        one.begins(peer(1).parse().unwrap());
    }
    assert!(connect(&limits, &peer(99), now).is_none());
    assert!(connect(&limits, "2001:db8:0:1::1", now).is_some());
}
