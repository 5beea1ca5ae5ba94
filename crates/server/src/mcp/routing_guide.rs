//! Which tool is for what, generated from the table.

use super::{
    catalogue::{Catalogue, mcp_name},
    client::Client,
};
use crate::tool::{Nature, Style, Substrate};

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
    match nature.substrate {
        Substrate::Browser => "in a desktop session",
        Substrate::Desktop => "yes",
        Substrate::Server | Substrate::Sandbox => "no",
    }
}
