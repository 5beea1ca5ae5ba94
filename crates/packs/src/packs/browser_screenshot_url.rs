//! `browser.screenshot_url`: takes a picture of a page.

use helmdeck_wire::{
    browser::{PageScreenshot, Selector, Until},
    nature::Nature,
    session::Mode,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Context, Pack, PackResult, Routing, SessionNeed,
    page::{PageUrl, open, pause, picture, png},
};

/// Take a picture of a page.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "BrowserScreenshotUrl")]
struct Input {
    /// The address of the page.
    url: PageUrl,
    /// The whole page instead of what a window shows of it.
    #[serde(default, rename = "fullPage")]
    full_page: bool,
    /// Only this element.
    #[serde(default)]
    selector: Option<Selector>,
    /// When the page counts as loaded.
    #[serde(default)]
    wait_until: Until,
    /// Milliseconds to wait after the page is loaded.
    #[serde(default)]
    #[schemars(range(max = 30_000))]
    wait_ms: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "BrowserScreenshotUrlOutput")]
struct Output {
    /// The address of the page, after redirects.
    url: String,
    /// The page's title.
    title: String,
    /// HTTP status of the page, if it had one.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    /// Key of the picture, a PNG.
    artifact_key: String,
    /// Size of the picture in bytes.
    size: u64,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("browser.screenshot_url", run)
        .doc("Take a picture of a web page in a headless browser. The picture is an artifact.")
        .nature(Nature::in_new_browser())
        .session(SessionNeed::OneShot(Mode::Headless))
        .resumable()
        .cacheable()
        .timeout_s(300)
        .example(
            "The whole page",
            serde_json::json!({ "url": "https://example.com", "fullPage": true }),
        )
        .routing(Routing {
            accepts: &["url"],
            produces: &["image", "artifact"],
            intent_keywords: &["screenshot", "picture", "capture", "page", "website"],
            typical_use: "See how a page looks.",
            limitations: &["Not visible to the operator unless the session has a desktop."],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Output> {
    context.progress(0.2, "loading the page");
    let page = open(&context, &input.url, input.wait_until).await?;
    pause(input.wait_ms).await;
    context.progress(0.7, "taking the picture");
    let wanted = PageScreenshot {
        full_page: input.full_page,
        selector: input.selector,
        format: png(),
        ..PageScreenshot::default()
    };
    let made = picture(&context, "screenshot", &wanted).await?;
    Ok(Output {
        url: page.acted.url,
        title: page.title,
        status: page.status,
        artifact_key: made.key,
        size: made.size,
    })
}
