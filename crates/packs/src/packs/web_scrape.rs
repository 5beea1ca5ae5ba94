//! `web.scrape`: reads a page as Markdown.

use std::time::Duration;

use bytes::Bytes;
use helmdeck_wire::{
    ErrorCode,
    browser::{Execute, Extract, ExtractFormat, Markdown, Patience, Until},
    nature::Nature,
    session::Mode,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    Context, Endpoint, Pack, PackError, PackResult, Routing, SessionNeed,
    json::at,
    post_with_retries::{Asked, post},
    pack::disabled,
    page::{PageUrl, explain, open, pause},
};

/// Longest Markdown and HTML in the output, in bytes. All of a longer one is an artifact.
const MAX_INLINE: usize = 200_000;
/// Longest Markdown that is read.
const MAX_MARKDOWN: u32 = 10_000_000;
/// How many links are returned.
const MAX_LINKS: usize = 1000;
/// How long Firecrawl may take, and the size of its answer.
const FIRECRAWL: (Duration, usize) = (Duration::from_secs(90), 8 << 20);
/// Addresses of all links, each once.
const LINKS: &str = "return [...new Set([...document.links].map((link) => link.href))]\
                     .filter((href) => /^https?:/.test(href)).slice(0, 1000)";

/// Read a page as Markdown.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WebScrape")]
struct Input {
    /// The address of the page.
    url: PageUrl,
    /// What to return.
    #[serde(default = "markdown_only")]
    #[schemars(length(min = 1, max = 4))]
    formats: Vec<Format>,
    /// Milliseconds to wait after the page is loaded.
    #[serde(default)]
    #[schemars(range(max = 30_000))]
    wait_ms: u32,
    /// What reads the page; Firecrawl by default if the operator enabled it, else the browser.
    #[serde(default)]
    engine: Option<Engine>,
}

/// What reads a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "WebScrapeEngine")]
enum Engine {
    /// The browser of a session.
    Browser,
    /// A Firecrawl server.
    Firecrawl,
}

fn markdown_only() -> Vec<Format> {
    vec![Format::Markdown]
}

/// A form of a page.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "WebScrapeFormat")]
enum Format {
    /// The main content as Markdown, without navigation and footers.
    Markdown,
    /// The page's HTML, after its scripts ran.
    Html,
    /// The same: scripts and styles included.
    RawHtml,
    /// Addresses of its links.
    Links,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "WebScrapeOutput")]
struct Output {
    /// The address of the page, after redirects.
    url: String,
    /// HTTP status of the page, if it had one.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    /// The page's title.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// The main content as Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    markdown: Option<String>,
    /// The page's HTML.
    #[serde(skip_serializing_if = "Option::is_none")]
    html: Option<String>,
    /// The page's HTML, if `rawHtml` was asked for.
    #[serde(rename = "rawHtml", skip_serializing_if = "Option::is_none")]
    raw_html: Option<String>,
    /// Addresses of its links.
    #[serde(skip_serializing_if = "Option::is_none")]
    links: Option<Vec<String>>,
    /// Whether a text is cut. The artifacts of the reply have all of it.
    truncated: bool,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("web.scrape", run)
        .doc(
            "Read a web page as Markdown: its main content, after its JavaScript ran, without navigation \
             and footers. Also returns HTML and links if asked.",
        )
        .nature(Nature::in_new_browser().reads())
        .session(SessionNeed::OneShot(Mode::Headless))
        .sessionless_if(|endpoints, input| match input.get("engine").and_then(Value::as_str) {
            Some(engine) => engine == "firecrawl",
            None => endpoints.firecrawl.is_some(),
        })
        .resumable()
        .cacheable()
        .timeout_s(300)
        .example(
            "Read an article",
            serde_json::json!({ "url": "https://example.com/article", "formats": ["markdown", "links"] }),
        )
        .routing(Routing {
            accepts: &["url"],
            produces: &["markdown", "html", "links"],
            intent_keywords: &["scrape", "read", "page", "article", "markdown", "website", "text"],
            typical_use: "Read an article or a documentation page.",
            limitations: &["One page for each call.", "Pages behind a login need browser.interact."],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Output> {
    let firecrawl = context.endpoints.firecrawl.clone();
    let mut output = match (input.engine, firecrawl) {
        (Some(Engine::Browser), _) | (None, None) => by_browser(&context, &input).await?,
        (_, Some(endpoint)) => by_firecrawl(&context, &endpoint, &input).await?,
        (Some(Engine::Firecrawl), None) => {
            let reason = disabled("HELMDECK_FIRECRAWL_ENABLED");
            return Err(PackError::invalid("engine", format!("engine: firecrawl is {reason}")));
        }
    };
    let mut truncated = output.truncated;
    for (text, name, kind) in [
        (&mut output.markdown, "page.md", "text/markdown"),
        (&mut output.html, "page.html", "text/html"),
        (&mut output.raw_html, "page.raw.html", "text/html"),
    ] {
        if let Some(text) = text.as_mut().filter(|text| text.len() > MAX_INLINE) {
            let whole = Bytes::from(text.clone());
            context.artifacts.put(name, kind, whole).await?;
            let end = (0..=MAX_INLINE).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            text.truncate(end);
            truncated = true;
        }
    }
    output.truncated = truncated;
    Ok(output)
}

async fn by_browser(context: &Context, input: &Input) -> PackResult<Output> {
    context.progress(0.1, "loading the page");
    let page = open(context, &input.url, Until::Load).await?;
    pause(input.wait_ms).await;
    context.progress(0.6, "reading the page");
    let mut output = Output { url: page.acted.url, status: page.status, ..Output::default() };
    output.title = Some(page.title).filter(|title| !title.is_empty());
    if input.formats.contains(&Format::Markdown) {
        let wanted = Markdown { max_bytes: Some(MAX_MARKDOWN), ..Markdown::default() };
        let read = context.act(&wanted).await.map_err(explain)?;
        output.title = Some(read.title).filter(|title| !title.is_empty()).or(output.title);
        output.truncated = read.truncated;
        output.markdown = Some(read.content);
    }
    let html = [Format::Html, Format::RawHtml].map(|format| input.formats.contains(&format));
    if html.contains(&true) {
        let wanted = Extract { format: ExtractFormat::Html, ..Extract::default() };
        let read = context.act(&wanted).await.map_err(explain)?;
        output.truncated |= read.truncated;
        let [plain, raw] = html;
        output.html = plain.then(|| read.content.clone());
        output.raw_html = raw.then_some(read.content);
    }
    if input.formats.contains(&Format::Links) {
        let script = LINKS.to_owned();
        let wanted = Execute { script, tab: None, timeout_s: Patience::default() };
        let found = context.act(&wanted).await.map_err(explain)?.result;
        output.links = Some(links(&found));
    }
    Ok(output)
}

fn links(found: &Value) -> Vec<String> {
    let found = found.as_array().into_iter().flatten().filter_map(Value::as_str);
    found.take(MAX_LINKS).map(str::to_owned).collect()
}

/// Asks a Firecrawl server.
async fn by_firecrawl(context: &Context, endpoint: &Endpoint, input: &Input) -> PackResult<Output> {
    // Firecrawl has its own way out, so the policy is asked here.
    drop(context.http.connect(input.url.as_str()).await?);
    let body = json!({
        "url": input.url.as_str(), "formats": input.formats, "waitFor": input.wait_ms,
    });
    let (timeout, max_bytes) = FIRECRAWL;
    let url = format!("{}/v1/scrape", endpoint.url);
    let asked = Asked { name: "Firecrawl", url, body: &body, timeout, max_bytes };
    let response = post(context.client_of(endpoint), asked).await?;
    let answer = serde_json::from_slice::<Value>(&response.body).unwrap_or_default();
    if !response.status.is_success() || at(&answer, "success").as_bool() == Some(false) {
        let reason = at(&answer, "error").as_str().unwrap_or("no reason given");
        let message = format!("Firecrawl failed ({}): {reason}", response.status.as_u16());
        return Err(PackError::failed(message));
    }
    let Some(data) = answer.get("data").filter(|_| !response.truncated) else {
        let message = "Firecrawl answered with something other than a page";
        return Err(PackError::new(ErrorCode::HandlerFailed, message));
    };
    let text = |field: &str| at(data, field).as_str().map(str::to_owned);
    let about = at(data, "metadata");
    Ok(Output {
        url: at(about, "url").as_str().unwrap_or(input.url.as_str()).to_owned(),
        status: at(about, "statusCode").as_u64().and_then(|code| u16::try_from(code).ok()),
        title: at(about, "title").as_str().map(str::to_owned),
        markdown: text("markdown"),
        html: text("html"),
        raw_html: text("rawHtml"),
        links: data.get("links").map(links),
        truncated: false,
    })
}
