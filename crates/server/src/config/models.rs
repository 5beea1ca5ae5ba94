//! Settings of models: providers, keys, prices, budgets and deadlines.

use std::time::Duration;

use helmdeck_gateway::{
    Deadlines, Family, ModelId, Models, PinnedModel, Provider, Rule, Settings, nanos,
    provider::KNOWN,
};
use helmdeck_store::ModelBudgetRow;

use super::{
    artifacts,
    endpoints::address,
    layers::{ConfigError, Layers},
    vault::{SecretSetting, secret},
    whole,
};

/// Providers of models, and what callers may use of them.
#[derive(Debug, Clone)]
pub struct ModelSettings {
    /// `HELMDECK_ANTHROPIC_API_KEY`, `HELMDECK_OPENAI_API_KEY`, `HELMDECK_GEMINI_API_KEY`,
    /// `HELMDECK_OPENROUTER_API_KEY`, `HELMDECK_DEEPSEEK_API_KEY`, `HELMDECK_GROQ_API_KEY`,
    /// `HELMDECK_MISTRAL_API_KEY` and `HELMDECK_FIREWORKS_API_KEY`: keys of providers of models (see
    /// [models](models.md)); each stands in for a credential such as `openai-key`, and every caller with
    /// the scope `models:use` can use it. Default: none.
    keys: Vec<(&'static Variables, SecretSetting)>,
    /// `HELMDECK_ANTHROPIC_BASE_URL`, `HELMDECK_OPENAI_BASE_URL`, `HELMDECK_GEMINI_BASE_URL`,
    /// `HELMDECK_OPENROUTER_BASE_URL`, `HELMDECK_DEEPSEEK_BASE_URL`, `HELMDECK_GROQ_BASE_URL`,
    /// `HELMDECK_MISTRAL_BASE_URL`, `HELMDECK_FIREWORKS_BASE_URL` and `HELMDECK_OLLAMA_BASE_URL`:
    /// other addresses of these providers, such as that of a proxy; they may be in a private network.
    /// Default: the public ones, and `http://127.0.0.1:11434` for Ollama.
    addresses: Vec<(&'static str, Option<String>)>,
    /// `HELMDECK_MODEL_PROVIDERS`: other providers that speak OpenAI's API, as `name=address`. A
    /// family before the address, as in `name=messages+https://…`, says that one speaks another API:
    /// `chat`, `responses`, `messages` or `gemini`. Default: none.
    others: Vec<(String, Family, String)>,
    /// `HELMDECK_DEFAULT_MODEL`: the model for requests that name none. Default `openrouter/auto`.
    default_model: ModelId,
    /// `HELMDECK_VISION_MODEL`: the model of vision for requests that name none, such as
    /// `anthropic/claude-sonnet-4-5-20250929`. A dated version keeps runs comparable. Default:
    /// `HELMDECK_DEFAULT_MODEL`.
    vision_model: Option<ModelId>,
    /// `HELMDECK_GATEWAY_FALLBACK_JSON`: models that are called when another one fails:
    /// `[{"primary": "provider/model", "fallbacks": ["provider/model"], "triggers": ["rate_limit"]}]`.
    /// A fallback `{"model": "provider/model", "triggers": ["timeout"]}` has its own triggers. They are `rate_limit`, `error` and `timeout`; a call that timed out may have been paid for.
    /// Default: `openai/gpt-4o-mini` after `openrouter/auto`, for `rate_limit` and `error`.
    rules: (String, Vec<Rule>),
    /// `HELMDECK_MODEL_PRICES_JSON`: prices that replace or extend the built-in ones, in dollars for a
    /// million tokens: `{"provider/model": {"input": 1.5, "output": 6, "cached": 0.15}}`. Default: none.
    prices: (String, Models),
    /// `HELMDECK_MODEL_DAILY_TOKENS`: how many tokens a caller may use in 24 hours, unless an admin sets
    /// another budget for it; 0 for no limit. Default 0.
    daily_tokens: u64,
    /// `HELMDECK_MODEL_DAILY_USD`: how many dollars a caller may use in 24 hours, unless an admin sets
    /// another budget for it; 0 for no limit. Default 0.
    daily_usd: f64,
    /// `HELMDECK_MODEL_TIMEOUT_S`: how long a call of a model may take that is not streamed, in seconds.
    /// Default 600.
    timeout_s: u64,
    /// `HELMDECK_MODEL_IDLE_TIMEOUT_S`: how long a streamed answer may be silent, at its beginning and
    /// between two events, in seconds. Default 120.
    idle_timeout_s: u64,
    /// `HELMDECK_MODEL_USAGE_RETENTION`: how long records of calls are kept, at least a day; 0 keeps
    /// them. They have no prompts and no answers. Default 90d.
    pub retention: Option<Duration>,
}

/// The settings of a key.
#[derive(Debug)]
struct Variables {
    provider: &'static str,
    key: &'static str,
    file: &'static str,
}

const fn variables(provider: &'static str, key: &'static str, file: &'static str) -> Variables {
    Variables { provider, key, file }
}

/// `HELMDECK_ANTHROPIC_API_KEY_FILE`, `HELMDECK_OPENAI_API_KEY_FILE`,
/// `HELMDECK_GEMINI_API_KEY_FILE`, `HELMDECK_OPENROUTER_API_KEY_FILE`,
/// `HELMDECK_DEEPSEEK_API_KEY_FILE`, `HELMDECK_GROQ_API_KEY_FILE`,
/// `HELMDECK_MISTRAL_API_KEY_FILE` and `HELMDECK_FIREWORKS_API_KEY_FILE`: files with these keys.
/// Default: none.
static KEYS: [Variables; 8] = [
    variables("anthropic", "anthropic_api_key", "anthropic_api_key_file"),
    variables("openai", "openai_api_key", "openai_api_key_file"),
    variables("gemini", "gemini_api_key", "gemini_api_key_file"),
    variables("openrouter", "openrouter_api_key", "openrouter_api_key_file"),
    variables("deepseek", "deepseek_api_key", "deepseek_api_key_file"),
    variables("groq", "groq_api_key", "groq_api_key_file"),
    variables("mistral", "mistral_api_key", "mistral_api_key_file"),
    variables("fireworks", "fireworks_api_key", "fireworks_api_key_file"),
];

const ADDRESSES: [(&str, &str); 9] = [
    ("anthropic", "anthropic_base_url"),
    ("openai", "openai_base_url"),
    ("gemini", "gemini_base_url"),
    ("openrouter", "openrouter_base_url"),
    ("deepseek", "deepseek_base_url"),
    ("groq", "groq_base_url"),
    ("mistral", "mistral_base_url"),
    ("fireworks", "fireworks_base_url"),
    ("ollama", "ollama_base_url"),
];

const DAY: u64 = 24 * 60 * 60;

impl ModelSettings {
    pub(super) fn read(layers: &mut Layers) -> Result<Self, ConfigError> {
        let mut keys = Vec::new();
        for names in &KEYS {
            let some = |text: &str| !text.trim().is_empty();
            keys.push((names, secret(layers, [names.key, names.file], "not empty", some)?));
        }
        let mut addresses = Vec::new();
        for (provider, key) in ADDRESSES {
            let expected = "an address that begins with http:// or https://";
            let optional = |text: &str| {
                if text.is_empty() { Some(None) } else { address(text).map(Some) }
            };
            addresses.push((provider, layers.value(key, expected, optional, || None)?));
        }
        let model = "a model such as openai/gpt-4o-mini";
        let default = || ModelId { provider: "openrouter".into(), model: "auto".into() };
        let parse = |text: &str| ModelId::parse(text).ok();
        Ok(Self {
            keys,
            addresses,
            others: layers.value(
                "model_providers",
                "names and addresses such as vllm=http://gpu:8000/v1, separated by commas",
                others,
                Vec::new,
            )?,
            default_model: layers.value("default_model", model, parse, default)?,
            vision_model: layers.value(
                "vision_model",
                model,
                |text| if text.is_empty() { Some(None) } else { parse(text).map(Some) },
                || None,
            )?,
            rules: layers.value(
                "gateway_fallback_json",
                "a JSON list of rules with primary, fallbacks and triggers",
                |text| Rule::list(text).ok().map(|rules| (text.to_owned(), rules)),
                || (String::new(), Rule::standard().unwrap_or_default()),
            )?,
            prices: layers.value(
                "model_prices_json",
                "a JSON object of models with input and output prices",
                |text| Some((text.to_owned(), Models::built_in().with_prices(text).ok()?)),
                || (String::new(), Models::built_in()),
            )?,
            daily_tokens: layers.value(
                "model_daily_tokens",
                "a number of tokens, or 0 for no limit",
                |text| whole(text, 0, 1_000_000_000_000),
                || 0,
            )?,
            daily_usd: layers.value(
                "model_daily_usd",
                "a number of dollars such as 2.50, or 0 for no limit",
                |text| whole(text, 0.0, 1_000_000.0),
                || 0.0,
            )?,
            timeout_s: seconds(layers, "model_timeout_s", 600)?,
            idle_timeout_s: seconds(layers, "model_idle_timeout_s", 120)?,
            retention: layers.value(
                "model_usage_retention",
                "a time such as 90d, at least 1d, or 0 for forever",
                retention,
                || Some(Duration::from_secs(90 * DAY)),
            )?,
        })
    }

    /// The settings of the gateway.
    pub(crate) fn gateway(&self) -> Settings {
        let known = KNOWN.iter().map(|known| known.provider(self.address(known.name)));
        let others = self.others.iter();
        let others = others.map(|(name, family, url)| Provider::custom(name, *family, url));
        Settings {
            providers: known.chain(others).collect(),
            default_model: self.default_model.clone(),
            vision_model: self.vision_model.clone(),
            pinned: PinnedModel::default(),
            rules: self.rules.1.clone(),
            models: self.prices.1.clone(),
            budget: ModelBudgetRow {
                tokens: Some(self.daily_tokens).filter(|tokens| *tokens > 0),
                cost_nanos: Some(nanos(self.daily_usd)).filter(|nanos| *nanos > 0),
            },
            deadlines: Deadlines {
                whole: Duration::from_secs(self.timeout_s),
                idle: Duration::from_secs(self.idle_timeout_s),
                ..Deadlines::default()
            },
        }
    }

    fn address(&self, provider: &str) -> Option<&str> {
        let found = self.addresses.iter().find(|(name, _)| *name == provider);
        found.and_then(|(_, address)| address.as_deref())
    }

    /// The key that stands in for a credential, and the host that may receive it.
    pub(super) fn key(&self, credential: &str) -> Option<(&SecretSetting, String)> {
        let provider = credential.strip_suffix("-key")?;
        let (_, setting) = self.keys.iter().find(|(names, _)| names.provider == provider)?;
        let known = KNOWN.iter().find(|known| known.name == provider)?;
        Some((setting, known.provider(self.address(provider)).host_pattern()))
    }

    /// The secret setting with this key, also if it names a file.
    pub(super) fn secret(&self, key: &str) -> Option<&SecretSetting> {
        let found = self.keys.iter().find(|(names, _)| names.key == key || names.file == key);
        found.map(|(_, setting)| setting)
    }

    /// A value as text.
    pub(super) fn shown(&self, key: &str) -> Option<String> {
        if let Some((_, address)) =
            ADDRESSES.iter().find(|(_, it)| *it == key).map(|(name, _)| (name, self.address(name)))
        {
            return Some(address.unwrap_or_default().to_owned());
        }
        let other = |(name, family, url): &(String, Family, String)| match family {
            Family::Chat => format!("{name}={url}"),
            family => format!("{name}={}+{url}", family.as_str()),
        };
        Some(match key {
            "model_providers" => self.others.iter().map(other).collect::<Vec<_>>().join(","),
            "default_model" => self.default_model.to_string(),
            "vision_model" => {
                self.vision_model.as_ref().map(ToString::to_string).unwrap_or_default()
            }
            "gateway_fallback_json" => self.rules.0.clone(),
            "model_prices_json" => self.prices.0.clone(),
            "model_usage_retention" => self.retention.map_or("0".to_owned(), artifacts::show),
            _ => return None,
        })
    }

    /// A value that is a number.
    pub(super) fn number(&self, key: &str) -> Option<String> {
        Some(match key {
            "model_daily_tokens" => self.daily_tokens.to_string(),
            "model_daily_usd" => self.daily_usd.to_string(),
            "model_timeout_s" => self.timeout_s.to_string(),
            "model_idle_timeout_s" => self.idle_timeout_s.to_string(),
            _ => return None,
        })
    }
}

fn seconds(layers: &mut Layers, key: &'static str, default: u64) -> Result<u64, ConfigError> {
    layers.value(key, "seconds from 1 to 86400", |text| whole(text, 1, DAY), || default)
}

fn retention(text: &str) -> Option<Option<Duration>> {
    if text.trim() == "0" {
        return Some(None);
    }
    let time = artifacts::duration(text)?;
    (time.as_secs() >= DAY).then_some(Some(time))
}

/// `vllm=http://gpu:8000/v1,relay=messages+https://relay.example`.
fn others(text: &str) -> Option<Vec<(String, Family, String)>> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let other = |part: &str| {
        let (name, url) = part.split_once('=')?;
        let (name, url) = (name.trim(), url.trim());
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        let known = KNOWN.iter().any(|known| known.name == name);
        let starts = name.starts_with(|c: char| c.is_ascii_lowercase());
        if known || !starts || name.len() > 40 || !name.chars().all(plain) {
            return None;
        }
        let family =
            url.split_once('+').and_then(|(name, rest)| Some((Family::named(name)?, rest)));
        let (family, url) = family.unwrap_or((Family::Chat, url));
        Some((name.to_owned(), family, address(url)?))
    };
    parts.map(other).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    fn load(env: &[(&str, &str)]) -> Result<Config, ConfigError> {
        let env = env.iter().copied().chain([("HELMDECK_DATA_DIR", "/nonexistent")]);
        Config::load(None, env.map(|(name, value)| (name.to_owned(), value.to_owned())))
    }

    #[test]
    fn providers_are_the_known_ones_and_those_of_the_operator() {
        let env = [
            ("HELMDECK_OPENAI_BASE_URL", "http://localhost:4000"),
            (
                "HELMDECK_MODEL_PROVIDERS",
                "vllm=http://gpu:8000/v1, relay=messages+https://r.example",
            ),
        ];
        let settings = load(&env).unwrap().models.gateway();
        let url = |name: &str| settings.provider(name).unwrap().url.clone();
        assert_eq!(url("openai"), "http://127.0.0.1:4000/v1");
        assert_eq!(url("anthropic"), "https://api.anthropic.com/v1");
        assert_eq!(url("vllm"), "http://gpu:8000/v1");
        assert_eq!(settings.provider("relay").unwrap().families, [Family::Messages]);
        assert_eq!(settings.default_model.to_string(), "openrouter/auto");
        for bad in ["vllm", "openai=http://x", "X=http://x", "a=ftp://x", "a=odd+http://x"] {
            assert!(load(&[("HELMDECK_MODEL_PROVIDERS", bad)]).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_key_in_a_variable_is_for_the_address_of_its_provider() {
        let env = [
            ("HELMDECK_OPENAI_API_KEY", "sk-hush"),
            ("HELMDECK_OPENAI_BASE_URL", "http://127.0.0.1:4000/v1"),
            ("HELMDECK_GROQ_API_KEY", "gsk-hush"),
        ];
        let config = load(&env).unwrap();
        let keys = config.vault_setup().unwrap().environment;
        let keys: Vec<_> = keys.iter().map(|it| (it.known.name, it.host.as_str())).collect();
        assert_eq!(keys, [("openai-key", "127.0.0.1:4000"), ("groq-key", "api.groq.com")]);
        assert!(!config.show().contains("hush"), "{}", config.show());
    }

    #[test]
    fn what_is_wrong_is_refused_when_the_server_starts() {
        for (name, value) in [
            ("HELMDECK_GATEWAY_FALLBACK_JSON", "{"),
            ("HELMDECK_MODEL_PRICES_JSON", r#"{"x":1}"#),
            ("HELMDECK_MODEL_DAILY_USD", "-1"),
            ("HELMDECK_MODEL_USAGE_RETENTION", "1h"),
            ("HELMDECK_DEFAULT_MODEL", "gpt-4o"),
            ("HELMDECK_VISION_MODEL", "claude"),
            ("HELMDECK_MODEL_TIMEOUT_S", "0"),
        ] {
            assert!(load(&[(name, value)]).is_err(), "{name}");
        }
        let budget = load(&[("HELMDECK_MODEL_DAILY_USD", "2.5")]).unwrap().models.gateway().budget;
        assert_eq!((budget.tokens, budget.cost_nanos), (None, Some(2_500_000_000)));
    }
}
