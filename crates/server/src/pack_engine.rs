//! The engine of packs, with these settings.

use std::sync::Arc;

use helmdeck_egress::Policy;
use helmdeck_gateway::Gateway;
use helmdeck_packs::{Endpoints, Engine, EngineLimits, HttpClient, RunRegistry, Services};
use helmdeck_runtime::Runtime;
use helmdeck_sessions::{Clock, Sessions};
use helmdeck_store::{Artifacts, Audit, Store, Vault};

use crate::{Config, ServerError};

/// Starts it.
pub fn start(
    config: &Config,
    policy: &Policy,
    clock: &Clock,
    runtime: &Arc<dyn Runtime>,
    (models, runs): (&Gateway, Arc<dyn RunRegistry>),
    (store, audit): (&Store, &Audit),
    (sessions, artifacts, vault): (&Sessions, &Artifacts, &Vault),
) -> Result<Engine, ServerError> {
    let services = Services {
        store: store.clone(),
        audit: audit.clone(),
        sessions: sessions.clone(),
        http: HttpClient::new(policy.clone()).map_err(ServerError::HttpClient)?,
        services_http: HttpClient::for_services().map_err(ServerError::HttpClient)?,
        endpoints: Arc::new(Endpoints {
            docling: config.documents.endpoint(),
            ..config.services.endpoints()
        }),
        artifacts: artifacts.clone(),
        vault: vault.clone(),
        command_packs: config.command_packs_dir.clone(),
        disabled: config.pack_switches.disabled(),
        clock: clock.clone(),
        models: models.clone(),
        runtime: runtime.clone(),
        known_hosts: config.services.ssh_known_hosts.clone(),
        runs,
    };
    Ok(Engine::new(services, EngineLimits::default()))
}
