//! Which tool is for what, generated from the table.

use super::{
    catalogue::{Catalogue, mcp_name},
    client::Client,
};
use crate::tool::{Nature, Style, Substrate, Surface};

/// The guide, for models and people.
pub fn markdown(client: &Client) -> String {
    let mut text = String::from(
        "# Routing guide\n\n\
         Choose the surface first:\n\n\
         | the user wants | create the session with | use |\n|---|---|---|\n\
         | to watch, to take over, to see a window | `session-create {\"mode\": \"desktop\"}` | \
         `browser-*` on page elements, `desktop-*` by pixel |\n\
         | data from pages, tests, no screen | `session-create` (headless) | `browser-*` |\n\
         | programs, builds, files | `session-create` (headless) | `session-exec`, `file-*` |\n\n\
         ## Tools\n\n| tool | style | runs in | seen by people | changes |\n|---|---|---|---|---|\n",
    );
    let catalogue = Catalogue::of(&client.app);
    for entry in catalogue.available(client) {
        let nature = entry.tool.nature;
        text.push_str(&format!(
            "| `{}` | {} | {} | {} | {} |\n",
            mcp_name(&entry.tool.name),
            style(nature),
            substrate(nature),
            seen(nature),
            nature.effect.words(),
        ));
    }
    text
}

fn style(nature: Nature) -> &'static str {
    match nature.style {
        Style::Structured => "structured",
        Style::Vision => "vision",
    }
}

fn substrate(nature: Nature) -> &'static str {
    match nature.substrate {
        Substrate::Server => "server",
        Substrate::Sandbox => "sandbox",
        Substrate::Browser => "Chromium",
        Substrate::Desktop => "desktop",
    }
}

fn seen(nature: Nature) -> &'static str {
    match (nature.surface, nature.substrate) {
        (Surface::Visible, _) => "yes",
        (Surface::Both, _) => "in a desktop session",
        (Surface::Headless, Substrate::Browser) => "only with `_session_id` of a desktop session",
        (Surface::Headless, _) => "no",
    }
}

#[cfg(test)]
mod tests {
    use helmdeck_packs::{SessionNeed, built_in};

    use super::*;

    #[test]
    fn a_pack_with_a_new_session_for_each_call_is_not_said_to_be_visible() {
        let is_new = |need| matches!(need, SessionNeed::OneShot(_) | SessionNeed::Private(_));
        for pack in built_in().iter().filter(|pack| is_new(pack.needs.session)) {
            let nature = pack.nature;
            assert_eq!(nature.surface, Surface::Headless, "{}", pack.name);
            assert!(!nature.whereabouts().contains("VISIBLE"), "{}", pack.name);
            assert!(["no", "only with"].iter().any(|no| seen(nature).starts_with(no)));
        }
    }
}
