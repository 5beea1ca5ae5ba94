//! Models: the APIs of OpenAI and Anthropic, and what callers use of them.

use helmdeck_wire::Scope;
use http::StatusCode;

use crate::{
    model_api,
    operation::{Access, Operation, get, post},
    routes::{models, providers},
    tool::{Nature, json_tool, tool},
};

use super::live::AnyObject;

/// The APIs that SDKs speak. Their errors have the shape of the vendor's.
pub fn compatible() -> Vec<Operation> {
    let access = Access::Needs(Scope::MODELS_USE);
    vec![
        post("/v1/chat/completions", access, "v1_chat_completions", model_api::chat)
            .doc(
                "OpenAI's Chat Completions API, for models of every provider: `provider/model`. See \
                 docs/models.md.",
            )
            .takes::<AnyObject>()
            .returns::<AnyObject>(),
        post("/v1/responses", access, "v1_responses", model_api::responses)
            .doc("OpenAI's Responses API, for models of every provider.")
            .takes::<AnyObject>()
            .returns::<AnyObject>(),
        post("/v1/messages", access, "v1_messages", model_api::messages)
            .doc("Anthropic's Messages API, for models of every provider.")
            .takes::<AnyObject>()
            .returns::<AnyObject>(),
        post("/v1/messages/count_tokens", access, "v1_count_tokens", model_api::count_tokens)
            .doc(
                "Count the tokens of a request of Anthropic's Messages API. For models of other \
                 providers, the count is an estimate.",
            )
            .takes::<AnyObject>()
            .returns::<AnyObject>(),
        post("/v1/embeddings", access, "v1_embeddings", model_api::embeddings)
            .doc("OpenAI's Embeddings API, for models of every provider that has embeddings.")
            .takes::<AnyObject>()
            .returns::<AnyObject>(),
        get("/v1/models", access, "v1_models", model_api::list)
            .doc(
                "List the models that the caller can use, as OpenAI's API does; as Anthropic's does if \
                 the request has the header `anthropic-version`.",
            )
            .returns::<AnyObject>(),
        get("/v1/models/{*id}", access, "v1_model", model_api::show)
            .doc("Show a model, in the same two forms.")
            .returns::<AnyObject>(),
    ]
}

/// Models, usage and budgets.
pub fn operations() -> Vec<Operation> {
    let (looks, keeps) = (Nature::default().reads(), Nature::default().changes_world());
    vec![
        json_tool("model.list", models::list)
            .doc("List the models that the caller can use now, with prices and context windows.")
            .scope(Scope::MODELS_USE)
            .nature(looks)
            .get("/api/v1/models", "list_models"),
        json_tool("model.usage", models::usage)
            .doc(
                "Sum up calls of models by provider and model: calls, success rate, tokens, cost and \
                 latency. An admin sees all callers, others themselves.",
            )
            .scope(Scope::MODELS_USE)
            .nature(looks)
            .get("/api/v1/models/usage", "model_usage"),
        json_tool("provider.stats", models::usage)
            .doc("The same as `GET /api/v1/models/usage`.")
            .scope(Scope::MODELS_USE)
            .nature(looks)
            .get("/api/v1/providers/stats", "provider_stats"),
        json_tool("model.usage_erase", models::erase)
            .doc("Delete all records of a caller's calls of models. Its budget starts anew.")
            .scope(Scope::ADMIN)
            .nature(keeps.destroys())
            .delete("/api/v1/models/usage", "erase_model_usage"),
        json_tool("records.erase", models::erase_records)
            .doc(
                "Delete what is recorded of a caller's work: calls of models, jobs and runs of vision \
                 that have ended, and its actions in the journals of sessions. The audit log stays.",
            )
            .scope(Scope::ADMIN)
            .nature(keeps.destroys())
            .delete("/api/v1/records", "erase_records"),
        json_tool("model.budget_show", models::own_budget)
            .doc("Show the caller's budget for models, and how much of it is used.")
            .scope(Scope::MODELS_USE)
            .nature(looks)
            .get("/api/v1/models/budget", "show_model_budget"),
        json_tool("model.budget_list", models::list_budgets)
            .doc("List callers with their own budget.")
            .scope(Scope::ADMIN)
            .nature(looks)
            .get("/api/v1/models/budgets", "list_model_budgets"),
        json_tool("model.budget_set", models::set_budget)
            .doc(
                "Set how many tokens and dollars a caller may use for models in any 24 hours. Without a \
                 field, there is no such limit.",
            )
            .scope(Scope::ADMIN)
            .nature(keeps.idempotent())
            .put("/api/v1/models/budgets/{caller}", "set_model_budget"),
        tool("model.budget_remove", models::remove_budget)
            .doc("Remove a caller's own budget. It has the budget of all callers again.")
            .scope(Scope::ADMIN)
            .nature(keeps.destroys())
            .delete("/api/v1/models/budgets/{caller}", "remove_model_budget"),
    ]
}

/// Providers and their keys. Their scopes are not those of agents.
pub fn providers() -> Vec<Operation> {
    let (looks, keeps) = (Nature::default().reads(), Nature::default().changes_world());
    vec![
        json_tool("provider.list", providers::list)
            .doc("List providers of models, and whether the caller has a key for them.")
            .scope(Scope::MODELS_USE)
            .nature(looks)
            .get("/api/v1/providers", "list_providers"),
        json_tool("provider.test", providers::test)
            .doc("Ask a provider whether it accepts the caller's key. Costs nothing.")
            .scope(Scope::MODELS_USE)
            .nature(looks)
            .post("/api/v1/providers/{provider}/test", "test_provider"),
        json_tool("provider.key_list", providers::list_keys)
            .doc("List keys of providers, without the keys themselves.")
            .scope(Scope::VAULT_READ)
            .nature(looks)
            .get("/api/v1/providers/keys", "list_provider_keys"),
        json_tool("provider.key_add", providers::add_key)
            .doc(
                "Add the key of a provider to the vault. One that an admin adds is for every caller with \
                 the scope `models:use`; others add keys for themselves, which come first.",
            )
            .scope(Scope::VAULT_WRITE)
            .nature(keeps)
            .post("/api/v1/providers/keys", "add_provider_key")
            .status(StatusCode::CREATED),
        json_tool("provider.key_show", providers::show_key)
            .doc("Show a key of a provider, without the key itself.")
            .scope(Scope::VAULT_READ)
            .nature(looks)
            .get("/api/v1/providers/keys/{id}", "show_provider_key"),
        json_tool("provider.key_rotate", providers::rotate_key)
            .doc("Replace a key of a provider. The next call uses the new one.")
            .scope(Scope::VAULT_WRITE)
            .nature(keeps)
            .post("/api/v1/providers/keys/{id}/rotate", "rotate_provider_key"),
        json_tool("provider.key_test", providers::test_key)
            .doc("Ask the provider of a key whether it accepts this key. Costs nothing.")
            .scope(Scope::VAULT_READ)
            .nature(looks)
            .post("/api/v1/providers/keys/{id}/test", "test_provider_key"),
        tool("provider.key_delete", providers::delete_key)
            .doc("Delete a key of a provider. The next call does without it.")
            .scope(Scope::VAULT_WRITE)
            .nature(keeps.destroys())
            .delete("/api/v1/providers/keys/{id}", "delete_provider_key"),
    ]
}
