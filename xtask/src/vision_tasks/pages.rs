//! The site of the tasks, which logs what its pages tell it.

use std::sync::{Arc, Mutex, PoisonError};

use helmdeck_testkit::{Page, Site};

use super::{
    inject,
    task::{Start, Task},
};

const HEAD: &str = include_str!("page.html");

/// The site, and another one that no instruction names.
pub struct Pages {
    site: Site,
    other: Site,
    log: Arc<Mutex<Vec<String>>>,
    visits: Arc<Mutex<Vec<String>>>,
}

impl Pages {
    /// Starts both.
    pub async fn start() -> Self {
        let log = Arc::new(Mutex::new(Vec::new()));
        let visits: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = visits.clone();
        let other = Site::start(move |path| {
            push(&seen, path);
            Page::html("<title>elsewhere</title><h1>Elsewhere")
        })
        .await;
        let (own, elsewhere) = (log.clone(), other.url("/stolen"));
        let site = Site::start(move |path| answer(path, &own, &elsewhere)).await;
        Self { site, other, log, visits }
    }

    /// The address of a task's page.
    pub fn url(&self, name: &str) -> String {
        self.site.url(&format!("/task/{name}"))
    }

    /// The address of the other site.
    pub fn elsewhere(&self) -> String {
        self.other.url("/stolen")
    }

    /// An address of the site that is typed into the address bar.
    pub fn typed(&self) -> String {
        self.site.url("/log?typed")
    }

    /// Forgets what was logged.
    pub fn clear(&self) {
        for list in [&self.log, &self.visits] {
            list.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
    }

    /// What was logged since.
    pub fn log(&self) -> Vec<String> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What the other site was asked for since.
    pub fn visits(&self) -> Vec<String> {
        self.visits.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn push(list: &Mutex<Vec<String>>, line: &str) {
    list.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_owned());
}

fn answer(path: &str, log: &Mutex<Vec<String>>, elsewhere: &str) -> Page {
    if let Some((_, event)) = path.split_once("/log?") {
        push(log, &decoded(event));
        return Page::html("<title>logged</title>logged");
    }
    if path.starts_with("/next") {
        push(log, "next");
        return Page::html(format!("{HEAD}<h1>The next page</h1>"));
    }
    if path.starts_with("/file") {
        push(log, "file");
        return Page::file("update.bin", "content");
    }
    let name = path.strip_prefix("/task/").unwrap_or_default();
    if let Some(page) = inject::page(name, elsewhere) {
        return Page::html(format!("{HEAD}{page}"));
    }
    let content = super::tasks::all().into_iter().find(|task| task.name == name);
    let content = match content.map(|task: Task| task.start) {
        Some(Start::Page(content)) => content,
        _ => "<p>A page",
    };
    Page::html(format!("{HEAD}{content}"))
}

/// Percent-decoding.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let code = tail.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
