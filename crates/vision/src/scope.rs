//! The scope of a run: the sites and programs where it starts, or that the instruction names.
//!
//! What a page says is no reason to leave it, and neither is what a model says: it may have read the page.

use helmdeck_wire::{observe::Effect, site::Site};

use crate::{
    action::Action,
    clause::{Clause, address, clauses, quotation, words},
    eyes::{Scene, SceneWindow},
};

/// Pages of the browser itself.
const INTERNAL: [&str; 6] = ["about:", "chrome:", "chrome-error:", "data:", "blob:", "devtools:"];

/// Where a run may act.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    sites: Vec<Site>,
    classes: Vec<String>,
    words: Vec<String>,
    /// Whether the instruction asks to keep something, and not to use an element of such a name.
    saves: bool,
}

impl Scope {
    /// From where the run starts, what its instruction names, and what the caller allows besides.
    pub fn new(scene: &Scene, instruction: &str, allowed: &[String]) -> Self {
        let mut sites: Vec<Site> = scene
            .windows
            .iter()
            .filter_map(|window| window.url.as_deref())
            .filter(|url| !is_internal(url))
            .filter_map(Site::of)
            .collect();
        let named = instruction.split_whitespace().filter_map(address);
        sites.extend(named.chain(allowed.iter().cloned()).filter_map(|it| Site::of(&it)));
        let classes = scene.windows.iter().map(|window| window.class.to_lowercase()).collect();
        // The words of an address name its site only.
        let plain = |text: &str| {
            let parts = text.split_whitespace().filter(|part| address(part).is_none());
            parts.flat_map(words).collect::<Vec<_>>()
        };
        let allowed: Vec<_> = allowed.iter().flat_map(|it| plain(it)).collect();
        let saves = allowed.iter().any(|word| is_save(word))
            || clauses(instruction).iter().any(|clause| match clause {
                Clause::Other(text) => unquoted(text).iter().any(|word| is_save(word)),
                _ => false,
            });
        let words = plain(instruction).into_iter().chain(allowed).collect();
        Self { sites, classes, words, saves }
    }

    fn names(&self, any: &[&str]) -> bool {
        any.iter().any(|word| self.words.iter().any(|own| own.starts_with(word)))
    }

    /// Whether an address is inside.
    pub fn has(&self, url: &str) -> bool {
        is_internal(url)
            || Site::of(url).is_some_and(|site| self.sites.iter().any(|own| own.covers(&site)))
    }

    /// The sites.
    pub fn sites(&self) -> Vec<Site> {
        self.sites.clone()
    }

    /// Adds the site of an address: a person allowed it.
    pub fn allow(&mut self, url: &str) {
        self.sites.extend(Site::of(url).filter(|_| !is_internal(url)));
    }

    /// Adds the sites and programs of a scene: a person allowed it.
    pub fn allow_scene(&mut self, scene: &Scene) {
        scene
            .windows
            .iter()
            .filter_map(|window| window.url.as_deref())
            .for_each(|url| self.allow(url));
        self.classes.extend(scene.windows.iter().map(|window| window.class.to_lowercase()));
    }

    /// Whether the instruction speaks of files that are given to a page.
    fn names_upload(&self) -> bool {
        let has = |any: &[&str]| self.words.iter().any(|word| any.contains(&word.as_str()));
        self.names(&["upload", "attach", "import"])
            || (has(&["file", "files"]) && has(&["choose", "select", "pick", "add"]))
    }

    /// Whether the instruction speaks of files that are kept.
    fn names_download(&self) -> bool {
        self.saves || self.names(&["download", "export"])
    }

    /// Whether the program of a window is inside.
    fn has_program(&self, window: &SceneWindow, before: &Scene) -> bool {
        let class = window.class.to_lowercase();
        if class.is_empty() {
            return window.popup || before.windows.iter().any(|old| old.id == window.id);
        }
        self.classes.contains(&class)
            || words(&class).iter().any(|part| part.len() > 2 && self.words.contains(part))
            || self.words.iter().any(|word| word.len() > 3 && class.contains(word.as_str()))
    }

    /// The address outside of the scope that an action would open.
    pub fn leaves(&self, action: &Action) -> Option<String> {
        let url = match action {
            Action::Navigate { url } => url.clone(),
            // An address that is typed will be opened.
            Action::Type { text } | Action::Fill { text, .. } => {
                let text = text.trim();
                let is_address = !text.contains(char::is_whitespace) && !text.contains('@');
                address(text).filter(|_| is_address && (text.contains("://") || is_host(text)))?
            }
            _ => return None,
        };
        (!self.has(&url)).then_some(url)
    }

    /// Why what happened left the scope.
    pub fn left(&self, before: &Scene, after: &Scene, effects: &[Effect]) -> Option<String> {
        if effects.contains(&Effect::Download) && !self.names_download() {
            return Some("a download began, which the instruction does not ask for".to_owned());
        }
        for window in &after.windows {
            if let Some(url) = window.url.as_deref()
                && !self.has(url)
                && !before.windows.iter().any(|old| old.url.as_deref() == Some(url))
            {
                let site =
                    Site::of(url).map_or_else(|| url.to_owned(), |site| site.host().to_owned());
                return Some(format!(
                    "the browser went to {site}, outside of where the run started"
                ));
            }
            if !self.has_program(window, before) {
                return Some(match window.class.as_str() {
                    "" => format!("an unknown program opened the window {:?}", window.title),
                    class => format!("the program {class} was started"),
                });
            }
            let title = window.title.to_lowercase();
            let uploads = ["file upload", "open file", "select file", "choose file"];
            let is_new = !before
                .windows
                .iter()
                .any(|old| (&old.id, &old.title) == (&window.id, &window.title));
            // The browser draws its own dialogs into its window. One with a window is for files, whatever its title is.
            let opened = window.browser && !window.popup && effects.contains(&Effect::Dialog);
            // Pages may have any title.
            let titled = window.url.is_none() && uploads.iter().any(|part| title.contains(part));
            let asks = opened || titled;
            if is_new && asks && !self.names_upload() {
                return Some(
                    "a file would be uploaded, which the instruction does not ask for".to_owned(),
                );
            }
        }
        None
    }
}

/// Why an address is not opened.
pub fn outside(url: &str) -> String {
    let site = Site::of(url).map_or_else(|| url.to_owned(), |site| site.host().to_owned());
    format!(
        "it wants to open {site}, which is not where the run started and not in the instruction"
    )
}

fn is_save(word: &str) -> bool {
    ["save", "saves", "saved", "saving"].contains(&word)
}

/// The words of a text outside of its quotes.
fn unquoted(text: &str) -> Vec<String> {
    match quotation(text) {
        None => words(text),
        Some((before, _, after)) => words(before).into_iter().chain(unquoted(after)).collect(),
    }
}

fn is_internal(url: &str) -> bool {
    url.is_empty() || INTERNAL.iter().any(|scheme| url.starts_with(scheme))
}

/// Whether a text is a host with a usual ending, and not a file name or a version.
fn is_host(text: &str) -> bool {
    const FILES: [&str; 14] = [
        "txt", "md", "pdf", "png", "jpg", "rs", "py", "sh", "csv", "json", "html", "doc", "docx",
        "zip",
    ];
    let host = text.split(['/', ':', '?']).next().unwrap_or_default();
    let last = host.rsplit('.').next().unwrap_or_default().to_lowercase();
    let is_address = host.parse::<std::net::IpAddr>().is_ok() || host == "localhost";
    is_address || (!FILES.contains(&last.as_str()) && last.chars().all(char::is_alphabetic))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(windows: &[(&str, &str)]) -> Scene {
        let window = |(class, url): &(&str, &str)| SceneWindow {
            class: (*class).to_owned(),
            url: (!url.is_empty()).then(|| (*url).to_owned()),
            ..SceneWindow::default()
        };
        Scene { windows: windows.iter().map(window).collect(), focus: None }
    }

    fn opens(scope: &Scope, url: &str) -> bool {
        scope.leaves(&Action::Navigate { url: url.to_owned() }).is_none()
    }

    #[test]
    fn a_run_stays_on_the_sites_where_it_starts_or_that_are_named() {
        let start = scene(&[("Chromium", "https://www.shop.test/cart")]);
        let scope = Scope::new(&start, "Compare with https://other.test:8443/x and mail.test", &[]);
        for url in [
            "https://shop.test/",
            "https://pay.shop.test/a",
            "https://other.test:8443/",
            "http://mail.test",
            "about:blank",
        ] {
            assert!(opens(&scope, url), "{url}");
        }
        for url in [
            "https://evil.test/",
            "https://shop.test.evil.test/",
            "https://other.test/",
            "https://notshop.test/",
        ] {
            assert!(!opens(&scope, url), "{url}");
        }
        let local = Scope::new(&scene(&[("Chromium", "http://127.0.0.1:8000/")]), "Click OK", &[]);
        assert!(
            opens(&local, "http://127.0.0.1:8000/next") && !opens(&local, "http://127.0.0.1:9000/")
        );
        let allowed = Scope::new(&start, "Click OK", &["evil.test".to_owned()]);
        assert!(opens(&allowed, "https://evil.test/"));
    }

    #[test]
    fn a_typed_address_counts_but_other_text_does_not() {
        let scope =
            Scope::new(&scene(&[("Chromium", "https://shop.test/")]), "Fill in the form", &[]);
        let leaves = |text: &str| scope.leaves(&Action::Type { text: text.to_owned() }).is_some();
        for text in ["https://evil.test/?q=1", "evil.test", "evil.test/steal\n", "10.0.0.1/x"] {
            assert!(leaves(text), "{text}");
        }
        for text in
            ["Ann", "ann@evil.test", "notes.txt", "1.5", "see evil.test for more", "shop.test/a"]
        {
            assert!(!leaves(text), "{text}");
        }
    }

    #[test]
    fn new_programs_downloads_and_foreign_pages_are_noticed() {
        let start = scene(&[("Chromium", "https://shop.test/")]);
        let scope = Scope::new(&start, "Click OK", &[]);
        assert_eq!(scope.left(&start, &start, &[Effect::Confirmed]), None);
        assert!(scope.left(&start, &start, &[Effect::Download]).is_some());
        assert!(scope.left(&start, &scene(&[("XTerm", "")]), &[]).is_some());
        assert!(scope.left(&start, &scene(&[("Chromium", "https://evil.test/")]), &[]).is_some());
        let asks = |instruction: &str, title: &str, effects: &[Effect]| {
            let mut after = start.clone();
            let dialog = SceneWindow {
                id: "7".to_owned(),
                title: title.to_owned(),
                class: "Chromium".to_owned(),
                browser: true,
                ..SceneWindow::default()
            };
            after.windows.insert(0, dialog);
            Scope::new(&start, instruction, &[]).left(&start, &after, effects).is_some()
        };
        assert!(asks("Open the menu of this file", "Datei hochladen", &[Effect::Dialog]));
        assert!(asks("Click OK", "Open File", &[]));
        assert!(!asks("Click OK", "Shop", &[Effect::WindowOpened]));
        assert!(!asks("Upload my picture", "Datei hochladen", &[Effect::Dialog]));
        assert!(asks("Download the report", "Datei hochladen", &[Effect::Dialog]));
        let asked = Scope::new(&start, "Download the report and open the xterm", &[]);
        assert_eq!(asked.left(&start, &start, &[Effect::Download]), None);
        assert_eq!(asked.left(&start, &scene(&[("XTerm", "")]), &[]), None);
    }

    #[test]
    fn a_button_that_is_called_save_permits_no_download_and_a_download_permits_no_upload() {
        let start = scene(&[("Chromium", "https://shop.test/")]);
        let permits = |instruction: &str, allow: &[&str]| {
            let allow: Vec<_> = allow.iter().map(|it| (*it).to_owned()).collect();
            let scope = Scope::new(&start, instruction, &allow);
            (scope.names_download(), scope.names_upload())
        };
        for (instruction, allow, expected) in [
            ("Click Save", &[][..], (false, false)),
            ("Click \"Save\" in the row \"Bob\"", &[], (false, false)),
            ("Save the report as PDF", &[], (true, false)),
            ("Click \"Download\"", &[], (true, false)),
            ("Export the table", &[], (true, false)),
            ("Click \"Upload photo\"", &[], (false, true)),
            ("Select the file cat.png", &[], (false, true)),
            ("Go to upload.example.com/download and click OK", &[], (false, false)),
            ("Click OK", &["download.example.com", "upload.example.com"], (false, false)),
            ("Click OK", &["download"], (true, false)),
        ] {
            assert_eq!(permits(instruction, allow), expected, "{instruction} {allow:?}");
        }
    }

    #[test]
    fn a_window_without_a_program_is_known_only_if_it_was_there_or_pops_up() {
        let start = scene(&[("Chromium", "https://shop.test/")]);
        let scope = Scope::new(&start, "Click OK", &[]);
        let with = |popup: bool| {
            let mut after = start.clone();
            let window = SceneWindow { id: "9".to_owned(), popup, ..SceneWindow::default() };
            after.windows.insert(0, window);
            after
        };
        assert!(scope.left(&start, &with(false), &[]).is_some());
        assert_eq!(scope.left(&start, &with(true), &[]), None);
        assert_eq!(scope.left(&with(false), &with(false), &[]), None);
    }
}
