//! The screen of a session in a run that people watch.

use std::sync::Arc;

use futures_util::{FutureExt, future::BoxFuture};
use helmdeck_vision::{
    Action, SessionEyes,
    eyes::{Acted, Eyes, Scene, Seen, Shot, Success},
};
use helmdeck_wire::{
    guest::RefusedSites,
    point::{Pixel, Rect},
    site::Site,
    tree::Candidate,
    vendor_size::SizeRule,
    verify::Verified,
};

use super::VisionRun;

/// The screen of a session. It shows where it acts, waits while the run is paused, and asks people.
pub struct WatchedEyes {
    eyes: SessionEyes,
    run: Arc<VisionRun>,
}

impl WatchedEyes {
    pub(super) fn new(run: Arc<VisionRun>) -> Self {
        Self { eyes: SessionEyes::new(run.session.clone(), run.caller.clone()), run }
    }
}

impl Eyes for WatchedEyes {
    fn look(&self, rule: SizeRule) -> Seen<'_, Shot> {
        self.eyes.look(rule)
    }

    fn zoom(&self, region: Rect) -> Seen<'_, Shot> {
        self.eyes.zoom(region)
    }

    fn crop(&self, region: Rect, size: (u32, u32)) -> Seen<'_, Shot> {
        self.eyes.crop(region, size)
    }

    fn act<'a>(&'a self, action: &'a Action, picture: bool) -> Seen<'a, Acted> {
        async move {
            self.run.aim(action.pixel()).await;
            self.eyes.act(action, picture).await
        }
        .boxed()
    }

    fn find<'a>(&'a self, name: &'a str) -> Seen<'a, Vec<Candidate>> {
        self.eyes.find(name)
    }

    fn usable(&self, near: Pixel) -> Seen<'_, Vec<Candidate>> {
        self.eyes.usable(near)
    }

    fn verify<'a>(&'a self, success: &'a Success, within_ms: u32) -> Seen<'a, Verified> {
        self.eyes.verify(success, within_ms)
    }

    fn scene(&self) -> Seen<'_, Scene> {
        self.eyes.scene()
    }

    fn limit_sites(&self, sites: Option<Vec<Site>>) -> Seen<'_, RefusedSites> {
        self.eyes.limit_sites(sites)
    }

    fn tell<'a>(&'a self, status: &'a str) -> BoxFuture<'a, ()> {
        self.eyes.tell(status)
    }

    fn ready(&self) -> BoxFuture<'_, ()> {
        self.run.ready().boxed()
    }

    fn confirm<'a>(&'a self, question: &'a str) -> BoxFuture<'a, Option<bool>> {
        self.run.ask(question).boxed()
    }
}
