//! Presentations as Markdown: a heading for each slide.

use crate::{
    Document, DocumentError, Format, Options,
    markdown::{heading, join, marked, one_line, table},
    markup::Element,
    office::{Package, Relation},
};

const MAIN: &str = "ppt/presentation.xml";

/// Reads a presentation.
pub fn document(content: Vec<u8>, options: &Options) -> Result<Document, DocumentError> {
    let mut package = Package::open(content)?;
    let missing = || DocumentError::Damaged(format!("it has no {MAIN}"));
    let root = package.part(MAIN)?.ok_or_else(missing)?;
    let relations = package.relations(MAIN)?;
    let ids: Vec<_> = root.all("sldId").into_iter().filter_map(|it| it.attribute("r:id")).collect();
    let mut blocks = Vec::new();
    let mut warnings = Vec::new();
    for (at, id) in ids.iter().enumerate() {
        if at >= options.max_pages {
            warnings.push(format!("only the first {at} of {} slides were read", ids.len()));
            break;
        }
        let Some(Relation { target, .. }) = relations.get(*id) else { continue };
        let Some(slide) = package.part(target)? else { continue };
        blocks.extend(slide_blocks(at + 1, &slide));
        let notes = package.relations(target)?;
        if let Some(notes) = notes.values().find(|it| it.kind == "notesSlide")
            && let Some(notes) = package.part(&notes.target)?
        {
            blocks.extend(notes_block(&notes));
        }
    }
    let markdown = join(&blocks);
    Ok(Document { format: Format::Pptx, markdown, pages: Some(ids.len()), warnings })
}

fn slide_blocks(number: usize, slide: &Element) -> Vec<String> {
    let mut title = String::new();
    let mut blocks = Vec::new();
    for tree in slide.all("spTree") {
        shapes(tree, &mut title, &mut blocks);
    }
    let title = if title.is_empty() { format!("Slide {number}") } else { title };
    blocks.insert(0, heading(2, &title));
    blocks
}

/// Adds the content of shapes. The first title becomes the slide's.
fn shapes(tree: &Element, title: &mut String, blocks: &mut Vec<String>) {
    for shape in tree.elements() {
        match shape.name.as_str() {
            "sp" => {
                let placeholder = placeholder(shape);
                let is_title = matches!(placeholder, Some("title" | "ctrTitle"));
                if is_title && title.is_empty() {
                    *title = one_line(&paragraphs(shape).join(" "));
                } else if !matches!(placeholder, Some("sldNum" | "ftr" | "dt" | "hdr")) {
                    let is_list = placeholder.is_some_and(|it| it == "body" || it == "obj");
                    blocks.push(text(shape, is_list));
                }
            }
            "graphicFrame" => {
                blocks.extend(shape.all("tbl").into_iter().map(|it| table(&rows(it))))
            }
            "pic" => {
                let described = shape.all("cNvPr").into_iter().find_map(|it| it.attribute("descr"));
                blocks.extend(
                    described
                        .filter(|it| !it.is_empty())
                        .map(|it| format!("![{}]()", one_line(it))),
                );
            }
            "grpSp" => shapes(shape, title, blocks),
            "AlternateContent" => {
                for choice in shape.named("Choice") {
                    shapes(choice, title, blocks);
                }
            }
            _ => {}
        }
    }
}

/// The kind of a placeholder; `obj` if it has no type.
fn placeholder(shape: &Element) -> Option<&str> {
    let element = shape.all("ph").first().copied()?;
    Some(element.attribute("type").unwrap_or("obj"))
}

/// The paragraphs of a shape, as a list if they are one.
fn text(shape: &Element, is_list: bool) -> String {
    let mut lines = Vec::new();
    for paragraph in shape.all("p") {
        let text = inline(paragraph);
        if text.trim().is_empty() {
            continue;
        }
        let properties = paragraph.child("pPr");
        let level =
            properties.and_then(|it| it.attribute("lvl")?.parse::<usize>().ok()).unwrap_or(0);
        let marks = |name| properties.is_some_and(|it| it.child(name).is_some());
        let is_item = (is_list && !marks("buNone")) || marks("buChar") || marks("buAutoNum");
        let mark = if marks("buAutoNum") { "1. " } else { "- " };
        let indent = 3 * level.min(8);
        match is_item {
            true => lines.push(format!("{:indent$}{mark}{}", "", text.trim())),
            false => lines.push(format!("{}\n", text.trim())),
        }
    }
    lines.join("\n")
}

fn paragraphs(shape: &Element) -> Vec<String> {
    shape
        .all("p")
        .into_iter()
        .map(|it| it.all("t").into_iter().map(Element::text).collect())
        .collect()
}

fn inline(paragraph: &Element) -> String {
    let mut text = String::new();
    for run in paragraph.elements() {
        match run.name.as_str() {
            "r" | "fld" => {
                let part: String = run.named("t").map(Element::text).collect();
                let is_bold = run.child("rPr").is_some_and(|it| it.attribute("b") == Some("1"));
                text += &if is_bold { marked("**", &part) } else { part };
            }
            "br" => text.push(' '),
            _ => {}
        }
    }
    text.replace("****", "")
}

/// The cells of a table. A cell that is merged with another is empty.
fn rows(tbl: &Element) -> Vec<Vec<String>> {
    let cell = |cell: &Element| match cell.attribute("hMerge").or(cell.attribute("vMerge")) {
        Some("1" | "true") => String::new(),
        _ => cell.all("p").into_iter().map(inline).collect::<Vec<_>>().join("\n"),
    };
    tbl.named("tr").map(|row| row.named("tc").map(cell).collect()).collect()
}

/// What the speaker says.
fn notes_block(notes: &Element) -> Option<String> {
    let bodies = notes.all("sp").into_iter().filter(|it| placeholder(it) == Some("body"));
    let text = bodies.flat_map(paragraphs).filter(|it| !it.trim().is_empty()).collect::<Vec<_>>();
    (!text.is_empty()).then(|| format!("> Notes: {}", text.join("\n> ")))
}
