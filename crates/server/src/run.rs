//! Runs the server: build, serve and drain.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use helmdeck_packs::OwnApi;
use helmdeck_runtime::Runtime;
use helmdeck_store::AuditEntry;
use helmdeck_task::BoxFuture;
use helmdeck_wire::session::EndReason;
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

use crate::{
    App, Instance, ServerError,
    admin::{self, NewAdmin},
    housekeeping::{self, Kept},
    own_api::OwnRoutes,
    router::router,
    serve::{Serving, serve},
    span_export,
    tls::Advice,
    tool::InProcess,
    vnc_ports,
};

/// How long live connections may take to close.
const GOODBYE: Duration = Duration::from_secs(2);

/// What the operator needs to know once the server listens.
#[derive(Debug)]
pub struct Started {
    /// Where it listens, with the actual port.
    pub addr: SocketAddr,
    /// `http` or `https`.
    pub scheme: &'static str,
    /// What to know about TLS.
    pub advice: Option<Advice>,
    /// The admin account, if this start created it. Its password is shown only now.
    pub new_admin: Option<NewAdmin>,
    /// Calls its tools without HTTP.
    pub in_process: InProcess,
}

/// What happens to sessions when the server stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shutdown {
    /// They keep running, for the next server to adopt.
    KeepSessions,
    /// They end.
    EndSessions,
}

/// Serves until `shutdown`, drains, and then keeps or ends the sessions. `announce` is called once
/// the server accepts connections.
pub fn run(
    instance: Instance,
    runtime: Arc<dyn Runtime>,
    announce: Box<dyn FnOnce(Started) + Send>,
    shutdown: BoxFuture<'static, Shutdown>,
) -> BoxFuture<'static, Result<(), ServerError>> {
    Box::pin(run_here(instance, runtime, announce, shutdown))
}

async fn run_here(
    instance: Instance,
    runtime: Arc<dyn Runtime>,
    announce: Box<dyn FnOnce(Started) + Send>,
    shutdown: BoxFuture<'static, Shutdown>,
) -> Result<(), ServerError> {
    let Instance { config, store, clock, .. } = &instance;
    let listener = listen(config.addr).await?;
    let addr = listener.local_addr().unwrap_or(config.addr);
    let (tracer, spans) = span_export::start(&config.traces)?;
    let app = App::build(config, addr, store.clone(), runtime, (clock.clone(), tracer)).await?;
    if let Some(fixtures) = &instance.mcp_fixtures {
        let _ = app.mcp.fixtures.set(fixtures.clone());
    }
    let routes = router(app.clone());
    let own_api: Arc<dyn OwnApi> = Arc::new(OwnRoutes::new(app.clone(), routes.clone()));
    app.packs.set_own_api(Arc::downgrade(&own_api));
    app.sessions.adopt().await?;
    app.packs.recover().await.map_err(ServerError::Jobs)?;
    // The last step that can fail, because a generated password must be announced.
    let new_admin = admin::ensure(store, config).await?;
    let tidy = housekeeping::run(app.clone(), Kept::new(config), config.artifacts.janitor_interval);
    let _tidy = AbortOnDropHandle::new(helmdeck_task::spawn(tidy));
    let webhooks = helmdeck_task::spawn(app.packs.clone().send_webhooks(app.closing.clone()));
    let webhooks = AbortOnDropHandle::new(webhooks);
    let spans = spans.map(|export| {
        AbortOnDropHandle::new(helmdeck_task::spawn(export.run(app.closing.clone())))
    });
    let scheme = config.scheme();
    let version = env!("CARGO_PKG_VERSION");
    let entry = AuditEntry::new("server.started").detail("version", version);
    app.audit.record(entry.target(format!("{scheme}://{addr}")));
    tracing::info!(%addr, version, "Server listens on {scheme}://{addr}");
    let advice = Advice::of(config);
    match &advice {
        Some(advice) if advice.is_warning() => tracing::warn!("{advice}"),
        Some(advice) => tracing::info!("{advice}"),
        None => {}
    }
    let in_process = InProcess::new(app.clone());
    announce(Started { addr, scheme, advice, new_admin, in_process });

    let drain = Duration::from_secs(config.drain_seconds);
    let shutdown = async {
        let asked = shutdown.await;
        // Connections that never end by themselves.
        app.closing.cancel();
        asked
    };
    let published = vnc_ports::run(app.clone(), routes.clone(), config.max_sessions);
    let _published = config
        .live
        .publish_vnc_ports
        .then(|| AbortOnDropHandle::new(helmdeck_task::spawn(published)));
    let sessions = serve(listener, Serving::new(&app, routes), drain, shutdown).await;
    app.live.close();
    let _ = tokio::time::timeout(GOODBYE, app.live.wait()).await;
    // Its own limit is shorter.
    let _ = tokio::time::timeout(2 * GOODBYE, webhooks).await;
    if sessions == Shutdown::EndSessions {
        app.sessions.end_all(EndReason::ServerStopped).await;
    }
    app.sessions.flush().await;
    app.models.flush().await;
    if let Some(spans) = spans {
        // Its own limit is shorter.
        let _ = tokio::time::timeout(2 * GOODBYE, spans).await;
    }
    housekeeping::save_token_use(&app).await;
    let ended = sessions == Shutdown::EndSessions;
    app.audit.record(AuditEntry::new("server.stopped").detail("ended_sessions", ended));
    app.audit.finish().await;
    store.close().await;
    tracing::info!("Server stopped");
    Ok(())
}

async fn listen(addr: SocketAddr) -> Result<TcpListener, ServerError> {
    TcpListener::bind(addr).await.map_err(|source| ServerError::Listen { addr, source })
}
