//! Credentials of the vault. Their scopes are not those of agents.

use helmdeck_wire::Scope;
use http::StatusCode;

use crate::{
    operation::Operation,
    routes::vault,
    tool::{Nature, json_tool, tool},
};

/// Credentials, grants and usage.
pub fn credentials() -> Vec<Operation> {
    let (looks, keeps) = (Nature::default().reads(), Nature::default().changes_world());
    vec![
        json_tool("vault.credential_list", vault::list_credentials)
            .doc(
                "List the caller's credentials, and those in variables of the server; all \
                 credentials for an admin. Secrets are never returned.",
            )
            .scope(Scope::VAULT_READ)
            .nature(looks)
            .get("/api/v1/vault/credentials", "list_credentials"),
        json_tool("vault.credential_create", vault::create_credential)
            .doc(
                "Add a credential. It is granted to its owner only, and sent to its host only.",
            )
            .scope(Scope::VAULT_WRITE)
            .nature(keeps)
            .post("/api/v1/vault/credentials", "create_credential")
            .status(StatusCode::CREATED),
        json_tool("vault.credential_show", vault::show_credential)
            .doc("Show a credential, without its secret.")
            .scope(Scope::VAULT_READ)
            .nature(looks)
            .get("/api/v1/vault/credentials/{id}", "show_credential"),
        json_tool("vault.credential_rotate", vault::rotate_credential)
            .doc("Replace the secret of a credential. Grants stay.")
            .scope(Scope::VAULT_WRITE)
            .nature(keeps)
            .put("/api/v1/vault/credentials/{id}", "rotate_credential"),
        tool("vault.credential_delete", vault::delete_credential)
            .doc("Delete a credential with its grants and usage.")
            .scope(Scope::VAULT_WRITE)
            .nature(keeps.destroys())
            .delete("/api/v1/vault/credentials/{id}", "delete_credential"),
        json_tool("vault.grant_list", vault::list_grants)
            .doc("List who may use a credential.")
            .scope(Scope::VAULT_READ)
            .nature(looks)
            .get("/api/v1/vault/credentials/{id}/grants", "list_grants"),
        json_tool("vault.grant_add", vault::add_grant)
            .doc(
                "Let the tokens of a subject use a credential, or only those with a label. Only an \
                 admin can grant it to everyone, with the subject `*`.",
            )
            .scope(Scope::VAULT_WRITE)
            .nature(keeps.idempotent())
            .post("/api/v1/vault/credentials/{id}/grants", "add_grant")
            .status(StatusCode::CREATED),
        tool("vault.grant_remove", vault::remove_grant)
            .doc("Take back a grant.")
            .scope(Scope::VAULT_WRITE)
            .nature(keeps.destroys())
            .delete("/api/v1/vault/credentials/{id}/grants/{subject}", "remove_grant"),
        json_tool("vault.usage_list", vault::list_usage)
            .doc("List the newest 100 attempts to use a credential, allowed and refused.")
            .scope(Scope::VAULT_READ)
            .nature(looks)
            .get("/api/v1/vault/credentials/{id}/usage", "list_usage"),
        json_tool("vault.rekey", vault::rekey)
            .doc(
                "Replace the vault's key, and encrypt every credential with the new one. Not possible \
                 if the key is configured.",
            )
            .scope(Scope::ADMIN)
            .nature(keeps)
            .post("/api/v1/vault/rekey", "rekey_vault"),
    ]
}
