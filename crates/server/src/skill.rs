//! The SKILL.md for agents: prose, and a catalogue generated from the tool table.

use std::{fmt::Write, sync::Arc};

use crate::{
    mcp::{is_offered, mcp_name},
    tool::{Nature, Style, Substrate, Surface, Tool},
};

/// Description by which clients decide to load the skill.
const DESCRIPTION: &str = "Use a sandboxed Chromium browser, a visible Linux desktop and a shell \
    through the helmdeck MCP tools. Read this before browsing, scraping, testing a web page, filling \
    in a form, driving a desktop program, or running code in a sandbox with helmdeck.";
const INTRODUCTION: &str = include_str!("skill/introduction.md");
/// Sections after the catalogue.
const SECTIONS: [&str; 6] = [
    include_str!("skill/sessions.md"),
    include_str!("skill/surfaces.md"),
    include_str!("skill/freshness.md"),
    include_str!("skill/long_running.md"),
    include_str!("skill/errors.md"),
    include_str!("skill/issues.md"),
];
/// Nouns of tools for agents, with headings. Tools for tokens and settings are left out.
const NOUNS: [(&str, &str); 12] = [
    ("session", "Sessions and programs"),
    ("browser", "Browser: by page element"),
    ("desktop", "Desktop"),
    ("vision", "Goals: a model looks and acts"),
    ("file", "Files"),
    ("control", "Who has control"),
    ("forward", "Ports of a development server"),
    ("egress", "Network policy"),
    ("profile", "Browser profiles"),
    ("extension", "Browser extensions"),
    ("pack", "Packs: typed tools that run as jobs"),
    ("job", "Jobs"),
];

/// The whole SKILL.md.
pub fn skill(tools: &[Arc<Tool>]) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut text = format!(
        "---\nname: helmdeck\ndescription: {DESCRIPTION}\nmetadata:\n  version: \"{version}\"\n---\n\n"
    );
    text += &body(tools);
    text
}

/// The skill without front matter.
fn body(tools: &[Arc<Tool>]) -> String {
    let sections = SECTIONS.iter().map(|section| format!("\n{section}"));
    format!("{INTRODUCTION}\n{}{}", catalogue(tools), sections.collect::<String>())
}

/// The tools by noun. Each list starts with the nature of most of its tools.
fn catalogue(tools: &[Arc<Tool>]) -> String {
    let mut text = String::from(
        "## Tools\n\n\
         Each list begins with the style (structured: by name; vision: by pixel), where the tools run, \
         and whether people\nwho watch can see it. A tool that differs says so.\n",
    );
    for (noun, heading) in NOUNS {
        let is_listed = |tool: &&Arc<Tool>| match tool.pack {
            Some(_) => noun == "pack",
            None => is_of(tool, noun),
        };
        let of_noun: Vec<_> = tools.iter().filter(is_listed).collect();
        let usual = most_common(of_noun.iter().map(|tool| whereabouts(tool.nature)));
        // Writing to a string does not fail.
        let _ = write!(text, "\n### {heading}\n\n*{usual}*\n\n");
        for tool in of_noun {
            let (name, doc) = (mcp_name(&tool.name), sentence(&tool.doc));
            let own = whereabouts(tool.nature);
            let differs = if own == usual { String::new() } else { format!(" *({own})*") };
            let _ = writeln!(text, "- `{name}`: {doc}.{differs}");
        }
    }
    text
}

fn whereabouts(nature: Nature) -> String {
    let style = match nature.style {
        Style::Structured => "structured",
        Style::Vision => "vision",
    };
    let place = match nature.substrate {
        Substrate::Server => "in the server",
        Substrate::Sandbox => "in the sandbox",
        Substrate::Browser if nature.surface == Surface::Headless => "in a new Chromium",
        Substrate::Browser => "in the session's Chromium",
        Substrate::Desktop => "on the session's desktop",
    };
    let surface = match nature.surface {
        Surface::Headless => "not visible",
        Surface::Visible => "VISIBLE",
        Surface::Both => "VISIBLE in a desktop session, else HEADLESS",
    };
    format!("{style}, {place}, {surface}")
}

/// The most frequent text; the first one if several are.
fn most_common(all: impl Iterator<Item = String>) -> String {
    let all: Vec<_> = all.collect();
    let count = |one: &String| all.iter().filter(|other| *other == one).count();
    let most = all.iter().map(count).max().unwrap_or_default();
    all.iter().find(|one| count(one) == most).cloned().unwrap_or_default()
}

fn is_of(tool: &Tool, noun: &str) -> bool {
    is_offered(tool) && tool.name.split('.').next() == Some(noun)
}

/// The first sentence of a description.
fn sentence(doc: &str) -> &str {
    let paragraph = doc.split("\n\n").next().unwrap_or(doc);
    let sentence = paragraph.split_once(". ").map_or(paragraph, |(first, _)| first);
    sentence.trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use helmdeck_wire::ErrorCode;

    use super::*;
    use crate::{
        routes::packs,
        tool::{Tool, pack_tool},
    };

    /// The part of the page before the skill.
    const LOADING: &str = include_str!("skill/loading.md");
    /// Tools of the MCP server itself.
    const BUILTIN: [&str; 3] = ["tools-search", "tool-call", "text-read"];
    /// A credential that the prose names.
    const CREDENTIAL: &str = "github-token";

    /// Every tool that a server of this version can have, besides packs of its operator.
    fn tools() -> Vec<Arc<Tool>> {
        let built_in = helmdeck_packs::built_in();
        let packs_of_server: Vec<_> =
            built_in.into_iter().map(|pack| Arc::new(pack_tool(&Arc::new(pack)))).collect();
        // A pack hides a tool with its name.
        let hidden = |tool: &Arc<Tool>| packs_of_server.iter().any(|pack| pack.name == tool.name);
        let table: Vec<_> = crate::tools().into_iter().filter(|tool| !hidden(tool)).collect();
        table.into_iter().chain(packs::tools()).chain(packs_of_server).collect()
    }

    #[test]
    fn the_skills_page_describes_the_tools_that_exist() {
        let page = format!("{LOADING}{}", body(&tools()));
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/integrations/SKILLS.md");
        if std::env::var_os("HELMDECK_UPDATE_SNAPSHOTS").is_some() {
            fs::write(&path, &page).unwrap();
        }
        assert!(
            fs::read_to_string(&path).unwrap_or_default() == page,
            "the tools or the skill changed: run HELMDECK_UPDATE_SNAPSHOTS=1 cargo nextest run -p \
             helmdeck-server skills_page, and commit docs/integrations/SKILLS.md"
        );
    }

    #[test]
    fn every_tool_and_error_code_that_the_prose_names_exists() {
        let names: BTreeSet<_> = tools().iter().map(|tool| mcp_name(&tool.name)).collect();
        let nouns: BTreeSet<_> = names.iter().filter_map(|name| name.split('-').next()).collect();
        let mut found = 0;
        for section in SECTIONS.iter().chain([&INTRODUCTION]) {
            for word in section.split('`').skip(1).step_by(2) {
                let noun = word.split('-').next().unwrap_or_default();
                let other = word == CREDENTIAL || BUILTIN.contains(&word);
                let is_tool = word.contains('-') && !other && nouns.contains(noun);
                if is_tool && !word.contains(['*', ' ', '{']) {
                    assert!(names.contains(word), "{word} is not a tool");
                    found += 1;
                }
            }
        }
        assert!(found > 80, "{found}");
        assert!(BUILTIN.iter().all(|name| INTRODUCTION.contains(name) && !names.contains(*name)));
        let errors = SECTIONS.iter().find(|section| section.contains("| Code |")).unwrap();
        let codes = errors.lines().filter_map(|line| line.strip_prefix("| `")?.split('|').next());
        for code in codes.flat_map(|cell| cell.split('`').step_by(2)) {
            let is_code =
                !code.is_empty() && code.chars().all(|c| c.is_ascii_lowercase() || c == '_');
            assert!(!is_code || ErrorCode::named(code).is_some(), "{code} is not an error code");
        }
    }

    #[test]
    fn the_catalogue_lists_every_tool_that_agents_are_offered() {
        let text = skill(&tools());
        for tool in &tools() {
            let listed = text.contains(&format!("- `{}`: ", mcp_name(&tool.name)));
            assert_eq!(listed, is_offered(tool), "{}", tool.name);
        }
        let listed: Vec<_> = text.lines().filter(|line| line.starts_with("- `")).collect();
        let names: BTreeSet<_> = listed.iter().filter_map(|line| line.split('`').nth(1)).collect();
        assert_eq!(names.len(), listed.len(), "each tool is listed once");
        assert!(text.starts_with("---\nname: helmdeck\ndescription: "));
        assert!(DESCRIPTION.len() <= 1024 && !DESCRIPTION.contains(": "));
    }
}
