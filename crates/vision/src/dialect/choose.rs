//! Which dialect a model speaks, from its id.

use helmdeck_gateway::{Family, Provider, provider::KNOWN};

use super::{Dialect, anthropic::Tool};
use crate::view::Grid;

/// The table: what a model's name contains, after its maker. The first line that matches counts.
const MODELS: [(&str, Dialect); 31] = [
    ("claude-3-5-sonnet", claude(Tool::Computer2024October)),
    ("claude-3.5-sonnet", claude(Tool::Computer2024October)),
    ("claude-3-7", claude(Tool::Computer2025January)),
    ("claude-3.7", claude(Tool::Computer2025January)),
    ("claude-3", Dialect::Function),
    ("claude-opus-4-5", claude(Tool::Computer2025November)),
    ("claude-opus-4.5", claude(Tool::Computer2025November)),
    ("claude-opus-4-6", claude(Tool::Computer2025November)),
    ("claude-opus-4.6", claude(Tool::Computer2025November)),
    ("claude-opus-4-7", high(Tool::Computer2025November)),
    ("claude-opus-4.7", high(Tool::Computer2025November)),
    ("claude-sonnet-4-6", claude(Tool::Computer2025November)),
    ("claude-sonnet-4.6", claude(Tool::Computer2025November)),
    ("claude-opus-4-8", high(Tool::ComputerToolset)),
    ("claude-opus-4.8", high(Tool::ComputerToolset)),
    ("claude-haiku-4", claude(Tool::Computer2025January)),
    ("claude-sonnet-4", claude(Tool::Computer2025January)),
    ("claude-opus-4", claude(Tool::Computer2025January)),
    ("claude", high(Tool::ComputerToolset)),
    ("computer-use-preview-10-2025", Dialect::Gemini { legacy: true }),
    ("gemini-2.5-computer-use", Dialect::Gemini { legacy: true }),
    ("gemini-3-flash-preview", Dialect::Gemini { legacy: true }),
    ("gemini-3.1-pro-preview", Dialect::Gemini { legacy: true }),
    ("computer-use-preview", Dialect::OpenAi { preview: true }),
    ("ui-tars-1.5", Dialect::UiTars(Grid::Pixels)),
    ("ui-tars", Dialect::UiTars(Grid::Thousand)),
    ("qwen3-vl", Dialect::Qwen(Grid::Thousand)),
    ("qwen3.5", Dialect::Qwen(Grid::Thousand)),
    ("qwen2.5-vl", Dialect::Qwen(Grid::Pixels)),
    ("qwen2.5vl", Dialect::Qwen(Grid::Pixels)),
    ("qwen-vl", Dialect::Qwen(Grid::Pixels)),
];

/// Names of models that were made without tools.
const WITHOUT_TOOLS: [&str; 9] = [
    "llava",
    "moondream",
    "smolvlm",
    "smollm",
    "minicpm-v",
    "bakllava",
    "pixtral-12b",
    "molmo",
    "gemma3",
];

const fn claude(tool: Tool) -> Dialect {
    Dialect::Anthropic { tool, high: false }
}

const fn high(tool: Tool) -> Dialect {
    Dialect::Anthropic { tool, high: true }
}

/// The dialect of a model of a provider that everyone knows.
pub fn choose(provider: &str, model: &str, on_desktop: bool) -> Dialect {
    let known = KNOWN.iter().find(|known| known.name == provider);
    let known = known.map(|known| known.provider(None));
    let provider = known.unwrap_or_else(|| Provider::custom(provider, Family::Chat, ""));
    choose_for(&provider, model, on_desktop)
}

/// The dialect of a provider's model. Relays have the maker in `model`.
pub fn choose_for(provider: &Provider, model: &str, on_desktop: bool) -> Dialect {
    let name = model.to_lowercase();
    let found = MODELS.iter().find(|(part, _)| name.contains(part)).map(|(_, dialect)| *dialect);
    let dialect = found.unwrap_or_else(|| unlisted(&name));
    // A vendor's own tools need its own API, or a relay that speaks it. The others are written in Chat, which the gateway
    // translates.
    let family = dialect.family();
    let through = family == Family::Chat || provider.speaks(family, model);
    match dialect {
        _ if !through => Dialect::Function,
        Dialect::Anthropic { tool: Tool::ComputerToolset, high } if !on_desktop => {
            Dialect::Anthropic { tool: Tool::BrowserToolset, high }
        }
        dialect => dialect,
    }
}

fn unlisted(name: &str) -> Dialect {
    if let Some((major, minor)) = version(name, "gpt-")
        && (major, minor) >= (5, 4)
        && !name.contains("codex")
    {
        return Dialect::OpenAi { preview: false };
    }
    if let Some((major, minor)) = version(name, "gemini-")
        && (major, minor) >= (3, 5)
    {
        return Dialect::Gemini { legacy: false };
    }
    if WITHOUT_TOOLS.iter().any(|part| name.contains(part)) {
        return Dialect::JsonText;
    }
    Dialect::Function
}

/// The version after a prefix: `gpt-5.4-mini` is 5 and 4.
fn version(name: &str, prefix: &str) -> Option<(u32, u32)> {
    let (_, rest) = name.split_once(prefix)?;
    let number = rest.split(|c: char| !(c.is_ascii_digit() || c == '.')).next()?;
    let mut parts = number.split('.');
    let major = parts.next()?.parse().ok()?;
    Some((major, parts.next().and_then(|minor| minor.parse().ok()).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_gets_the_tool_that_it_was_trained_on() {
        let name = |id: &str| {
            let (provider, model) = id.split_once('/').unwrap();
            choose(provider, model, true).name()
        };
        for (id, dialect) in [
            ("anthropic/claude-opus-5-5", "computer_toolset_20260801"),
            ("anthropic/claude-haiku-5-5", "computer_toolset_20260801"),
            ("anthropic/claude-opus-4-8", "computer_toolset_20260801"),
            ("anthropic/claude-opus-4-6", "computer_20251124"),
            ("anthropic/claude-sonnet-4-6", "computer_20251124"),
            ("anthropic/claude-haiku-4-5-20251001", "computer_20250124"),
            ("anthropic/claude-sonnet-4-5", "computer_20250124"),
            ("anthropic/claude-3-5-sonnet-20241022", "computer_20241022"),
            ("anthropic/claude-3-haiku-20240307", "function"),
            ("openrouter/anthropic/claude-haiku-4.5", "computer_20250124"),
            ("openrouter/anthropic/claude-sonnet-5", "computer_toolset_20260801"),
            ("openai/gpt-5.4-mini", "computer"),
            ("openai/gpt-6-sol", "computer"),
            ("openai/computer-use-preview", "computer_use_preview"),
            ("openai/gpt-4o-mini", "function"),
            ("openai/gpt-5", "function"),
            ("openrouter/openai/gpt-5.4", "function"),
            ("openrouter/auto", "function"),
            ("gemini/gemini-2.5-computer-use-preview-10-2025", "computer_use_legacy"),
            ("gemini/gemini-3-flash-preview", "computer_use_legacy"),
            ("gemini/gemini-3.5-flash", "computer_use"),
            ("gemini/gemini-2.5-flash", "function"),
            ("ollama/ui-tars-1.5-7b", "ui_tars"),
            ("openrouter/bytedance/ui-tars-72b", "ui_tars"),
            ("ollama/qwen3-vl:8b", "qwen_vl"),
            ("ollama/llava", "json"),
            ("groq/llama-4-scout", "function"),
        ] {
            assert_eq!(name(id), dialect, "{id}");
        }
    }

    #[test]
    fn a_relay_that_speaks_the_vendors_family_passes_its_tools() {
        let name = |family, model: &str| {
            let relay = Provider::custom("litellm", family, "https://relay.test");
            choose_for(&relay, model, true).name()
        };
        assert_eq!(name(Family::Messages, "claude-opus-5"), "computer_toolset_20260801");
        assert_eq!(name(Family::Responses, "openai/gpt-5.4"), "computer");
        assert_eq!(name(Family::Gemini, "gemini-3.5-flash"), "computer_use");
        assert_eq!(name(Family::Chat, "claude-opus-5"), "function");
        assert_eq!(name(Family::Messages, "gpt-5.4"), "function");
    }

    #[test]
    fn without_a_desktop_claude_gets_the_tools_of_browsers() {
        assert_eq!(choose("anthropic", "claude-opus-5", false).name(), "browser_toolset_20260801");
        assert_eq!(choose("anthropic", "claude-sonnet-4-5", false).name(), "computer_20250124");
    }
}
