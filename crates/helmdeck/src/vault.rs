//! `helmdeck vault …`: credentials that agents use without seeing them.

use std::{error::Error, fs, path::PathBuf};

use clap::builder::PossibleValuesParser;
use helmdeck_wire::vault::{
    Credential, CredentialList, CredentialSource, CredentialType, GrantList, Rekeyed, UsageList,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::{
    local::Config,
    prompt::read_secret,
    remote::Remote,
    server_choice::ServerArgs,
    table::Table,
    tools::{call_tool, print_json},
};

/// What to do with credentials.
#[derive(clap::Subcommand)]
pub enum Action {
    /// List credentials, without their secrets.
    List(ListArgs),
    /// Add a credential. The secret is read from standard input, or asked for.
    Add(AddArgs),
    /// Replace the secret of a credential. It is read from standard input, or asked for.
    Rotate(OneArgs),
    /// Let the tokens of a subject use a credential; without --to, list who may.
    Grant(GrantArgs),
    /// Take back a grant.
    Revoke(RevokeArgs),
    /// List the newest attempts to use a credential.
    Usage(UsageArgs),
    /// Delete a credential.
    Delete(OneArgs),
    /// Replace the vault's key, and encrypt every credential with the new one.
    Rekey(RekeyArgs),
}

#[derive(clap::Args)]
pub struct ListArgs {
    /// Only this type.
    #[arg(long = "type", value_name = "TYPE", value_parser = types())]
    kind: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(clap::Args)]
pub struct AddArgs {
    /// Name for placeholders: `github-token` for ${vault:github-token}.
    name: String,
    /// The host that may receive it: api.example.com, or *.example.com for all subdomains.
    #[arg(long, value_name = "PATTERN")]
    host: String,
    /// The paths that may receive it: /v1 allows everything below [default: all].
    #[arg(long, value_name = "PREFIX")]
    path: Option<String>,
    /// What it is.
    #[arg(long = "type", value_name = "TYPE", default_value = "api_key", value_parser = types())]
    kind: String,
    /// Keys of the hosts that an SSH key may be used for, as in OpenSSH's known_hosts.
    #[arg(long, value_name = "FILE")]
    known_hosts: Option<PathBuf>,
    /// Who owns it [default: you]. Only an admin may name another.
    #[arg(long, value_name = "SUBJECT")]
    owner: Option<String>,
    /// Print the credential as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(clap::Args)]
pub struct OneArgs {
    /// Name or id of the credential.
    credential: String,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(clap::Args)]
pub struct GrantArgs {
    /// Name or id of the credential.
    credential: String,
    /// Subject of the tokens that may use it; * for everyone.
    #[arg(long, value_name = "SUBJECT")]
    to: Option<String>,
    /// Only tokens with this label.
    #[arg(long, value_name = "LABEL", requires = "to")]
    client: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(clap::Args)]
pub struct RevokeArgs {
    /// Name or id of the credential.
    credential: String,
    /// Subject of the grant.
    #[arg(long, value_name = "SUBJECT")]
    from: String,
    /// Label of the grant, if it has one.
    #[arg(long, value_name = "LABEL")]
    client: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(clap::Args)]
pub struct UsageArgs {
    /// Name or id of the credential.
    credential: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(clap::Args)]
pub struct RekeyArgs {
    #[command(flatten)]
    server: ServerArgs,
}

/// Runs the command.
pub fn run(config: &Config, action: Action) -> Result<(), Box<dyn Error>> {
    match action {
        Action::List(args) => list(&args.server.remote(config)?, &args),
        Action::Add(args) => add(&args.server.remote(config)?, &args),
        Action::Rotate(args) => rotate(&args.server.remote(config)?, &args.credential),
        Action::Grant(args) => grant(&args.server.remote(config)?, &args),
        Action::Revoke(args) => revoke(&args.server.remote(config)?, &args),
        Action::Usage(args) => usage(&args.server.remote(config)?, &args),
        Action::Delete(args) => {
            let server = args.server.remote(config)?;
            let id = find(&server, &args.credential)?.id;
            call_tool(&server, "vault.credential_delete", object(json!({ "id": id })))?;
            Ok(())
        }
        Action::Rekey(args) => {
            let done: Rekeyed = call(&args.server.remote(config)?, "vault.rekey", json!({}))?;
            let Rekeyed { key_version, credentials } = done;
            println!("Key {key_version} is in use. Encrypted credentials: {credentials}.");
            Ok(())
        }
    }
}

fn list(server: &Remote, args: &ListArgs) -> Result<(), Box<dyn Error>> {
    let filter = object(match &args.kind {
        Some(kind) => json!({ "type": kind }),
        None => json!({}),
    });
    let answer = call_tool(server, "vault.credential_list", filter)?;
    if args.json {
        return print_json(&answer.body);
    }
    let list: CredentialList = serde_json::from_slice(&answer.body)?;
    if list.credentials.is_empty() {
        println!("No credentials. Add one: helmdeck vault add NAME --host api.example.com");
        return Ok(());
    }
    let mut table = Table::new(["NAME", "TYPE", "HOST", "OWNER", "LAST USED", "ID"]);
    for it in list.credentials {
        let path = it.path_pattern.unwrap_or_default();
        let owner = match it.source {
            CredentialSource::Vault => it.owner,
            CredentialSource::Environment => "(environment)".to_owned(),
        };
        let used = it.last_used_at.map_or_else(|| "never".to_owned(), moment);
        let host = format!("{}{path}", it.host_pattern);
        table.row([it.name, it.kind.as_str().to_owned(), host, owner, used, it.id]);
    }
    table.print()
}

fn add(server: &Remote, args: &AddArgs) -> Result<(), Box<dyn Error>> {
    let AddArgs { name, host, path, kind, owner, .. } = args;
    let known_hosts = args.known_hosts.as_ref().map(fs::read_to_string).transpose()?;
    let secret = read_secret(&format!("Secret of {name}"), "the secret")?;
    let mut body = object(json!({
        "name": name, "type": kind, "host_pattern": host, "value": secret,
    }));
    for (field, value) in [("path_pattern", path), ("owner", owner)] {
        if let Some(value) = value {
            body.insert(field.to_owned(), json!(value));
        }
    }
    if let Some(known_hosts) = known_hosts {
        body.insert("metadata".to_owned(), json!({ "known_hosts": known_hosts }));
    }
    let answer = call_tool(server, "vault.credential_create", body)?;
    if args.json {
        return print_json(&answer.body);
    }
    let made: Credential = serde_json::from_slice(&answer.body)?;
    println!("Added {} for {}, to be used by {}.", made.name, made.host_pattern, made.owner);
    println!("Let others use it: helmdeck vault grant {} --to SUBJECT", made.name);
    Ok(())
}

fn rotate(server: &Remote, credential: &str) -> Result<(), Box<dyn Error>> {
    let it = find(server, credential)?;
    let secret = read_secret(&format!("New secret of {}", it.name), "the secret")?;
    let body = json!({ "id": it.id, "value": secret });
    let after: Credential = call(server, "vault.credential_rotate", body)?;
    let same = if after.fingerprint == it.fingerprint { " It is the same secret." } else { "" };
    println!("Rotated {}.{same}", after.name);
    Ok(())
}

fn grant(server: &Remote, args: &GrantArgs) -> Result<(), Box<dyn Error>> {
    let it = find(server, &args.credential)?;
    if let Some(subject) = &args.to {
        let body = json!({
            "id": it.id, "actor_subject": subject, "actor_client": args.client,
        });
        call_tool(server, "vault.grant_add", object(body))?;
    }
    let list: GrantList = call(server, "vault.grant_list", json!({ "id": it.id }))?;
    let mut table = Table::new(["SUBJECT", "CLIENT", "SINCE", "BY"]);
    for grant in list.grants {
        let client = grant.actor_client.unwrap_or_else(|| "(all)".to_owned());
        table.row([grant.actor_subject, client, moment(grant.created_at), grant.created_by]);
    }
    table.print()
}

fn revoke(server: &Remote, args: &RevokeArgs) -> Result<(), Box<dyn Error>> {
    let it = find(server, &args.credential)?;
    let body = json!({ "id": it.id, "subject": args.from, "client": args.client });
    call_tool(server, "vault.grant_remove", object(body))?;
    Ok(())
}

fn usage(server: &Remote, args: &UsageArgs) -> Result<(), Box<dyn Error>> {
    let it = find(server, &args.credential)?;
    let answer = call_tool(server, "vault.usage_list", object(json!({ "id": it.id })))?;
    if args.json {
        return print_json(&answer.body);
    }
    let list: UsageList = serde_json::from_slice(&answer.body)?;
    if list.usage.is_empty() {
        println!("{} has not been used.", it.name);
        return Ok(());
    }
    let mut table = Table::new(["TIME", "RESULT", "SUBJECT", "CLIENT", "HOST", "PATH"]);
    for it in list.usage {
        let result = it.result.as_str().to_owned();
        let (subject, client) = (it.actor_subject, it.actor_client);
        table.row([
            moment(it.timestamp),
            result,
            subject,
            client,
            it.host_matched,
            it.path_matched,
        ]);
    }
    table.print()
}

/// The credential with this id or name.
fn find(server: &Remote, credential: &str) -> Result<Credential, Box<dyn Error>> {
    let list: CredentialList = call(server, "vault.credential_list", json!({}))?;
    let is = |it: &Credential| it.id == credential || it.name == credential;
    let mut found: Vec<_> = list.credentials.into_iter().filter(is).collect();
    // A credential of the vault hides one of the environment with the same name.
    if found.len() > 1 {
        found.retain(|it| it.source == CredentialSource::Vault);
    }
    match (found.pop(), found.first()) {
        (Some(it), None) => Ok(it),
        (Some(it), Some(other)) => Err(format!(
            "{credential} belongs to {} and to {}: use an id of `helmdeck vault list`",
            other.owner, it.owner
        )
        .into()),
        (None, _) => {
            Err(format!("vault: {credential} not found: `helmdeck vault list` lists yours").into())
        }
    }
}

fn call<T: DeserializeOwned>(
    server: &Remote,
    tool: &str,
    arguments: Value,
) -> Result<T, Box<dyn Error>> {
    Ok(serde_json::from_slice(&call_tool(server, tool, object(arguments))?.body)?)
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

fn moment(at: OffsetDateTime) -> String {
    let at = at.replace_nanosecond(0).unwrap_or(at);
    at.format(&Rfc3339).unwrap_or_default()
}

fn types() -> PossibleValuesParser {
    PossibleValuesParser::new(CredentialType::ALL.map(CredentialType::as_str))
}
