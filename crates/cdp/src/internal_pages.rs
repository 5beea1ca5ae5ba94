//! Addresses that clients may not open, because they control the browser itself.

/// Harmless pages of the browser: an empty page, and two that end a page. Pages with scripts are
/// not harmless: each of them may open all others, including the settings.
const HARMLESS: [&str; 3] = ["newtab", "crash", "kill"];

/// Whether opening an address could end, restart or reconfigure the browser. `chrome://quit` does,
/// and so do scripts in `chrome://settings` or `devtools://`. All spellings are recognized.
pub fn controls_browser(url: &str) -> bool {
    // Normalized like the browser does: outer spaces and inner line breaks are ignored.
    let is_outer = |c: char| c <= ' ';
    let url: String = url.trim_matches(is_outer).replace(['\t', '\n', '\r'], "");
    let Some((scheme, rest)) = url.split_once(':') else { return false };
    match scheme.to_ascii_lowercase().as_str() {
        "view-source" | "filesystem" | "blob" => controls_browser(rest),
        "about" => !matches!(page(rest).as_str(), "" | "blank" | "srcdoc"),
        "chrome" => !HARMLESS.contains(&page(rest).as_str()),
        "chrome-untrusted" | "chrome-search" | "chrome-native" | "chrome-error" | "devtools"
        | "chrome-devtools" => true,
        _ => false,
    }
}

/// Whether a target is a part of the browser itself and not a page: scripts in it have the
/// browser's privileges.
pub(crate) fn is_browser_part(kind: &str, url: &str) -> bool {
    // An error page replaces a page that did not load.
    let is_error = url.starts_with("chrome-error:");
    kind == "browser_ui" || (controls_browser(url) && !is_error)
}

/// The name of one of the browser's own pages.
fn page(rest: &str) -> String {
    let name = rest.trim_start_matches(['/', '\\']);
    let end = name.find(['/', '\\', '?', '#']).unwrap_or(name.len());
    name.get(..end).unwrap_or_default().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_and_toolbars_are_parts_of_the_browser_and_pages_are_not() {
        for (kind, url) in [
            ("browser_ui", "chrome://omnibox-popup.top-chrome/"),
            ("page", "chrome://settings/"),
            ("page", "devtools://devtools/bundled/inspector.html"),
        ] {
            assert!(is_browser_part(kind, url), "{url}");
        }
        for url in ["", "about:blank", "https://a.example/", "chrome-error://chromewebdata/"] {
            assert!(!is_browser_part("page", url), "{url}");
        }
    }

    #[test]
    fn every_spelling_of_an_address_that_ends_the_browser_is_refused() {
        for url in [
            "chrome://quit",
            "chrome://restart/",
            "CHROME://QUIT",
            " \u{1}chrome://quit",
            "chr\nome://qu\tit",
            "chrome:quit",
            "chrome:\\\\quit",
            "chrome:///quit",
            "about:quit",
            "ABOUT:restart",
            "about://restart",
            "view-source:chrome://quit",
            "view-source:view-source:chrome://restart",
            "chrome://flags",
            "chrome://version",
            "chrome://new-tab-page",
            "chrome://settings/reset",
            "chrome://newtab@quit",
            "chrome://newtab:1",
            "chrome://%71uit",
            "devtools://devtools/bundled/inspector.html",
            "chrome-untrusted://terminal",
        ] {
            assert!(controls_browser(url), "{url:?}");
        }
    }

    #[test]
    fn ordinary_addresses_pass() {
        for url in [
            "",
            "about:blank",
            "about:blank#a",
            "about:srcdoc",
            "http://chrome/quit",
            "https://a.example/?u=chrome://quit",
            "data:text/html,chrome://quit",
            "blob:https://a.example/1",
            "file:///etc/hosts",
            "view-source:https://a.example",
            "chrome-extension://abc/page.html",
            "chrome://newtab",
            "localhost:3000",
            "nonsense",
        ] {
            assert!(!controls_browser(url), "{url:?}");
        }
    }
}
