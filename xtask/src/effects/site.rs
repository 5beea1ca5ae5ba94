//! The web site of the corpus: a page for each kind of element, and the log of its requests.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use helmdeck_testkit::{Page, Site};

const CSS: &str = include_str!("../../effects/web/page.css");
const SCRIPT: &str = include_str!("../../effects/web/page.js");
const INNER_CSS: &str = include_str!("../../effects/web/inner.css");
const INNER: &str = include_str!("../../effects/web/inner.html");
const KINDS: [&str; 6] = [
    include_str!("../../effects/web/buttons.html"),
    include_str!("../../effects/web/forms.html"),
    include_str!("../../effects/web/pages.html"),
    include_str!("../../effects/web/menus.html"),
    include_str!("../../effects/web/canvas.html"),
    include_str!("../../effects/web/frames.html"),
];
/// The paths of addresses that are typed.
const TYPED: &str = "/typed-";
/// What the page of the goals tells about a click.
const CLICKED: &str = "/log?clicked&";
/// How long slow answers take.
const SLOW: Duration = Duration::from_millis(300);

/// What the pages are made of.
pub(super) fn sources() -> Vec<&'static str> {
    [CSS, SCRIPT, INNER_CSS, INNER].into_iter().chain(KINDS).collect()
}

/// A running site. The second one has another origin, for frames.
pub struct Pages {
    site: Site,
    _other: Site,
    requests: Arc<Mutex<Vec<String>>>,
    typed: AtomicU32,
}

impl Pages {
    /// Starts both origins.
    pub async fn start() -> Self {
        let requests = Arc::new(Mutex::new(Vec::new()));
        let other = serve(&requests, String::new()).await;
        let origin = other.url("");
        let site = serve(&requests, origin).await;
        Self { site, _other: other, requests, typed: AtomicU32::default() }
    }

    /// The page of a kind.
    pub fn url(&self, kind: &str, beside: &str) -> String {
        self.site.url(&format!("/web/{kind}/{beside}"))
    }

    /// Forgets the requests so far.
    pub fn clear(&self) {
        if let Ok(mut requests) = self.requests.lock() {
            requests.clear();
        }
    }

    /// An address that nothing on a page leads to. It is new each time, so that no browser completes it.
    pub fn typed_url(&self) -> String {
        let nth = self.typed.fetch_add(1, Ordering::Relaxed);
        self.site.url(&format!("{TYPED}{nth:04}"))
    }

    /// Whether such an address was requested.
    pub fn was_typed(&self) -> bool {
        self.requests().iter().any(|path| path.starts_with(TYPED))
    }

    /// How far from the centre of its window a page was clicked last.
    pub fn click_from_centre(&self) -> Option<(i64, i64)> {
        let requests = self.requests();
        let last = requests.iter().rev().find_map(|path| path.strip_prefix(CLICKED))?;
        let (x, y) = last.split_once(',')?;
        Some((x.parse().ok()?, y.parse().ok()?))
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().map(|all| all.clone()).unwrap_or_default()
    }

    /// What the requests since then say: pages tell it with `as`, beacons with `/log?`.
    pub fn log(&self) -> Vec<String> {
        let requests = self.requests();
        let fact = |path: &String| {
            let fact = path.split_once("as=").or_else(|| path.split_once("/log?"))?.1;
            Some(fact.split('&').next().unwrap_or_default().to_owned())
        };
        requests.iter().filter_map(fact).collect()
    }
}

async fn serve(requests: &Arc<Mutex<Vec<String>>>, other: String) -> Site {
    let requests = requests.clone();
    Site::start(move |path| {
        if let Ok(mut requests) = requests.lock() {
            requests.push(path.to_owned());
        }
        answer(path, &other)
    })
    .await
}

fn answer(path: &str, other: &str) -> Page {
    let plain = path.split('?').next().unwrap_or_default();
    let mut parts = plain.split('/').skip(1);
    match (parts.next().unwrap_or_default(), parts.next(), parts.next()) {
        ("web", Some(kind), beside) => Page::html(outer(kind, beside.unwrap_or("none"), other)),
        ("inner", Some(kind), _) => Page::html(inner(kind)),
        ("slow", ..) => Page::html("slow").after(SLOW),
        ("slow-next", ..) => Page::html("<title>next</title><h1>Next, at last").after(SLOW),
        ("file", ..) => Page::file("a.txt", "content"),
        ("log", ..) => Page::html(""),
        _ => Page::html("<title>next</title><h1>Next"),
    }
}

/// The page of a kind. A frame of the other origin has the same kind with `-elsewhere`.
fn outer(kind: &str, beside: &str, other: &str) -> String {
    let (kind, origin) = match kind.strip_suffix("-elsewhere") {
        Some(kind) => (kind, other),
        None => (kind, ""),
    };
    let content = KINDS.iter().find_map(|text| section(text, kind)).unwrap_or("<p act>Nothing");
    let content = content.replace("src=\"/inner/", &format!("src=\"{origin}/inner/"));
    format!(
        "<!doctype html><html data-beside={beside}><title>effects</title><style>{CSS}</style>\
         <h1>{kind}</h1><p id=said></p><div id=beside></div><script>{SCRIPT}</script><div id=stage>{content}</div>"
    )
}

fn inner(kind: &str) -> String {
    let content = section(INNER, kind).unwrap_or_default();
    format!(
        "<!doctype html><title>inner</title><style>{INNER_CSS}</style><p id=said></p>\
         <script>{SCRIPT}</script>{content}"
    )
}

/// The part of a file after `<!-- kind NAME -->`.
fn section<'a>(text: &'a str, kind: &str) -> Option<&'a str> {
    let rest = text.split_once(&format!("<!-- kind {kind} -->\n"))?.1;
    Some(rest.split_once("<!-- kind ").map_or(rest, |(own, _)| own))
}
