//! Printing pages to PDF.

use helmdeck_wire::{ErrorCode, body::BytesReply as _, browser::PdfDocument};
use serde_json::{Value, json};

use crate::desk::{Desk, Done, failure, request};

const PAGE: &str = "<p>one<p style='break-before: page'>two<p style='break-before: page'>three";

async fn print(desk: &Desk, value: Value) -> Done<PdfDocument> {
    desk.browser.pdf(&request(value)).await
}

/// How many pages a document has, and the size of the first in points.
fn read(pdf: &[u8]) -> (usize, Vec<f64>) {
    assert!(pdf.starts_with(b"%PDF-"));
    let text = String::from_utf8_lossy(pdf);
    let pages = text.matches("/Type /Page\n").count();
    let sides = text.split_once("/MediaBox [").unwrap().1.split_once(']').unwrap().0;
    let sides: Vec<f64> = sides.split_whitespace().map(|side| side.parse().unwrap()).collect();
    (pages, sides[2..].iter().map(|side| side.round()).collect())
}

#[tokio::test]
async fn a_page_is_printed_as_asked() {
    let desk = Desk::showing(PAGE).await;
    let pdf = print(&desk, json!({})).await.unwrap();
    assert_eq!(pdf.media_type(), "application/pdf");
    assert_eq!(read(&pdf.into_bytes()), (3, vec![612.0, 792.0]));

    let some = json!({
        "pages": "1, 3", "paper": "a4", "landscape": true, "scale": 0.5, "margin_inches": 0,
        "background": false,
    });
    let (pages, sides) = read(&print(&desk, some).await.unwrap().0);
    assert_eq!(pages, 2);
    assert!(sides[0] > sides[1] && (sides[1] - 595.0).abs() <= 1.0, "{sides:?}");

    for (value, field) in
        [(json!({ "pages": "4-9" }), "pages"), (json!({ "margin_inches": 9 }), "margin_inches")]
    {
        let (code, message) = failure(print(&desk, value).await);
        assert_eq!(code, ErrorCode::InvalidInput);
        assert!(message.starts_with(field), "{message}");
    }
}
