//! Resolves names to addresses, once per connection.

use std::{
    io,
    net::{IpAddr, ToSocketAddrs},
    sync::Arc,
};

use async_trait::async_trait;
use tokio::sync::Semaphore;

/// Limit on simultaneous lookups. Each occupies a thread until the system gives up.
const MAX_LOOKUPS: usize = 16;

/// Resolves names.
#[async_trait]
pub trait Resolve: Send + Sync + 'static {
    /// All addresses of a name, best first. Cancel-safe; the caller sets the deadline.
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// Uses the system's resolver, which reads `/etc/hosts` and asks DNS.
///
/// Use one per session, so that no session can exhaust the lookups of another.
#[derive(Debug, Clone)]
pub struct SystemResolver {
    lookups: Arc<Semaphore>,
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self { lookups: Arc::new(Semaphore::new(MAX_LOOKUPS)) }
    }
}

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let lookup = Arc::clone(&self.lookups).acquire_owned().await.map_err(io::Error::other)?;
        let name = name.to_owned();
        let looking = tokio::task::spawn_blocking(move || {
            // Held by the thread, which continues after the caller gave up.
            let _lookup = lookup;
            Ok((name.as_str(), 0).to_socket_addrs()?.map(|found| found.ip()).collect())
        });
        looking.await.map_err(io::Error::other)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_system_resolves_localhost_and_refuses_invalid_names() {
        let resolver = SystemResolver::default();
        let found = resolver.resolve("localhost").await.unwrap();
        assert!(!found.is_empty() && found.iter().all(IpAddr::is_loopback), "{found:?}");
        assert!(resolver.resolve("a..b").await.is_err());
        assert_eq!(resolver.lookups.available_permits(), MAX_LOOKUPS);
    }
}
