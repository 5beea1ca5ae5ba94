//! Decides when a login may be attempted. Pure, with time passed in.

use std::{
    collections::HashMap,
    net::IpAddr,
    time::{Duration, Instant},
};

use crate::client_address::network;

/// Number of failures without a delay.
const FREE: u32 = 5;
/// Delay after the next failure. It doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_secs(2);
const LONGEST_WAIT: Duration = Duration::from_secs(300);
/// After this long without an attempt, earlier ones are forgotten.
const FORGET: Duration = Duration::from_secs(900);
/// Maximum number of entries.
const MOST: usize = 4096;

/// Remembers a bounded number of recent attempts.
#[derive(Debug, Default)]
pub struct LoginThrottle {
    failed: HashMap<Key, FailedLogins>,
}

/// Attempts are counted per account and network.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    username: String,
    network: IpAddr,
}

#[derive(Debug, Clone, Copy)]
struct FailedLogins {
    count: u32,
    last: Instant,
}

impl FailedLogins {
    /// How long after the last attempt the next one is accepted.
    fn wait(self) -> Duration {
        match self.count.checked_sub(FREE) {
            None => Duration::ZERO,
            Some(extra) => FIRST_WAIT.saturating_mul(1 << extra.min(16)).min(LONGEST_WAIT),
        }
    }
}

impl LoginThrottle {
    /// Admits an attempt, or returns how long to wait. An attempt counts as failed until
    /// [`Self::forgive`], so that parallel attempts gain nothing.
    pub fn admit(&mut self, username: &str, peer: IpAddr, now: Instant) -> Result<(), Duration> {
        let key = key(username, peer);
        self.failed.retain(|_, failed| now.saturating_duration_since(failed.last) < FORGET);
        if let Some(failed) = self.failed.get_mut(&key) {
            let left = failed.wait().saturating_sub(now.saturating_duration_since(failed.last));
            if !left.is_zero() {
                return Err(left);
            }
            *failed = FailedLogins { count: failed.count.saturating_add(1), last: now };
            return Ok(());
        }
        self.make_room();
        self.failed.insert(key, FailedLogins { count: 1, last: now });
        Ok(())
    }

    /// The password was right: forgets earlier failures.
    pub fn forgive(&mut self, username: &str, peer: IpAddr) {
        self.failed.remove(&key(username, peer));
    }

    /// When full, removes the least suspicious entry, so that a flood of names cannot evict the
    /// account under attack.
    fn make_room(&mut self) {
        if self.failed.len() < MOST {
            return;
        }
        let least = self.failed.iter().min_by_key(|(_, failed)| (failed.count, failed.last));
        if let Some(key) = least.map(|(key, _)| key.clone()) {
            self.failed.remove(&key);
        }
    }
}

fn key(username: &str, peer: IpAddr) -> Key {
    Key { username: username.to_owned(), network: network(peer) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const SECOND: Duration = Duration::from_secs(1);

    fn fail(throttle: &mut LoginThrottle, times: u32, now: Instant) {
        for _ in 0..times {
            throttle.admit("admin", HERE, now).unwrap();
        }
    }

    #[test]
    fn after_five_failures_each_further_one_doubles_the_wait() {
        let (mut throttle, mut now) = (LoginThrottle::default(), Instant::now());
        fail(&mut throttle, 5, now);
        for wait in [2, 4, 8, 16, 32, 64, 128, 256, 300, 300] {
            assert_eq!(throttle.admit("admin", HERE, now), Err(SECOND * wait));
            now += SECOND * wait;
            assert_eq!(throttle.admit("admin", HERE, now), Ok(()));
        }
    }

    #[test]
    fn a_success_or_a_long_pause_resets_the_count() {
        let (mut throttle, now) = (LoginThrottle::default(), Instant::now());
        fail(&mut throttle, 5, now);
        throttle.forgive("admin", HERE);
        fail(&mut throttle, 5, now);
        assert!(throttle.admit("admin", HERE, now).is_err());
        assert_eq!(throttle.admit("admin", HERE, now + FORGET), Ok(()));
    }

    #[test]
    fn other_accounts_and_networks_are_not_delayed() {
        let (mut throttle, now) = (LoginThrottle::default(), Instant::now());
        fail(&mut throttle, 5, now);
        assert_eq!(throttle.admit("other", HERE, now), Ok(()));
        assert_eq!(throttle.admit("admin", "192.0.2.7".parse().unwrap(), now), Ok(()));
    }

    #[test]
    fn addresses_of_one_ipv6_network_count_as_one_place() {
        let (mut throttle, now) = (LoginThrottle::default(), Instant::now());
        for n in 1..=5 {
            let peer = format!("2001:db8::{n}").parse().unwrap();
            assert_eq!(throttle.admit("admin", peer, now), Ok(()));
        }
        assert!(throttle.admit("admin", "2001:db8::6".parse().unwrap(), now).is_err());
        assert!(throttle.admit("admin", "2001:db8:0:1::6".parse().unwrap(), now).is_ok());
    }

    #[test]
    fn a_flood_of_names_neither_grows_memory_nor_evicts_an_attacked_account() {
        let (mut throttle, now) = (LoginThrottle::default(), Instant::now());
        fail(&mut throttle, 5, now);
        for n in 0..MOST + 50 {
            throttle.admit(&format!("user{n}"), HERE, now).unwrap();
        }
        assert_eq!(throttle.failed.len(), MOST);
        assert!(throttle.admit("admin", HERE, now).is_err());
    }
}
