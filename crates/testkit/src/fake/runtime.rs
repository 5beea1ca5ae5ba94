//! A runtime whose sandboxes are guests in this process.

use std::{collections::BTreeMap, io, sync::Arc};

use async_trait::async_trait;
use axum::body::Body;
use helmdeck_runtime::{ByteStream, Runtime, RuntimeError, Sandbox, SandboxId, SandboxSpec, Usage};
use helmdeck_wire::guest::Stage;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::{io::DuplexStream, runtime::Handle};
use tower::ServiceExt;

use super::{
    guest::{FakeGuest, Start},
    router::router,
};

/// Buffer of each side of a connection.
const PIPE: usize = 256 << 10;

/// A cheap handle to the runtime. Its guests outlive any server: they live in the tokio runtime
/// that created it.
#[derive(Clone)]
pub struct FakeRuntime {
    shared: Arc<Mutex<Shared>>,
    guests: Handle,
}

#[derive(Default)]
struct Shared {
    sandboxes: BTreeMap<SandboxId, Kept>,
    start: Start,
    refusal: Option<String>,
    broken: bool,
    usage: Option<Usage>,
    link_version: Option<u32>,
}

struct Kept {
    spec: SandboxSpec,
    guest: FakeGuest,
}

impl FakeRuntime {
    /// A runtime without sandboxes. Must be called inside a tokio runtime.
    #[expect(clippy::new_without_default, reason = "it needs a tokio runtime")]
    pub fn new() -> Self {
        let usage = Usage { memory_bytes: 100 << 20, pids: 50, out_of_memory: 0 };
        let shared = Shared { usage: Some(usage), ..Shared::default() };
        Self { shared: Arc::new(Mutex::new(shared)), guests: Handle::current() }
    }

    /// The guest of a session.
    pub fn guest(&self, session: &str) -> FakeGuest {
        let guests = self.guests();
        let found = guests.iter().find(|guest| guest.id() == session).cloned();
        let ids: Vec<_> = guests.iter().map(FakeGuest::id).collect();
        found.unwrap_or_else(|| panic!("{session} has no sandbox; there are {ids:?}"))
    }

    /// All guests, by id.
    pub fn guests(&self) -> Vec<FakeGuest> {
        self.shared.lock().sandboxes.values().map(|kept| kept.guest.clone()).collect()
    }

    /// From now on, no sandbox starts, with this error.
    pub fn refuse_starts(&self, reason: &str) {
        self.shared.lock().refusal = Some(reason.to_owned());
    }

    /// From now on, guests never become ready.
    pub fn never_ready(&self) {
        self.shared.lock().start = Start::Never;
    }

    /// From now on, this stage of the start fails.
    pub fn fail_stage(&self, stage: Stage, reason: &str) {
        self.shared.lock().start = Start::Fails(stage, reason.to_owned());
    }

    /// From now on, new guests report this version of the link.
    pub fn speak_link(&self, version: u32) {
        self.shared.lock().link_version = Some(version);
    }

    /// From now on, listing sandboxes fails.
    pub fn break_down(&self) {
        self.shared.lock().broken = true;
    }

    /// Sets the usage of all sandboxes; `None` if unknown.
    pub fn set_usage(&self, usage: Option<Usage>) {
        self.shared.lock().usage = usage;
    }

    /// Changes a label of a session's sandbox.
    pub fn change_label(&self, session: &str, label: &str, change: impl FnOnce(&str) -> String) {
        let mut shared = self.shared.lock();
        let id = SandboxId::new(session).expect("an id");
        let kept = shared.sandboxes.get_mut(&id).expect("a sandbox");
        let value = kept.spec.labels.get_mut(label).expect("a label");
        *value = change(value);
    }

    /// Serves one connection to a guest until it is closed or the guest dies.
    fn serve(&self, guest: FakeGuest, stream: DuplexStream) {
        self.guests.spawn(async move {
            let router = router(guest.clone());
            let answer = service_fn(move |request: http::Request<Incoming>| {
                router.clone().oneshot(request.map(Body::new))
            });
            let connection = http1::Builder::new()
                .serve_connection(TokioIo::new(stream), answer)
                .with_upgrades();
            tokio::select! {
                _ = connection => {}
                () = guest.shared.dead.cancelled() => {}
            }
        });
    }
}

#[async_trait]
impl Runtime for FakeRuntime {
    async fn start(&self, id: &SandboxId, spec: &SandboxSpec) -> Result<(), RuntimeError> {
        let mut shared = self.shared.lock();
        if let Some(reason) = &shared.refusal {
            return Err(RuntimeError::NotStarted(reason.clone()));
        }
        if shared.sandboxes.contains_key(id) {
            return Err(RuntimeError::Exists);
        }
        let guest = FakeGuest::new(id.as_str(), shared.start.clone());
        if let Some(version) = shared.link_version {
            guest.speak_link(version);
        }
        shared.sandboxes.insert(id.clone(), Kept { spec: spec.clone(), guest });
        Ok(())
    }

    async fn connect(&self, id: &SandboxId) -> Result<Box<dyn ByteStream>, RuntimeError> {
        let guest = self.shared.lock().sandboxes.get(id).map(|kept| kept.guest.clone());
        let Some(guest) = guest else { return Err(RuntimeError::Gone(String::new())) };
        if !guest.is_alive() {
            return Err(RuntimeError::Gone(guest.shared.state.lock().last_words.clone()));
        }
        let (ours, theirs) = tokio::io::duplex(PIPE);
        self.serve(guest, theirs);
        Ok(Box::new(ours))
    }

    async fn stop(&self, id: &SandboxId) -> Result<(), RuntimeError> {
        if let Some(kept) = self.shared.lock().sandboxes.remove(id) {
            kept.guest.die();
        }
        Ok(())
    }

    async fn list(&self) -> Result<Vec<Sandbox>, RuntimeError> {
        let shared = self.shared.lock();
        if shared.broken {
            return Err(RuntimeError::System("the runtime", io::Error::other("broken")));
        }
        let sandbox = |(id, kept): (&SandboxId, &Kept)| Sandbox {
            id: id.clone(),
            running: kept.guest.is_alive(),
            labels: kept.spec.labels.clone(),
            limits_by: "cgroup-v2",
            usage: shared.usage,
        };
        Ok(shared.sandboxes.iter().map(sandbox).collect())
    }
}
