//! PDF as Markdown: `pdftohtml` says what is written where and in which size, and this says what it is.

use std::{collections::BTreeMap, path::Path};

use crate::{
    Document, DocumentError, Format, Options,
    markdown::{heading, join},
    markup::{Dialect, Element, parse},
    ocr,
    pdf_table::{Part, parts},
    program::output,
};

/// Text of this much larger size than the rest is a heading.
const HEADING: f64 = 1.15;
/// Number of heading levels that sizes can have.
const LEVELS: usize = 4;
/// Longer lines are no headings.
const MAX_HEADING: usize = 200;

/// A line of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Distance from the top.
    pub top: f64,
    /// Height.
    pub height: f64,
    /// Size of its letters.
    pub size: f64,
    /// Whether all of it is bold.
    pub bold: bool,
    /// Texts with wide gaps between them, from left to right.
    pub cells: Vec<Cell>,
}

/// A text of a line.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Distance from the left.
    pub left: f64,
    /// Distance of its end from the left.
    pub right: f64,
    /// The text.
    pub text: String,
}

impl Line {
    /// The whole text.
    pub fn text(&self) -> String {
        self.cells.iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>().join(" ")
    }
}

/// Reads a PDF.
pub fn document(path: &Path, options: &Options) -> Result<Document, DocumentError> {
    let total = page_count(path)?;
    let last = total.min(options.max_pages);
    let last_text = last.to_string();
    let words = ["-xml", "-stdout", "-i", "-hidden", "-q", "-enc", "UTF-8", "-l", &last_text];
    let words = words.iter().map(Path::new).chain([path]);
    let xml = output("pdftohtml", words)?;
    let root = parse(&String::from_utf8_lossy(&xml), Dialect::Xml);
    let pages = pages(&root);
    let sizes = heading_sizes(&pages);
    let (mut blocks, mut warnings) = (Vec::new(), Vec::new());
    for page in 1..=last {
        let lines = pages.get(&page).map(Vec::as_slice).unwrap_or_default();
        if lines.is_empty() && options.ocr {
            match ocr::page_text(path, page, &options.languages) {
                Ok(text) => blocks.push(text),
                // The rest of the document is worth having.
                Err(DocumentError::MissingProgram(name)) => {
                    warnings.push(format!("page {page} is a picture, and {name} is not installed"));
                }
                Err(error) => return Err(error),
            }
        } else {
            blocks.extend(page_blocks(lines, &sizes));
        }
    }
    if last < total {
        warnings.push(format!("only the first {last} of {total} pages were read"));
    }
    Ok(Document { format: Format::Pdf, markdown: join(&blocks), pages: Some(total), warnings })
}

/// The number of pages.
pub fn page_count(path: &Path) -> Result<usize, DocumentError> {
    let info = output("pdfinfo", [path]).map_err(|error| match error {
        DocumentError::Program { message, .. } if message.contains("Incorrect password") => {
            DocumentError::Damaged("it needs a password".to_owned())
        }
        DocumentError::Program { message, .. } => DocumentError::Damaged(message),
        other => other,
    })?;
    let info = String::from_utf8_lossy(&info);
    let pages = info.lines().find_map(|line| line.strip_prefix("Pages:")?.trim().parse().ok());
    pages.ok_or_else(|| DocumentError::Damaged("it does not say how many pages it has".to_owned()))
}

/// The lines of every page.
fn pages(root: &Element) -> BTreeMap<usize, Vec<Line>> {
    let number = |element: &Element, name: &str| {
        element.attribute(name).and_then(|value| value.parse::<f64>().ok()).unwrap_or_default()
    };
    let mut sizes: BTreeMap<String, f64> = BTreeMap::new();
    let mut pages = BTreeMap::new();
    for page in root.all("page") {
        for font in page.all("fontspec") {
            let id = font.attribute("id").unwrap_or_default();
            sizes.insert(id.to_owned(), number(font, "size"));
        }
        let mut lines: Vec<Line> = Vec::new();
        for text in page.all("text") {
            let content = text.text();
            let content = content.trim();
            if content.is_empty() {
                continue;
            }
            let (top, left) = (number(text, "top"), number(text, "left"));
            let (width, height) = (number(text, "width"), number(text, "height").max(1.0));
            let font = text.attribute("font").unwrap_or_default();
            let bold = text.child("b").is_some_and(|bold| bold.text().trim() == content);
            let size = sizes.get(font).copied().filter(|size| *size > 0.0).unwrap_or(height);
            let cell = Cell { left, right: left + width, text: content.to_owned() };
            let middle = top + height / 2.0;
            let same = |line: &&mut Line| {
                (line.top + line.height / 2.0 - middle).abs() < 0.4 * line.height.min(height)
            };
            match lines.iter_mut().rev().take(60).find(same) {
                Some(line) => {
                    line.size = line.size.max(size);
                    line.bold &= bold;
                    line.cells.push(cell);
                }
                None => lines.push(Line { top, height, size, bold, cells: vec![cell] }),
            }
        }
        lines.sort_by(|a, b| a.top.total_cmp(&b.top));
        lines.iter_mut().for_each(merge);
        pages.insert(number(page, "number") as usize, lines);
    }
    pages
}

/// Joins texts of a line that are close to each other.
fn merge(line: &mut Line) {
    line.cells.sort_by(|a, b| a.left.total_cmp(&b.left));
    let wide = 1.2 * line.height;
    let mut merged: Vec<Cell> = Vec::new();
    for cell in std::mem::take(&mut line.cells) {
        match merged.last_mut() {
            Some(before) if cell.left - before.right < wide => {
                let is_apart = cell.left - before.right > 0.1 * line.height;
                let space = if is_apart { " " } else { "" };
                before.text = format!("{}{space}{}", before.text, cell.text);
                before.right = before.right.max(cell.right);
            }
            _ => merged.push(cell),
        }
    }
    line.cells = merged;
}

/// The sizes of headings, the largest first.
fn heading_sizes(pages: &BTreeMap<usize, Vec<Line>>) -> Vec<f64> {
    let mut letters: BTreeMap<u64, usize> = BTreeMap::new();
    let rounded = |size: f64| (size * 2.0).round() as u64;
    for line in pages.values().flatten() {
        *letters.entry(rounded(line.size)).or_default() += line.text().len();
    }
    let usual = letters.iter().max_by_key(|(_, count)| **count).map(|(size, _)| *size);
    let usual = usual.unwrap_or_default() as f64;
    let larger = letters.keys().rev().filter(|size| **size as f64 > usual * HEADING);
    larger.take(LEVELS).map(|size| *size as f64 / 2.0).collect()
}

fn page_blocks(lines: &[Line], sizes: &[f64]) -> Vec<String> {
    let mut blocks = Vec::new();
    for part in parts(lines) {
        match part {
            Part::Table(table) => blocks.push(table),
            Part::Lines(lines) => paragraphs(&lines, sizes, &mut blocks),
        }
    }
    blocks
}

/// Headings, items of lists, and paragraphs of lines that belong together.
fn paragraphs(lines: &[Line], sizes: &[f64], blocks: &mut Vec<String>) {
    let mut open: Option<(String, &Line)> = None;
    for line in lines {
        let text = line.text();
        let level = sizes.iter().position(|size| line.size + 0.3 >= *size);
        let level = level.filter(|_| text.chars().count() <= MAX_HEADING);
        let item = item(&text);
        let follows = open.as_ref().is_some_and(|(_, last)| {
            let gap = line.top - (last.top + last.height);
            gap < 0.6 * last.height
                && gap > -last.height
                && (line.size - last.size).abs() < 0.6
                && line.bold == last.bold
        });
        match &mut open {
            Some((paragraph, last)) if follows && level.is_none() && item.is_none() => {
                join_line(paragraph, &text);
                *last = line;
                continue;
            }
            _ => {}
        }
        if let Some((paragraph, _)) = open.take() {
            push(paragraph, blocks);
        }
        match (level, item) {
            (Some(level), _) => {
                let same = format!("{} ", "#".repeat(level + 1));
                match blocks.last_mut().filter(|it| follows && it.starts_with(&same)) {
                    // A long heading continues on the next line.
                    Some(before) => *before = format!("{before} {text}"),
                    None => blocks.push(heading(level + 1, &text)),
                }
                open = None;
            }
            (None, Some(item)) => open = Some((item, line)),
            (None, None) if line.bold => open = Some((format!("**{text}**"), line)),
            (None, None) => open = Some((text, line)),
        }
    }
    if let Some((paragraph, _)) = open {
        push(paragraph, blocks);
    }
}

/// Adds a paragraph. Items that follow each other are one block.
fn push(paragraph: String, blocks: &mut Vec<String>) {
    match blocks.last_mut().filter(|last| paragraph.starts_with("- ") && last.starts_with("- ")) {
        Some(last) => *last = format!("{last}\n{paragraph}"),
        None => blocks.push(paragraph),
    }
}

/// The Markdown of an item of a list.
fn item(text: &str) -> Option<String> {
    let rest = text.strip_prefix(['•', '▪', '◦', '‣', '·', '●', '■'])?;
    Some(format!("- {}", rest.trim_start()))
}

/// Adds a line to a paragraph. A word that was divided is joined.
fn join_line(paragraph: &mut String, line: &str) {
    let divided = paragraph.ends_with('-')
        && paragraph.chars().rev().nth(1).is_some_and(char::is_alphabetic)
        && line.starts_with(char::is_lowercase);
    if divided {
        paragraph.pop();
        *paragraph += line;
    } else if let Some(inner) = paragraph.strip_suffix("**").filter(|it| it.starts_with("**")) {
        *paragraph = format!("{inner} {line}**");
    } else {
        *paragraph = format!("{paragraph} {line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_headings_paragraphs_lists_and_tables() {
        let xml = r##"<pdf2xml><page number="1" height="1000" width="800">
            <fontspec id="0" size="24"/><fontspec id="1" size="12"/>
            <text top="50" left="50" width="200" height="26" font="0"><b>Report</b></text>
            <text top="100" left="50" width="400" height="14" font="1">The first para-</text>
            <text top="115" left="50" width="400" height="14" font="1">graph goes <b>on</b>.</text>
            <text top="150" left="50" width="400" height="14" font="1">Second.</text>
            <text top="180" left="50" width="100" height="14" font="1">• one</text>
            <text top="195" left="50" width="100" height="14" font="1">• two</text>
            <text top="240" left="50" width="50" height="14" font="1">Name</text>
            <text top="240" left="200" width="50" height="14" font="1">Price</text>
            <text top="256" left="50" width="60" height="14" font="1">Tea</text>
            <text top="256" left="220" width="30" height="14" font="1">3.50</text>
            <text top="272" left="50" width="90" height="14" font="1">Coffee</text>
            <text top="272" left="215" width="35" height="14" font="1">12.00</text>
            <text top="320" left="50" width="400" height="14" font="1">The end of it all.</text>
            </page></pdf2xml>"##;
        let pages = pages(&parse(xml, Dialect::Xml));
        let sizes = heading_sizes(&pages);
        assert_eq!(
            join(&page_blocks(&pages[&1], &sizes)),
            "# Report\n\nThe first paragraph goes on.\n\nSecond.\n\n- one\n- two\n\n\
             | Name | Price |\n| --- | --- |\n| Tea | 3.50 |\n| Coffee | 12.00 |\n\nThe end of it all.\n"
        );
    }
}
