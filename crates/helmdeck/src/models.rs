//! `helmdeck models …`: models that agents and SDKs call through the server.

use std::error::Error;

use helmdeck_wire::{
    model::{KeyTest, ModelList, ModelUsage, ProviderKey, ProviderKeyList, ProviderList},
    vault::CredentialSource,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::{
    local::Config,
    prompt::read_secret,
    remote::Remote,
    server_choice::ServerArgs,
    table::Table,
    tools::{call_tool, print_json},
};

/// What to do with models.
#[derive(clap::Subcommand)]
pub enum Action {
    /// List models that can be called, with prices.
    List(ListArgs),
    /// List providers of models, and whether they have a key.
    Providers(PlainArgs),
    /// Add or replace the key of a provider. It is read from standard input, or asked for.
    AddKey(KeyArgs),
    /// Delete your key of a provider.
    RemoveKey(KeyArgs),
    /// Ask a provider whether it accepts its key. Costs nothing.
    Test(KeyArgs),
    /// Show calls, tokens, cost and success rate by model.
    Usage(UsageArgs),
}

#[derive(clap::Args)]
pub struct ListArgs {
    /// Only models of this provider.
    provider: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(clap::Args)]
pub struct PlainArgs {
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(clap::Args)]
pub struct KeyArgs {
    /// The provider, such as openai; `helmdeck models providers` lists them.
    provider: String,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(clap::Args)]
pub struct UsageArgs {
    /// How far back: 24h, 30m or 7d.
    #[arg(long, value_name = "TIME", default_value = "24h")]
    window: String,
    /// Only this caller; only an admin sees others.
    #[arg(long, value_name = "SUBJECT")]
    caller: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

/// Runs the command.
pub fn run(config: &Config, action: Action) -> Result<(), Box<dyn Error>> {
    match action {
        Action::List(args) => list(&args.server.remote(config)?, &args),
        Action::Providers(args) => providers(&args.server.remote(config)?, args.json),
        Action::AddKey(args) => add_key(&args.server.remote(config)?, &args.provider),
        Action::RemoveKey(args) => {
            let server = args.server.remote(config)?;
            let Some(key) = own_key(&server, &args.provider)? else {
                return Err(format!("{} has no key that you can delete", args.provider).into());
            };
            call_tool(&server, "provider.key_delete", object(json!({ "id": key.id })))?;
            println!("Deleted the key of {}.", args.provider);
            Ok(())
        }
        Action::Test(args) => test(&args.server.remote(config)?, &args.provider),
        Action::Usage(args) => usage(&args.server.remote(config)?, &args),
    }
}

fn list(server: &Remote, args: &ListArgs) -> Result<(), Box<dyn Error>> {
    let answer = call_tool(server, "model.list", Map::new())?;
    if args.json {
        return print_json(&answer.body);
    }
    let list: ModelList = serde_json::from_slice(&answer.body)?;
    for problem in &list.problems {
        eprintln!("helmdeck: {}: {}", problem.provider, problem.message);
    }
    if let Some(hint) = list.hint {
        println!("{hint}.");
        return Ok(());
    }
    let mut table = Table::new(["MODEL", "CONTEXT", "INPUT $/M", "OUTPUT $/M"]);
    let wanted = |provider: &str| args.provider.as_ref().is_none_or(|it| it == provider);
    for model in list.models.into_iter().filter(|model| wanted(&model.provider)) {
        let context = model.context_tokens.map(|tokens| tokens.to_string());
        let (input, output) = (price(model.input_usd_per_mtok), price(model.output_usd_per_mtok));
        table.row([model.id, context.unwrap_or_default(), input, output]);
    }
    table.print()
}

fn price(price: Option<f64>) -> String {
    price.map(|price| price.to_string()).unwrap_or_default()
}

fn providers(server: &Remote, as_json: bool) -> Result<(), Box<dyn Error>> {
    let answer = call_tool(server, "provider.list", Map::new())?;
    if as_json {
        return print_json(&answer.body);
    }
    let list: ProviderList = serde_json::from_slice(&answer.body)?;
    let mut table = Table::new(["PROVIDER", "API", "KEY", "ADDRESS", ""]);
    for it in list.providers {
        let key = match (it.key, it.needs_key) {
            (Some(CredentialSource::Vault), _) => "vault",
            (Some(CredentialSource::Environment), _) => "environment",
            (None, true) => "missing",
            (None, false) => "not needed",
        };
        let api = it.families.join(", ");
        table.row([it.name, api, key.to_owned(), it.url, it.hint.unwrap_or_default()]);
    }
    table.print()
}

fn add_key(server: &Remote, provider: &str) -> Result<(), Box<dyn Error>> {
    let key = read_secret(&format!("Key of {provider}"), "the key")?;
    let done = match own_key(server, provider)? {
        Some(old) => {
            let body = json!({ "id": old.id, "key": key });
            call_tool(server, "provider.key_rotate", object(body))?;
            "Replaced"
        }
        None => {
            let body = json!({ "provider": provider, "key": key });
            call_tool(server, "provider.key_add", object(body))?;
            "Added"
        }
    };
    println!("{done} the key of {provider}.");
    test(server, provider)
}

/// The key in the vault that the caller manages: its own, or the only one.
fn own_key(server: &Remote, provider: &str) -> Result<Option<ProviderKey>, Box<dyn Error>> {
    let list: ProviderKeyList = call(server, "provider.key_list", json!({ "provider": provider }))?;
    let kept = list.keys.into_iter().filter(|key| key.source == CredentialSource::Vault);
    let mut kept: Vec<_> = kept.collect();
    match kept.len() {
        0 | 1 => Ok(kept.pop()),
        _ => Err(format!(
            "{provider} has keys of several owners: use `helmdeck vault list` and `helmdeck vault rotate`"
        )
        .into()),
    }
}

fn test(server: &Remote, provider: &str) -> Result<(), Box<dyn Error>> {
    let test: KeyTest = call(server, "provider.test", json!({ "provider": provider }))?;
    match test.error {
        None => println!("{provider} accepts it ({} ms).", test.latency_ms),
        Some(error) => return Err(error.into()),
    }
    Ok(())
}

fn usage(server: &Remote, args: &UsageArgs) -> Result<(), Box<dyn Error>> {
    let mut filter = object(json!({ "window": args.window }));
    if let Some(caller) = &args.caller {
        filter.insert("caller".to_owned(), json!(caller));
    }
    let answer = call_tool(server, "model.usage", filter)?;
    if args.json {
        return print_json(&answer.body);
    }
    let usage: ModelUsage = serde_json::from_slice(&answer.body)?;
    if usage.rows.is_empty() {
        println!("No calls of models in the last {}.", args.window);
        return Ok(());
    }
    let mut table =
        Table::new(["MODEL", "CALLS", "OK", "INPUT", "CACHED", "OUTPUT", "COST", "LATENCY"]);
    for row in usage.rows {
        table.row([
            format!("{}/{}", row.provider, row.model),
            row.total.to_string(),
            format!("{:.0} %", row.success_rate * 100.0),
            row.input_tokens.to_string(),
            row.cached_tokens.to_string(),
            row.output_tokens.to_string(),
            format!("${:.4}{}", row.cost_usd, if row.unpriced > 0 { "+" } else { "" }),
            format!("{} ms", row.avg_latency_ms),
        ]);
    }
    table.print()?;
    println!("\nTotal: ${:.4}", usage.cost_usd);
    Ok(())
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
