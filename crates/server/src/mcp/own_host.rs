//! Which names in a `Host` header are this server's.

use std::{fs, net::IpAddr};

use http::Uri;

use crate::App;

/// Where the domains are in which this machine has a name.
const RESOLVER: &str = "/etc/resolv.conf";
/// Domains of local networks.
const LOCAL_DOMAINS: [&str; 5] = ["home.arpa", "internal", "lan", "local", "localdomain"];
/// Names under which containers know the machine that runs them.
const HOSTS_OF_CONTAINERS: [&str; 2] = ["host.docker.internal", "host.containers.internal"];

/// Whether a `Host` header names this server: a page that makes its own name resolve to this machine
/// does not get through.
pub fn is_own_host(app: &App, host: &str) -> bool {
    let Ok(authority) = host.parse::<::http::uri::Authority>() else { return false };
    let name = authority.host().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    let public = app.public_base.as_ref().and_then(Uri::host).map(str::to_ascii_lowercase);
    let machine = rustix::system::uname().nodename().to_string_lossy().to_ascii_lowercase();
    name == "localhost"
        || name.parse::<IpAddr>().is_ok()
        || Some(&name) == public.as_ref()
        || HOSTS_OF_CONTAINERS.contains(&name.as_str())
        || is_machine(&name, &machine, || fs::read_to_string(RESOLVER).unwrap_or_default())
}

/// Whether this is the machine's name, alone or in a domain of its network.
fn is_machine(name: &str, machine: &str, resolver: impl FnOnce() -> String) -> bool {
    if name == machine {
        return true;
    }
    let (short, _) = machine.split_once('.').unwrap_or((machine, ""));
    let Some(rest) = name.strip_prefix(short).filter(|_| !short.is_empty()) else { return false };
    let Some(domain) = rest.strip_prefix('.') else { return rest.is_empty() };
    let is_searched = |line: &str| {
        let mut words = line.split_whitespace();
        let names_domains = matches!(words.next(), Some("domain" | "search"));
        names_domains && words.any(|word| word.trim_end_matches('.').eq_ignore_ascii_case(domain))
    };
    LOCAL_DOMAINS.contains(&domain) || resolver().lines().any(is_searched)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_domains_of_the_machines_network_make_its_name_ours() {
        let resolver =
            || "# none\nnameserver 10.0.0.1\nsearch corp.example. b.example\n".to_owned();
        let ours = |name: &str| is_machine(name, "debian", resolver);
        for domain in ["local", "lan", "corp.example", "b.example"] {
            assert!(ours(&format!("debian.{domain}")), "{domain}");
        }
        for name in ["debian.evil.test", "debianlocal", "debian.", "10.0.0.1.debian", "evil.test"] {
            assert!(!ours(name), "{name}");
        }
        let full = |name: &str| is_machine(name, "debian.corp.example", String::new);
        assert!(full("debian.corp.example") && full("debian") && !full("debian.evil.test"));
    }
}
