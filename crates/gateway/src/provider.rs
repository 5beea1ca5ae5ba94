//! Providers of models: where they are, how they speak, and how they check keys.

use helmdeck_store::vault::Destination;

use crate::{Family, chat::Quirks};

/// A provider.
#[derive(Debug, Clone)]
pub struct Provider {
    /// Its name, the first part of model ids.
    pub name: String,
    /// Its address with the version, without a slash at the end.
    pub url: String,
    /// Whether the operator chose the address. It may then be in a private network.
    pub is_configured: bool,
    /// How it speaks; the first is for clients that speak otherwise.
    pub families: Vec<Family>,
    /// How it takes keys.
    pub auth: Auth,
    /// Whether it needs a key.
    pub needs_key: bool,
    /// Whether it runs on the operator's machines, for no money.
    pub is_local: bool,
    /// How its version of Chat differs.
    pub quirks: Quirks,
    /// A path that answers only with a valid key, and for no money.
    pub key_test: &'static str,
}

/// How a provider takes keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Auth {
    /// `Authorization: Bearer`.
    Bearer,
    /// `x-api-key`, with the version of the API.
    Anthropic,
    /// `x-goog-api-key`.
    Google,
}

/// A provider that everyone knows.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// Its name.
    pub name: &'static str,
    /// Its address.
    pub url: &'static str,
    families: &'static [Family],
    auth: Auth,
    needs_key: bool,
    quirks: Quirks,
    key_test: &'static str,
}

const CHAT: Known = Known {
    name: "",
    url: "",
    families: &[Family::Chat],
    auth: Auth::Bearer,
    needs_key: true,
    quirks: Quirks { max_tokens: "max_tokens", asks_for_usage: true },
    key_test: "/models",
};

/// The providers that everyone knows.
pub const KNOWN: [Known; 9] = [
    Known {
        name: "anthropic",
        url: "https://api.anthropic.com/v1",
        families: &[Family::Messages],
        auth: Auth::Anthropic,
        ..CHAT
    },
    Known {
        name: "openai",
        url: "https://api.openai.com/v1",
        families: &[Family::Chat, Family::Responses],
        // Its newer models refuse the old name.
        quirks: Quirks { max_tokens: "max_completion_tokens", asks_for_usage: true },
        ..CHAT
    },
    Known {
        name: "gemini",
        url: "https://generativelanguage.googleapis.com/v1beta",
        families: &[Family::Gemini],
        auth: Auth::Google,
        ..CHAT
    },
    Known { name: "ollama", url: "http://127.0.0.1:11434/v1", needs_key: false, ..CHAT },
    Known {
        name: "openrouter",
        url: "https://openrouter.ai/api/v1",
        families: &[Family::Chat, Family::Messages],
        // Its list of models is public.
        key_test: "/key",
        ..CHAT
    },
    Known { name: "deepseek", url: "https://api.deepseek.com/v1", ..CHAT },
    Known { name: "groq", url: "https://api.groq.com/openai/v1", ..CHAT },
    Known {
        name: "mistral",
        url: "https://api.mistral.ai/v1",
        // It refuses fields that it does not know, and streams usage unasked.
        quirks: Quirks { max_tokens: "max_tokens", asks_for_usage: false },
        ..CHAT
    },
    Known { name: "fireworks", url: "https://api.fireworks.ai/inference/v1", ..CHAT },
];

impl Known {
    /// The provider at its own address, or at one that the operator chose.
    pub fn provider(&self, address: Option<&str>) -> Provider {
        let version = self.url.rsplit('/').next().unwrap_or("v1");
        Provider {
            name: self.name.to_owned(),
            url: address.map_or(self.url.to_owned(), |address| with_version(address, version)),
            // Ollama runs beside the server unless configured otherwise.
            is_configured: address.is_some() || !self.needs_key,
            families: self.families.to_vec(),
            auth: self.auth,
            needs_key: self.needs_key,
            is_local: !self.needs_key,
            quirks: self.quirks,
            key_test: self.key_test,
        }
    }
}

impl Provider {
    /// A provider that the operator added. Keys are used if there are any.
    pub fn custom(name: &str, family: Family, address: &str) -> Self {
        let auth = match family {
            Family::Chat | Family::Responses => Auth::Bearer,
            Family::Messages => Auth::Anthropic,
            Family::Gemini => Auth::Google,
        };
        let version = if family == Family::Gemini { "v1beta" } else { "v1" };
        Self {
            name: name.to_owned(),
            url: with_version(address, version),
            is_configured: true,
            families: vec![family],
            auth,
            needs_key: false,
            is_local: false,
            quirks: CHAT.quirks,
            key_test: CHAT.key_test,
        }
    }

    /// Whether requests of a family pass to a model as they are.
    pub fn speaks(&self, family: Family, model: &str) -> bool {
        self.families.contains(&family)
            // OpenRouter speaks Messages for all models, but loses nothing only for Anthropic's.
            && (self.name != "openrouter"
                || family != Family::Messages
                || model.starts_with("anthropic/"))
    }

    /// The family in which a request of a client is sent. `listed` is what the table of models says.
    pub fn family_for(&self, client: Family, model: &str, listed: Option<Family>) -> Family {
        let speaks = |family: Family| self.speaks(family, model);
        let preferred = self.families.first().copied().unwrap_or(Family::Chat);
        match listed.filter(|family| speaks(*family)) {
            Some(only) => only,
            None if speaks(client) => client,
            None => preferred,
        }
    }

    /// What the provider calls a model. OpenRouter's own have a prefix, which our ids have anyway.
    pub fn model_name(&self, model: &str) -> String {
        match self.name == "openrouter" && !model.contains('/') {
            true => format!("openrouter/{model}"),
            false => model.to_owned(),
        }
    }

    /// Name of the credential with its key.
    pub fn key_name(&self) -> String {
        format!("{}-key", self.name)
    }

    /// Host and port of its address.
    pub fn authority(&self) -> &str {
        let rest = self.url.split_once("://").map_or("", |(_, rest)| rest);
        rest.split('/').next().unwrap_or_default()
    }

    /// Where its key is sent.
    pub fn destination(&self) -> Destination<'_> {
        let authority = self.authority();
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !host.ends_with(':') => (host, port.parse().ok()),
            _ => (authority, None),
        };
        let standard = if self.url.starts_with("https://") { 443 } else { 80 };
        let (host, port) = (host.trim_matches(['[', ']']), port.or(Some(standard)));
        Destination { host, port, path: self.path() }
    }

    /// The host that its key is for, as credentials name it.
    pub fn host_pattern(&self) -> String {
        self.authority().to_owned()
    }

    fn path(&self) -> &str {
        let rest = self.url.split_once("://").map_or("", |(_, rest)| rest);
        rest.find('/').and_then(|at| rest.get(at..)).unwrap_or_default()
    }
}

/// An address with a version. Operators may write it with or without, and `localhost` for 127.0.0.1,
/// which the egress policy refuses by its name.
fn with_version(address: &str, version: &str) -> String {
    let address = address.trim_end_matches('/').replacen("://localhost", "://127.0.0.1", 1);
    let rest = address.split_once("://").map_or("", |(_, rest)| rest);
    let is_version = |part: &str| {
        part.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    match rest.split('/').skip(1).any(is_version) {
        true => address,
        false => format!("{address}/{version}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(name: &str, address: Option<&str>) -> Provider {
        KNOWN.iter().find(|known| known.name == name).unwrap().provider(address)
    }

    #[test]
    fn an_address_may_be_written_with_or_without_its_version() {
        for (name, address, url) in [
            ("openai", None, "https://api.openai.com/v1"),
            ("openrouter", Some("https://openrouter.ai/api"), "https://openrouter.ai/api/v1"),
            ("openrouter", Some("https://openrouter.ai/api/v1/"), "https://openrouter.ai/api/v1"),
            ("gemini", Some("http://localhost:9"), "http://127.0.0.1:9/v1beta"),
            ("ollama", Some("http://gpu:11434"), "http://gpu:11434/v1"),
            ("groq", Some("https://api.groq.com/openai/v1"), "https://api.groq.com/openai/v1"),
        ] {
            assert_eq!(known(name, address).url, url);
        }
    }

    #[test]
    fn a_key_is_for_the_host_of_the_address() {
        let openai = known("openai", None);
        let to = openai.destination();
        assert_eq!((to.host, to.port, to.path), ("api.openai.com", Some(443), "/v1"));
        assert_eq!(openai.host_pattern(), "api.openai.com");
        let local = known("openai", Some("http://127.0.0.1:4000"));
        let to = local.destination();
        assert_eq!((to.host, to.port), ("127.0.0.1", Some(4000)));
        assert_eq!(local.host_pattern(), "127.0.0.1:4000");
        assert!(local.is_configured && !openai.is_configured);
    }

    #[test]
    fn a_request_stays_in_its_family_where_the_provider_speaks_it() {
        let speaks = |name, client, model| known(name, None).family_for(client, model, None);
        assert_eq!(speaks("openai", Family::Responses, "gpt-5"), Family::Responses);
        assert_eq!(speaks("openai", Family::Messages, "gpt-5"), Family::Chat);
        assert_eq!(speaks("anthropic", Family::Chat, "claude"), Family::Messages);
        assert_eq!(speaks("openrouter", Family::Messages, "anthropic/claude"), Family::Messages);
        assert_eq!(speaks("openrouter", Family::Messages, "openai/gpt"), Family::Chat);
        assert_eq!(speaks("gemini", Family::Chat, "gemini-3"), Family::Gemini);
        let only = Some(Family::Responses);
        assert_eq!(
            known("openai", None).family_for(Family::Chat, "gpt-5-pro", only),
            Family::Responses
        );
        // An address that is only compatible with OpenAI need not speak it.
        let custom = Provider::custom("vllm", Family::Chat, "http://gpu:8000");
        assert_eq!(custom.family_for(Family::Responses, "m", only), Family::Chat);
    }
}
