//! Addresses that clients may not open, because they control the browser itself.

/// The browser's own pages that are harmless: they can neither end nor reconfigure it.
const HARMLESS: [&str; 5] = ["newtab", "new-tab-page", "version", "crash", "kill"];

/// Whether opening an address could end, restart or reconfigure the browser, however it is written:
/// `chrome://quit` does, and so do scripts in `chrome://settings` or `devtools://`.
pub fn controls_browser(url: &str) -> bool {
    // As the browser reads it: outer spaces and inner line breaks do not count.
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
    fn no_spelling_of_an_address_that_ends_the_browser_passes() {
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
            "chrome://new-tab-page/",
            "chrome://version",
            "localhost:3000",
            "nonsense",
        ] {
            assert!(!controls_browser(url), "{url:?}");
        }
    }
}
