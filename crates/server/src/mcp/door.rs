//! The methods of the protocol, for one connection.

use std::{borrow::Cow, collections::HashMap, sync::Arc};

use helmdeck_store::AuditEntry;
use helmdeck_task::boxed;
use parking_lot::Mutex;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskParams, CustomRequest, CustomResult,
        GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult, Implementation,
        ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
        PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
        ReadResourceResult, ServerCapabilities, ServerConfig, SetLevelRequestMethod,
        SubscribeRequestParams, SubscriptionFilter, Tool as McpTool, UnsubscribeRequestParams,
        UpdateTaskParams,
    },
    service::{NotificationContext, Peer, RequestContext, SubscriptionContext},
};
use serde_json::Map;
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use super::{
    call,
    catalogue::Catalogue,
    client::Client,
    fixtures::Fixtures,
    instructions::INSTRUCTIONS,
    legacy_tasks, prompts, resources,
    subscriptions::{self, Change},
    tasks,
};
use crate::{App, mcp_clients::SeenClient};

/// How many changes may wait for a slow client; it misses none, because they say only what to read.
const WAITING: usize = 16;

/// The door, as one connection sees it.
#[derive(Clone)]
pub struct Door {
    app: App,
    /// What a client of a protocol version with sessions follows.
    followed: Arc<Mutex<Followed>>,
}

#[derive(Default)]
struct Followed {
    changes: Option<mpsc::Sender<Change>>,
    tasks: Vec<AbortOnDropHandle<()>>,
    resources: HashMap<String, AbortOnDropHandle<()>>,
}

impl Followed {
    /// Where to send changes for the client, which hears of lists from then on.
    fn telling(&mut self, client: &Client, peer: Peer<RoleServer>) -> mpsc::Sender<Change> {
        if let Some(changes) = &self.changes {
            return changes.clone();
        }
        let (changes, waiting) = mpsc::channel(WAITING);
        let telling = helmdeck_task::spawn(subscriptions::tell(peer, waiting));
        self.tasks = vec![
            AbortOnDropHandle::new(telling),
            subscriptions::follow_list(client, Change::List, changes.clone()),
            subscriptions::follow_tools(client, changes.clone()),
        ];
        self.changes = Some(changes.clone());
        changes
    }
}

impl Door {
    pub fn new(app: App) -> Self {
        Self { app, followed: Arc::default() }
    }

    fn client(&self, context: &RequestContext<RoleServer>) -> Result<Client, ErrorData> {
        let client = Client::of(&self.app, context)?;
        if let Some(info) = &client.info {
            let protocol = context.protocol_version().map(|version| version.to_string());
            let seen = SeenClient {
                name: info.name.clone(),
                version: info.version.clone(),
                protocol_version: protocol.unwrap_or_default(),
                transport: client.transport.to_owned(),
            };
            if let Some(news) = self.app.mcp_clients.seen(&client.claims, seen) {
                let entry = AuditEntry::new("mcp.client_connected").actor(&client.caller);
                let entry = entry.target(&news.name).detail("version", news.version);
                let entry = entry.detail("protocol_version", news.protocol_version);
                self.app.audit.record(entry.detail("transport", news.transport));
            }
        }
        Ok(client)
    }

    /// What a test has added.
    fn fixtures(&self) -> Option<&dyn Fixtures> {
        self.app.mcp.fixtures.get().map(Arc::as_ref)
    }
}

/// Long futures are boxed: the library compiles this for each of its transports.
impl ServerHandler for Door {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_prompts()
            .enable_tasks()
            .build();
        capabilities.logging = self.fixtures().map(|_| Map::new());
        let me = Implementation::new("helmdeck", env!("CARGO_PKG_VERSION"))
            .with_title("helmdeck")
            .with_description("A browser and a Linux desktop for agents, which people can watch.");
        ServerConfig::new(capabilities).with_server_info(me).with_instructions(INSTRUCTIONS)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS)
    }

    fn get_tool(&self, name: &str) -> Option<McpTool> {
        let added = self.fixtures().map(Fixtures::tools).unwrap_or_default();
        let added = added.into_iter().find(|tool| tool.name == name);
        added.or_else(|| Catalogue::of(&self.app).find(name).map(|entry| entry.whole().clone()))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let parts = context.extensions.get::<::http::request::Parts>();
        let Some(client) = parts.and_then(|parts| Client::of_parts(&self.app, parts)) else {
            return;
        };
        self.followed.lock().telling(&client, context.peer);
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let client = self.client(&context)?.with_models().await;
        let mut tools = Catalogue::of(&self.app).listed(&client);
        tools.extend(self.fixtures().into_iter().flat_map(Fixtures::tools));
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let client = self.client(&context)?;
        if let Some(fixtures) = self.fixtures()
            && let Some(answer) = fixtures.call_tool(&request, &context).await
        {
            return answer;
        }
        let args = request.arguments.unwrap_or_default();
        boxed(call::call(&client, &request.name, args, &context)).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        boxed(tasks::get(&self.client(&context)?, &request.task_id)).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        boxed(tasks::update(&self.client(&context)?, &request.task_id)).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        boxed(tasks::cancel(&self.client(&context)?, &request.task_id)).await.map(drop)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        boxed(legacy_tasks::answer(&self.client(&context)?, &request, &context)).await
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut prompts = prompts::list();
        prompts.extend(self.fixtures().into_iter().flat_map(Fixtures::prompts));
        Ok(ListPromptsResult::with_all_items(prompts))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        match self.fixtures().and_then(|fixtures| fixtures.get_prompt(&request)) {
            Some(answer) => answer,
            None => Ok(prompts::get(&request.name, request.arguments.as_ref())?.into()),
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let client = self.client(&context)?;
        let mut resources = boxed(resources::list(&client)).await;
        resources.extend(self.fixtures().into_iter().flat_map(Fixtures::resources));
        Ok(ListResourcesResult::with_all_items(resources))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut templates = resources::templates();
        templates.extend(self.fixtures().into_iter().flat_map(Fixtures::templates));
        Ok(ListResourceTemplatesResult::with_all_items(templates))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let client = self.client(&context)?;
        match self.fixtures().and_then(|fixtures| fixtures.read_resource(&request.uri)) {
            Some(content) => Ok(ReadResourceResult::new(vec![content]).into()),
            None => Ok(boxed(resources::read(&client, &request.uri)).await?.into()),
        }
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let client = self.client(&context)?;
        if self.fixtures().is_some_and(|it| it.read_resource(&request.uri).is_some()) {
            return Ok(());
        }
        // Also answers whether the client may read it.
        resources::readable(&client, &request.uri)?;
        if !subscriptions::changes(&request.uri) {
            let message = "this resource never tells that it changed: read it again";
            return Err(ErrorData::invalid_params(message, None));
        }
        let mut followed = self.followed.lock();
        // A client may follow a resource before it says that it is initialized.
        let changes = followed.telling(&client, context.peer);
        if followed.resources.len() >= subscriptions::MOST {
            let message = format!("at most {} subscriptions: end one first", subscriptions::MOST);
            return Err(ErrorData::invalid_params(message, None));
        }
        if let Some(task) = subscriptions::follow(&client, &request.uri, changes) {
            followed.resources.insert(request.uri, task);
        }
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.followed.lock().resources.remove(&request.uri);
        Ok(())
    }

    #[expect(deprecated, reason = "protocol versions with sessions have it")]
    async fn set_level(
        &self,
        _: rmcp::model::SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let logs = self.fixtures().is_some();
        logs.then_some(()).ok_or_else(ErrorData::method_not_found::<SetLevelRequestMethod>)
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        // Prompts never change, and tests have their own resources.
        let mut accepted = requested.clone();
        accepted.prompts_list_changed = None;
        if self.fixtures().is_none()
            && let Some(uris) = &mut accepted.resource_subscriptions
        {
            uris.retain(|uri| subscriptions::changes(uri));
            uris.truncate(subscriptions::MOST);
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let client = self.client(context.request_context())?;
        let (changes, mut waiting) = mpsc::channel(WAITING);
        let filter = context.accepted().clone();
        let mut tasks = Vec::new();
        if filter.resources_list_changed == Some(true) {
            tasks.push(subscriptions::follow_list(&client, Change::List, changes.clone()));
        }
        if filter.tools_list_changed == Some(true) {
            tasks.push(subscriptions::follow_tools(&client, changes.clone()));
        }
        for uri in filter.resource_subscriptions.iter().flatten().take(subscriptions::MOST) {
            tasks.extend(subscriptions::follow(&client, uri, changes.clone()));
        }
        loop {
            let change = tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = self.app.closing.cancelled() => return Ok(()),
                change = waiting.recv() => change,
            };
            let sent = match change {
                Some(Change::List) => context.sink().notify_resource_list_changed().await,
                Some(Change::Tools) => context.sink().notify_tool_list_changed().await,
                Some(Change::Resource(uri)) => context.sink().notify_resource_updated(uri).await,
                None => return Ok(()),
            };
            if sent.is_err() {
                return Ok(());
            }
        }
    }
}
