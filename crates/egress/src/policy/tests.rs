//! The policy's decisions, for single addresses and for all of them.

use proptest::prelude::*;

use super::*;

fn policy(allowlist: &str, own: &[&str]) -> Policy {
    let own: Vec<SocketAddr> = own.iter().map(|own| own.parse().unwrap()).collect();
    let policy = Policy::new(Cidr::list(allowlist).unwrap(), own);
    // Stands for an address of this machine that looks public.
    Policy { is_this_machine: |address| address.to_string() == "9.9.9.9", ..policy }
}

fn judge(policy: &Policy, address: &str) -> Result<AllowReason, Rule> {
    policy.judge(SocketAddr::new(address.parse().unwrap(), 80))
}

#[test]
fn every_closed_range_is_closed_at_both_ends() {
    let policy = policy("", &[]);
    for (first, last) in [
        ("0.0.0.0", "0.255.255.255"),
        ("10.0.0.0", "10.255.255.255"),
        ("100.64.0.0", "100.127.255.255"),
        ("127.0.0.0", "127.255.255.255"),
        ("169.254.0.0", "169.254.255.255"),
        ("172.16.0.0", "172.31.255.255"),
        ("192.0.0.0", "192.0.0.255"),
        ("192.168.0.0", "192.168.255.255"),
        ("198.18.0.0", "198.19.255.255"),
        ("224.0.0.0", "239.255.255.255"),
        ("240.0.0.0", "255.255.255.255"),
        ("168.63.129.16", "168.63.129.16"),
        ("::", "::1"),
        ("64:ff9b:1:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"),
        ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ] {
        for address in [first, last] {
            let refused = judge(&policy, address);
            assert!(matches!(refused, Err(Rule::Range { .. })), "{address}: {refused:?}");
        }
    }
}

#[test]
fn addresses_next_to_closed_ranges_are_open() {
    let policy = policy("", &[]);
    for address in [
        "1.0.0.0",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "169.253.255.255",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.0",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "2606:4700::1111",
        "fbff::1",
    ] {
        assert_eq!(judge(&policy, address), Ok(AllowReason::Public), "{address}");
    }
}

#[test]
fn the_allowlist_opens_exactly_its_range() {
    let policy = policy("127.0.0.2/32,fd00:1::/32", &[]);
    let opened = Ok(AllowReason::Allowlisted("127.0.0.2/32".parse().unwrap()));
    assert_eq!(judge(&policy, "127.0.0.2"), opened);
    assert_eq!(judge(&policy, "::ffff:127.0.0.2"), opened);
    assert!(judge(&policy, "fd00:1::5").is_ok());
    assert!(judge(&policy, "127.0.0.3").is_err());
    assert!(judge(&policy, "fd00:2::5").is_err());
    assert!(judge(&policy, "::1").is_err());
}

#[test]
fn an_ipv6_allowlist_does_not_open_embedded_ipv4_addresses() {
    let policy = policy("::/0", &[]);
    assert!(judge(&policy, "fd00::1").is_ok());
    for address in ["::ffff:10.0.0.1", "64:ff9b::10.0.0.1", "2002:a00:1::", "10.0.0.1"] {
        assert!(judge(&policy, address).is_err(), "{address}");
    }
}

#[test]
fn the_allowlist_cannot_open_our_own_listeners() {
    let policy = policy("0.0.0.0/0,::/0", &["127.0.0.1:80", "0.0.0.0:81", "[::1]:82", "[::]:83"]);
    for to in [
        "127.0.0.1:80",
        "0.0.0.0:80",
        "[::ffff:127.0.0.1]:80",
        "[::ffff:0.0.0.0]:80",
        "127.0.0.1:81",
        "127.9.9.9:81",
        "9.9.9.9:81",
        "[64:ff9b::9.9.9.9]:81",
        "[::1]:81",
        "[::1]:82",
        "[::]:82",
        "127.0.0.1:83",
        "[::1]:83",
    ] {
        assert_eq!(policy.judge(to.parse().unwrap()), Err(Rule::OwnListener), "{to}");
    }
    for to in ["127.0.0.2:80", "127.0.0.1:84", "9.9.9.8:81", "[::1]:80"] {
        assert!(policy.judge(to.parse().unwrap()).is_ok(), "{to}");
    }
}

#[test]
fn a_public_address_of_this_machine_is_closed_until_opened() {
    assert_eq!(judge(&policy("", &[]), "9.9.9.9"), Err(Rule::ThisMachine));
    assert!(judge(&policy("9.9.9.9", &[]), "9.9.9.9").is_ok());
}

#[test]
fn the_kernel_knows_its_own_addresses() {
    assert!(is_this_machine("127.0.0.1".parse().unwrap()));
    assert!(!is_this_machine("93.184.216.34".parse().unwrap()));
}

#[test]
fn a_teredo_address_must_pass_for_both_hosts_in_it() {
    let policy = policy("", &[]);
    assert!(judge(&policy, "2001:0:4136:e378:8000:63bf:f7f7:f7f7").is_ok());
    assert!(judge(&policy, "2001:0:4136:e378:8000:63bf:f5ff:fffe").is_err());
    assert!(judge(&policy, "2001:0:a00:1:8000:63bf:f7f7:f7f7").is_err());
}

#[test]
fn names_are_judged_before_they_are_resolved() {
    let policy = policy("0.0.0.0/0", &[]);
    for (name, rule) in [
        ("localhost", Rule::Localhost),
        ("app.localhost", Rule::Localhost),
        ("metadata.google.internal", Rule::MetadataName),
        ("metadata", Rule::MetadataName),
        ("instance-data", Rule::MetadataName),
    ] {
        assert_eq!(policy.judge_name(name), Err(rule));
    }
    for name in ["example.com", "notlocalhost", "localhost.example.com", MACHINE_NAME] {
        assert_eq!(policy.judge_name(name), Ok(()));
    }
}

/// All IPv6 forms with this embedded IPv4 address.
fn forms(v4: Ipv4Addr) -> Vec<Ipv6Addr> {
    let bits = u128::from(v4.to_bits());
    let of = |prefix: &str| Ipv6Addr::from(prefix.parse::<Ipv6Addr>().unwrap().to_bits() | bits);
    let in_6to4 = 0x2002_u128 << 112 | bits << 80 | 0x1234;
    let server = u128::from(0x4136_e378_u32);
    let teredo = 0x2001_u128 << 112 | server << 64 | 0x8000_63bf << 32 | bits ^ 0xffff_ffff;
    let mut forms = vec![of("::ffff:0:0"), of("::ffff:0:0:0"), of("64:ff9b::"), of("64:ff9b:1::")];
    forms.extend([Ipv6Addr::from(in_6to4), Ipv6Addr::from(teredo)]);
    // `::` and `::1` have separate rules.
    forms.extend((v4.to_bits() > 1).then(|| of("::")));
    forms
}

fn any_v4() -> impl Strategy<Value = Ipv4Addr> {
    let inside =
        (0..CLOSED.len(), any::<u32>()).prop_filter_map(
            "IPv4 ranges",
            |(index, bits)| match CLOSED[index].0.to_string().split_once('/').unwrap() {
                (first, prefix) if !first.contains(':') => {
                    let host = u32::MAX.checked_shr(prefix.parse().unwrap()).unwrap_or(0);
                    Some(first.parse::<Ipv4Addr>().unwrap().to_bits() | bits & host)
                }
                _ => None,
            },
        );
    prop_oneof![any::<u32>(), inside].prop_map(Ipv4Addr::from)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, ..ProptestConfig::default() })]

    #[test]
    fn an_ipv4_address_gets_the_same_verdict_in_every_form(v4 in any_v4(), port in any::<u16>()) {
        let own = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), port);
        for policy in [
            policy("", &[]),
            policy("127.0.0.0/8, 10.0.0.0/9, 192.168.1.0/24", &[]),
            policy("0.0.0.0/0", &[&own.to_string()]),
        ] {
            let plain = policy.judge(SocketAddr::new(v4.into(), port));
            for form in forms(v4) {
                let judged = policy.judge(SocketAddr::new(form.into(), port));
                prop_assert_eq!(plain, judged, "{} as {}", v4, form);
            }
        }
    }

    #[test]
    fn addresses_allowed_by_default_are_global(bits in any::<u128>()) {
        let v6 = Ipv6Addr::from(bits);
        if judge(&policy("", &[]), &v6.to_string()).is_ok() {
            prop_assert!(!v6.is_loopback() && !v6.is_unspecified() && !v6.is_multicast());
            prop_assert!(!v6.is_unique_local() && !v6.is_unicast_link_local());
        }
    }
}
