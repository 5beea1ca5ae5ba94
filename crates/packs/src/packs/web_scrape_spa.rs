//! `web.scrape_spa`: reads named parts of a page that needs JavaScript.

use std::collections::BTreeMap;

use helmdeck_wire::{
    ErrorCode,
    browser::{Extract, ExtractFormat, Patience, Selector, Until},
    nature::Nature,
    session::Mode,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Context, Pack, PackError, PackResult, Routing, SessionNeed,
    page::{PageUrl, explain, open, pause},
};

/// How long the later fields wait: the page had its time with the first one.
const LATER: Patience = Patience::seconds(0.5);
/// How many fields one call reads.
const MAX_FIELDS: usize = 100;
/// How much of each field is returned, in characters.
const MAX_TEXT: usize = 100_000;

/// Read named parts of a page.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WebScrapeSpa")]
struct Input {
    /// The address of the page.
    url: PageUrl,
    /// What to read, by name.
    fields: BTreeMap<String, Field>,
    /// Milliseconds to wait after the page is loaded.
    #[serde(default)]
    #[schemars(range(max = 30_000))]
    wait_ms: u32,
    /// Seconds to wait for the first field that is not there yet.
    #[serde(default)]
    timeout_s: Patience,
}

/// A part of a page.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WebScrapeSpaField")]
struct Field {
    /// The element.
    selector: Selector,
    /// Text or HTML.
    #[serde(default)]
    format: ExtractFormat,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WebScrapeSpaOutput")]
struct Output {
    /// The address of the page, after redirects.
    url: String,
    /// What was read, by name.
    data: BTreeMap<String, String>,
    /// Names of fields that the page does not have.
    missing: Vec<String>,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("web.scrape_spa", run)
        .doc(
            "Read named parts of a web page by selector, after its JavaScript ran. Fields that the page \
             does not have are listed in `missing`.",
        )
        .nature(Nature::in_new_browser().reads())
        .session(SessionNeed::OneShot(Mode::Headless))
        .resumable()
        .cacheable()
        .timeout_s(600)
        .example(
            "Read a price",
            serde_json::json!({ "url": "https://example.com/product", "fields": { "price": { "selector": ".price" } } }),
        )
        .routing(Routing {
            accepts: &["url", "selectors"],
            produces: &["json"],
            intent_keywords: &["scrape", "extract", "fields", "spa", "data", "prices"],
            typical_use: "Read prices, titles or tables when the selectors are known.",
            limitations: &["For the whole text of a page, use web.scrape."],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Output> {
    if !(1..=MAX_FIELDS).contains(&input.fields.len()) {
        return Err(PackError::invalid("fields", format!("fields: name 1 to {MAX_FIELDS}")));
    }
    context.progress(0.1, "loading the page");
    let url = open(&context, &input.url, Until::Load).await?.acted.url;
    pause(input.wait_ms).await;
    let (mut data, mut missing) = (BTreeMap::new(), Vec::new());
    let mut timeout_s = input.timeout_s;
    for (name, Field { selector, format }) in input.fields {
        let extract = Extract { selector: Some(selector), format, tab: None, timeout_s };
        match context.act(&extract).await {
            Ok(found) => {
                data.insert(name, found.content.chars().take(MAX_TEXT).collect());
            }
            Err(error) if error.code() == ErrorCode::ElementNotFound => {
                missing.push(name);
                timeout_s = LATER;
            }
            Err(error) => return Err(explain(error)),
        }
    }
    if data.is_empty() {
        let message = format!("the page has none of the fields: {}", missing.join(", "));
        let hint = "read the page with web.scrape, or look at it with browser.screenshot_url";
        return Err(PackError::failed(message).hint(hint));
    }
    Ok(Output { url, data, missing })
}
