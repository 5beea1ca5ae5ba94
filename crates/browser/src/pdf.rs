//! Prints a page to PDF.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use helmdeck_cdp::CdpError;
use helmdeck_wire::browser::{Pdf, PdfDocument};
use serde::Deserialize;
use serde_json::json;

use crate::{BrowserError, page_action::PageAction};

/// The default margin on every side, in inches.
const MARGIN: f64 = 0.4;

#[derive(Deserialize)]
struct Printed {
    data: String,
}

impl PageAction {
    pub async fn pdf(&mut self, pdf: &Pdf) -> Result<PdfDocument, BrowserError> {
        let (width, height) = pdf.paper.inches();
        let margin = pdf.margin_inches.unwrap_or(MARGIN);
        let params = json!({
            "landscape": pdf.landscape,
            "printBackground": pdf.background,
            "scale": pdf.scale.unwrap_or(1.0),
            "paperWidth": width,
            "paperHeight": height,
            "marginTop": margin,
            "marginBottom": margin,
            "marginLeft": margin,
            "marginRight": margin,
            "pageRanges": pdf.pages.as_ref().map(|pages| pages.as_str()).unwrap_or_default(),
        });
        let session = self.page.session();
        let printed = self.page.call(session, "Page.printToPDF", params, self.deadline).await;
        let printed: Printed = printed.map_err(meant)?;
        let bytes = BASE64_STANDARD.decode(printed.data).map_err(|error| {
            CdpError::Nonsense(<serde_json::Error as serde::de::Error>::custom(error))
        })?;
        Ok(PdfDocument(bytes.into()))
    }
}

/// Maps errors that the browser finds only when it prints: wrong page ranges, and no room left.
fn meant(error: BrowserError) -> BrowserError {
    let BrowserError::Browser(CdpError::Refused { message, .. }) = &error else { return error };
    let field = |field: &str, why: &str| BrowserError::Field {
        field: field.to_owned(),
        why: why.to_owned(),
    };
    if message.contains("range") {
        field("pages", "the document has fewer pages")
    } else if message.contains("content area") {
        field("margin_inches", "the margins leave no room on the page; use smaller ones")
    } else if message.contains("Printing failed") {
        let why = "the page navigated while it was printed; wait for it and try again";
        BrowserError::Timeout(why.to_owned())
    } else {
        error
    }
}
