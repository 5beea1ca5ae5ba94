//! Pages on paper.

use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error};

use super::{Patience, TabId};
use crate::{action::action, body::BytesReply};

/// The page as a PDF, as it would be printed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pdf {
    /// The long side of the paper is the upper one.
    #[serde(default)]
    pub landscape: bool,
    /// With colours and pictures behind the text.
    #[serde(default = "yes")]
    pub background: bool,
    /// The size of the paper.
    #[serde(default)]
    pub paper: Paper,
    /// How large everything is; 1 if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.1, max = 2.0))]
    pub scale: Option<f64>,
    /// What is left free on every side; 0.4 inches if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 10.0))]
    pub margin_inches: Option<f64>,
    /// Which pages of the document; all if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<PageRanges>,
    /// Which tab; the active one if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser Pdf, "browser_pdf", PdfDocument,
    drives |_: &Self| false, lasts |this: &Self| this.timeout_s.duration());

fn yes() -> bool {
    true
}

/// A size of paper.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Paper {
    /// 8.5 × 11 inches.
    #[default]
    Letter,
    /// 8.5 × 14 inches.
    Legal,
    /// 11 × 17 inches.
    Tabloid,
    /// 297 × 420 mm.
    A3,
    /// 210 × 297 mm.
    A4,
    /// 148 × 210 mm.
    A5,
}

impl Paper {
    /// Width and height in inches, upright.
    pub fn inches(self) -> (f64, f64) {
        let metric = |width: f64, height: f64| (width / 25.4, height / 25.4);
        match self {
            Self::Letter => (8.5, 11.0),
            Self::Legal => (8.5, 14.0),
            Self::Tabloid => (11.0, 17.0),
            Self::A3 => metric(297.0, 420.0),
            Self::A4 => metric(210.0, 297.0),
            Self::A5 => metric(148.0, 210.0),
        }
    }
}

/// Pages of a document, counted from 1: `1-3, 5`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct PageRanges(
    #[schemars(
        length(min = 1, max = 200),
        regex(
            pattern = "^ *0*[1-9][0-9]{0,8} *(- *0*[1-9][0-9]{0,8} *)?(, *0*[1-9][0-9]{0,8} *(- *0*[1-9][0-9]{0,8} *)?)*$"
        ),
        extend("x-expected" = "pages from 1 on, such as 1-3, 5")
    )]
    String,
);

impl PageRanges {
    /// As it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for PageRanges {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.len() <= 200 && text.split(',').all(|range| is_range(range.trim())) {
            return Ok(Self(text));
        }
        let expected = "expected pages from 1 on, such as 1-3, 5";
        Err(D::Error::custom(format!("{text:?} names no pages: {expected}")))
    }
}

/// Whether it is a page, or two in order.
fn is_range(range: &str) -> bool {
    let page = |text: &str| {
        let digits = text.trim().chars().all(|c| c.is_ascii_digit());
        text.trim().parse::<u32>().ok().filter(|page| digits && *page > 0)
    };
    match range.split_once('-') {
        Some((first, last)) => {
            matches!((page(first), page(last)), (Some(first), Some(last)) if first <= last)
        }
        None => page(range).is_some(),
    }
}

/// A document in PDF. It travels as the body of a reply.
#[derive(Debug, Clone)]
pub struct PdfDocument(pub Bytes);

impl BytesReply for PdfDocument {
    const DOC: &'static str = "A document.";
    const MEDIA_TYPES: &'static [&'static str] = &["application/pdf"];
    const HEADERS: &'static [&'static str] = &[];

    fn media_type(&self) -> &'static str {
        "application/pdf"
    }

    fn into_bytes(self) -> Bytes {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pages_are_numbers_in_order() {
        for good in ["1", "1-3, 5", " 2 - 2 ,7", "10-4294967295"] {
            serde_json::from_value::<PageRanges>(json!(good)).expect(good);
        }
        for bad in ["", "0", "3-1", "1-", "-2", "1,,2", "a", "1-2-3", "+1", "4294967296"] {
            serde_json::from_value::<PageRanges>(json!(bad)).expect_err(bad);
        }
    }
}
