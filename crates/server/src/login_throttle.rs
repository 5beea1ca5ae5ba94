//! Who may try a password now: a pure decision, with time passed in.

use std::{
    collections::HashMap,
    net::IpAddr,
    time::{Duration, Instant},
};

use crate::client_address::network;

/// Wrong passwords that cost nothing but the time to type them.
const FREE: u32 = 5;
/// The wait after the first one beyond; it doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_secs(2);
const LONGEST_WAIT: Duration = Duration::from_secs(300);
/// After this long without a try, earlier ones are forgotten.
const FORGET: Duration = Duration::from_secs(900);
/// More than this many are never remembered.
const MOST: usize = 4096;

/// Remembers recent tries, a bounded number of them.
#[derive(Debug, Default)]
pub struct LoginThrottle {
    tries: HashMap<Key, Tries>,
}

/// Tries are counted by account and by where they come from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    username: String,
    network: IpAddr,
}

#[derive(Debug, Clone, Copy)]
struct Tries {
    count: u32,
    last: Instant,
}

impl Tries {
    /// How long after the last try the next one is considered.
    fn wait(self) -> Duration {
        match self.count.checked_sub(FREE) {
            None => Duration::ZERO,
            Some(extra) => FIRST_WAIT.saturating_mul(1 << extra.min(16)).min(LONGEST_WAIT),
        }
    }
}

impl LoginThrottle {
    /// Admits a try, or says how long to wait. An admitted try counts as failed until it is
    /// [`Self::forgive`]n, so that many at once are no way around.
    pub fn admit(&mut self, username: &str, peer: IpAddr, now: Instant) -> Result<(), Duration> {
        let key = key(username, peer);
        self.tries.retain(|_, tries| now.saturating_duration_since(tries.last) < FORGET);
        if let Some(tries) = self.tries.get_mut(&key) {
            let left = tries.wait().saturating_sub(now.saturating_duration_since(tries.last));
            if !left.is_zero() {
                return Err(left);
            }
            *tries = Tries { count: tries.count.saturating_add(1), last: now };
            return Ok(());
        }
        self.make_room();
        self.tries.insert(key, Tries { count: 1, last: now });
        Ok(())
    }

    /// The password was right: earlier mistakes do not matter any more.
    pub fn forgive(&mut self, username: &str, peer: IpAddr) {
        self.tries.remove(&key(username, peer));
    }

    /// Lets go of the least suspicious entry when full, so that a flood of names cannot wash out
    /// the one that is being guessed.
    fn make_room(&mut self) {
        if self.tries.len() < MOST {
            return;
        }
        let least = self.tries.iter().min_by_key(|(_, tries)| (tries.count, tries.last));
        if let Some(key) = least.map(|(key, _)| key.clone()) {
            self.tries.remove(&key);
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
    fn a_success_and_a_long_pause_wipe_the_slate() {
        let (mut throttle, now) = (LoginThrottle::default(), Instant::now());
        fail(&mut throttle, 5, now);
        throttle.forgive("admin", HERE);
        fail(&mut throttle, 5, now);
        assert!(throttle.admit("admin", HERE, now).is_err());
        assert_eq!(throttle.admit("admin", HERE, now + FORGET), Ok(()));
    }

    #[test]
    fn another_account_or_another_place_is_not_slowed_down() {
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
    fn a_flood_of_names_neither_grows_memory_nor_hides_a_guesser() {
        let (mut throttle, now) = (LoginThrottle::default(), Instant::now());
        fail(&mut throttle, 5, now);
        for n in 0..MOST + 50 {
            throttle.admit(&format!("user{n}"), HERE, now).unwrap();
        }
        assert_eq!(throttle.tries.len(), MOST);
        assert!(throttle.admit("admin", HERE, now).is_err());
    }
}
