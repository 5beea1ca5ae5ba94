//! Word documents as Markdown.

use std::collections::HashMap;

use crate::{
    Document, DocumentError, Format,
    markdown::{heading, join, marked, table},
    markup::Element,
    office::{Package, Relation},
};

const MAIN: &str = "word/document.xml";
/// How many styles a style can be based on.
const MAX_BASES: usize = 16;

/// Reads a document.
pub fn document(content: Vec<u8>) -> Result<Document, DocumentError> {
    let mut package = Package::open(content)?;
    let missing = || DocumentError::Damaged(format!("it has no {MAIN}"));
    let root = package.part(MAIN)?.ok_or_else(missing)?;
    let styles = package.part("word/styles.xml")?.unwrap_or_default();
    let numbering = package.part("word/numbering.xml")?.unwrap_or_default();
    let notes = package.part("word/footnotes.xml")?.unwrap_or_default();
    let mut reader = Reader {
        styles: Style::all(&styles),
        lists: lists(&numbering),
        relations: package.relations(MAIN)?,
        counters: HashMap::new(),
    };
    let mut blocks = Vec::new();
    for body in root.all("body") {
        reader.blocks(body, &mut blocks);
    }
    blocks.extend(reader.notes(&notes));
    let markdown = join(&blocks);
    Ok(Document { format: Format::Docx, markdown, pages: None, warnings: Vec::new() })
}

struct Reader {
    styles: HashMap<String, Style>,
    /// Whether the levels of a list are numbered, by the list's id.
    lists: HashMap<String, Vec<bool>>,
    relations: HashMap<String, Relation>,
    /// Last numbers of lists, by id and level.
    counters: HashMap<(String, usize), usize>,
}

impl Reader {
    fn blocks(&mut self, element: &Element, blocks: &mut Vec<String>) {
        for inner in element.elements() {
            match inner.name.as_str() {
                "p" => self.paragraph(inner, blocks),
                "tbl" => blocks.push(table(&self.rows(inner))),
                "sdt" | "sdtContent" | "ins" | "moveTo" | "customXml" | "smartTag" => {
                    self.blocks(inner, blocks);
                }
                _ => {}
            }
        }
    }

    fn paragraph(&mut self, paragraph: &Element, blocks: &mut Vec<String>) {
        let text = self.inline(paragraph);
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        let properties = paragraph.child("pPr");
        let value = |name: &str| {
            properties.and_then(|it| it.child(name)).and_then(|it| it.attribute("val"))
        };
        let style = value("pStyle").and_then(|id| self.styles.get(id));
        let outline = value("outlineLvl").and_then(|level| level.parse().ok());
        if let Some(level) = outline.filter(|level| *level < 9).or(style.and_then(|it| it.heading))
        {
            blocks.push(heading(level + 1, &text.replace("**", "")));
            return;
        }
        let own = properties.and_then(|it| it.child("numPr")).map(numbered);
        let listed = own.or_else(|| style.and_then(|style| style.list.clone()));
        match listed.filter(|(id, _)| id != "0") {
            Some((id, level)) => self.item(&id, level, text, blocks),
            None => blocks.push(text.replace('\n', "  \n")),
        }
    }

    /// An item of a list. Items that follow each other are one block.
    fn item(&mut self, id: &str, level: usize, text: &str, blocks: &mut Vec<String>) {
        let is_numbered =
            self.lists.get(id).and_then(|it| it.get(level)).copied().unwrap_or_default();
        self.counters.retain(|(list, deeper), _| list != id || *deeper <= level);
        let counter = self.counters.entry((id.to_owned(), level)).or_default();
        *counter += 1;
        let mark = if is_numbered { format!("{counter}. ") } else { "- ".to_owned() };
        let indent = 3 * level;
        let item = format!("{:indent$}{mark}{}", "", text.replace('\n', " "));
        match blocks.last_mut().filter(|block| is_item(block)) {
            Some(block) => *block = format!("{block}\n{item}"),
            None => blocks.push(item),
        }
    }

    /// The text of a paragraph, with emphasis and links.
    fn inline(&self, element: &Element) -> String {
        let mut text = String::new();
        for inner in element.elements() {
            match inner.name.as_str() {
                "r" => text += &self.run(inner),
                "hyperlink" => {
                    let shown = self.inline(inner);
                    let target = inner.attribute("r:id").and_then(|id| self.relations.get(id));
                    text += &match target {
                        Some(relation) if !shown.trim().is_empty() => {
                            format!("[{}]({})", shown.trim(), relation.target)
                        }
                        _ => shown,
                    };
                }
                "ins" | "moveTo" | "smartTag" | "sdt" | "sdtContent" | "fldSimple"
                | "customXml" => {
                    text += &self.inline(inner);
                }
                "oMath" | "oMathPara" => text += &inner.text(),
                _ => {}
            }
        }
        text.replace("****", "")
    }

    fn run(&self, run: &Element) -> String {
        let mut text = String::new();
        for inner in run.elements() {
            match inner.name.as_str() {
                "t" => text += &inner.text(),
                "tab" => text.push(' '),
                "br" | "cr" => text.push('\n'),
                "noBreakHyphen" => text.push('-'),
                "footnoteReference" => {
                    text += &format!("[^{}]", inner.attribute("id").unwrap_or_default());
                }
                "drawing" | "pict" | "AlternateContent" => text += &self.drawing(inner),
                _ => {}
            }
        }
        let properties = run.child("rPr");
        let is_on = |name: &str| {
            let flag = properties.and_then(|it| it.child(name));
            flag.is_some_and(|it| !matches!(it.attribute("val"), Some("0" | "false" | "none")))
        };
        if is_on("vanish") {
            return String::new();
        }
        let text = if is_on("i") { marked("*", &text) } else { text };
        if is_on("b") { marked("**", &text) } else { text }
    }

    /// What a picture shows, and the text of boxes.
    fn drawing(&self, drawing: &Element) -> String {
        // The same again for old programs.
        let shown: Vec<_> = drawing.elements().filter(|it| it.name != "Fallback").collect();
        let mut texts = Vec::new();
        for element in shown {
            let described = element.all("docPr").into_iter().filter_map(|it| it.attribute("descr"));
            texts.extend(described.filter(|it| !it.is_empty()).map(|it| format!("![{it}]()")));
            for content in element.all("txbxContent") {
                let paragraphs = content.named("p").map(|it| self.inline(it));
                texts.push(paragraphs.collect::<Vec<_>>().join("\n"));
            }
        }
        texts.join("\n")
    }

    /// The cells of a table. A cell that is merged with another is empty.
    fn rows(&mut self, tbl: &Element) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        for line in direct(tbl, "tr") {
            let skipped = line.child("trPr").and_then(|it| it.child("gridBefore"));
            let skipped = skipped.and_then(|it| it.attribute("val")?.parse::<usize>().ok());
            let mut row = vec![String::new(); skipped.unwrap_or_default().min(100)];
            for cell in direct(line, "tc") {
                let properties = cell.child("tcPr");
                let span = properties.and_then(|it| it.child("gridSpan"));
                let span =
                    span.and_then(|it| it.attribute("val")?.parse::<usize>().ok()).unwrap_or(1);
                let merge = properties.and_then(|it| it.child("vMerge"));
                let continues = merge.is_some_and(|it| it.attribute("val") != Some("restart"));
                let mut blocks = Vec::new();
                if !continues {
                    self.blocks(cell, &mut blocks);
                }
                row.push(blocks.join("\n"));
                row.extend(vec![String::new(); span.clamp(1, 100) - 1]);
            }
            rows.push(row);
        }
        rows
    }

    fn notes(&mut self, notes: &Element) -> Vec<String> {
        let mut texts = Vec::new();
        for note in notes.all("footnote").into_iter().filter(|it| it.attribute("type").is_none()) {
            let text =
                note.all("p").into_iter().map(|it| self.inline(it)).collect::<Vec<_>>().join(" ");
            let id = note.attribute("id").unwrap_or_default();
            texts.push(format!("[^{id}]: {}", text.trim()));
        }
        texts
    }
}

/// Elements of a table or row, also those inside content controls.
fn direct<'a>(element: &'a Element, name: &str) -> Vec<&'a Element> {
    let mut found = Vec::new();
    for inner in element.elements() {
        match inner.name.as_str() {
            it if it == name => found.push(inner),
            "sdt" | "sdtContent" | "ins" | "customXml" => found.extend(direct(inner, name)),
            _ => {}
        }
    }
    found
}

fn is_item(block: &str) -> bool {
    let first = block.trim_start();
    let digits = first.trim_start_matches(|c: char| c.is_ascii_digit());
    first.starts_with("- ") || (digits.len() < first.len() && digits.starts_with(". "))
}

/// A style of paragraphs.
#[derive(Debug, Clone, Default)]
struct Style {
    /// Level of a heading, from 0.
    heading: Option<usize>,
    /// Id and level of a list.
    list: Option<(String, usize)>,
}

impl Style {
    fn all(styles: &Element) -> HashMap<String, Self> {
        let elements: HashMap<_, _> = styles
            .all("style")
            .into_iter()
            .filter_map(|style| Some((style.attribute("styleId")?, style)))
            .collect();
        let mut all = HashMap::new();
        for id in elements.keys() {
            all.insert((*id).to_owned(), Self::of(id, &elements));
        }
        all
    }

    /// A style, or what it inherits.
    fn of(id: &str, styles: &HashMap<&str, &Element>) -> Self {
        let mut found = Self::default();
        let mut next = Some(id);
        for _ in 0..MAX_BASES {
            let Some(style) = next.and_then(|id| styles.get(id)) else { break };
            let value = |name| style.child(name).and_then(|it| it.attribute("val"));
            let name = value("name").unwrap_or_default().to_ascii_lowercase();
            let properties = style.child("pPr");
            let level = name.strip_prefix("heading ").and_then(|level| level.parse::<usize>().ok());
            let outline = properties.and_then(|it| it.child("outlineLvl"));
            let outline = outline.and_then(|it| it.attribute("val")?.parse::<usize>().ok());
            let own = level.map(|level| level.saturating_sub(1)).or(outline.filter(|it| *it < 9));
            let own = own.or_else(|| (name == "title").then_some(0));
            found.heading = found.heading.or(own);
            let list = properties.and_then(|it| it.child("numPr")).map(numbered);
            found.list = found.list.or(list);
            next = value("basedOn");
        }
        found
    }
}

/// The id and the level of a list.
fn numbered(properties: &Element) -> (String, usize) {
    let value = |name| properties.child(name).and_then(|it| it.attribute("val"));
    let level = value("ilvl").and_then(|level| level.parse().ok()).unwrap_or(0_usize);
    (value("numId").unwrap_or("0").to_owned(), level.min(8))
}

/// Whether the levels of each list are numbered.
fn lists(numbering: &Element) -> HashMap<String, Vec<bool>> {
    let mut kinds: HashMap<&str, Vec<bool>> = HashMap::new();
    for list in numbering.all("abstractNum") {
        let formats = list.named("lvl").map(|level| {
            let format = level.child("numFmt").and_then(|it| it.attribute("val"));
            !matches!(format, None | Some("bullet" | "none"))
        });
        kinds.insert(list.attribute("abstractNumId").unwrap_or_default(), formats.collect());
    }
    let list = |element: &&Element| {
        let kind = element.child("abstractNumId")?.attribute("val")?;
        Some((element.attribute("numId")?.to_owned(), kinds.get(kind)?.clone()))
    };
    numbering.all("num").iter().filter_map(list).collect()
}
