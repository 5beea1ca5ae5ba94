//! The limit of the sites that the browser opens. It is renewed as long as a run lasts, and a run ends if that fails.

use std::{mem, time::Duration};

use helmdeck_wire::site::Site;
use parking_lot::Mutex;
use tokio::time::sleep;

use crate::eyes::{Eyes, Failure};

/// How often the limit is renewed. A browser drops it after some minutes.
const RENEWED_EVERY: Duration = Duration::from_secs(20);
/// How often it is tried, and the time between.
const TRIES: u32 = 3;
const BETWEEN: Duration = Duration::from_millis(500);

/// The limit of one run.
pub struct Fence<'a> {
    eyes: &'a dyn Eyes,
    /// Nothing before the run has a scope.
    sites: Mutex<Option<Vec<Site>>>,
    refused: Mutex<Vec<String>>,
    /// Downloads that began and were not judged yet.
    downloads: Mutex<u64>,
    /// One request at a time, so that an older one does not undo a newer one.
    asking: tokio::sync::Mutex<()>,
}

impl<'a> Fence<'a> {
    /// No limit yet.
    pub fn new(eyes: &'a dyn Eyes) -> Self {
        Self {
            eyes,
            sites: Mutex::default(),
            refused: Mutex::default(),
            downloads: Mutex::default(),
            asking: Default::default(),
        }
    }

    /// Limits the browser to these sites from now on.
    pub async fn limit(&self, sites: Vec<Site>) -> Result<(), Failure> {
        *self.sites.lock() = Some(sites);
        self.renew().await
    }

    /// Renews the limit.
    pub async fn renew(&self) -> Result<(), Failure> {
        let _asking = self.asking.lock().await;
        let Some(sites) = self.sites.lock().clone() else { return Ok(()) };
        let mut tries = 1;
        loop {
            let reason = match self.eyes.limit_sites(Some(sites.clone())).await {
                Ok(report) => {
                    self.refused.lock().extend(report.urls);
                    *self.downloads.lock() += report.downloads;
                    return Ok(());
                }
                Err(Failure::Bad(reason)) => reason,
                Err(other) => return Err(other),
            };
            if tries >= TRIES {
                let reason =
                    format!("the sites that the browser opens cannot be limited: {reason}");
                return Err(Failure::Gone(reason));
            }
            tries += 1;
            sleep(BETWEEN).await;
        }
    }

    /// Renews the limit, and returns what the browser refused to open since it was last asked.
    pub async fn refused(&self) -> Result<Vec<String>, Failure> {
        self.renew().await?;
        Ok(mem::take(&mut *self.refused.lock()))
    }

    /// Whether a download began that was not judged yet.
    pub fn has_downloads(&self) -> bool {
        *self.downloads.lock() > 0
    }

    /// The same, and it is judged now.
    pub fn take_downloads(&self) -> bool {
        mem::take(&mut *self.downloads.lock()) > 0
    }

    /// Renews the limit from time to time. Returns only if that fails.
    pub async fn keep(&self) -> Failure {
        loop {
            sleep(RENEWED_EVERY).await;
            if let Err(failure) = self.renew().await {
                return failure;
            }
        }
    }

    /// Ends the limit. One that cannot be ended ends after some minutes.
    pub async fn end(&self) {
        *self.sites.lock() = None;
        let _asking = self.asking.lock().await;
        let _ = self.eyes.limit_sites(None).await;
    }
}
