//! Web pages as Markdown.

use crate::{
    markdown::{hanging, heading, join, marked, one_line, table},
    markup::{Dialect, Element, Node, parse},
};

/// Elements that show nothing, or nothing that is text.
const HIDDEN: [&str; 10] = [
    "head", "script", "style", "noscript", "template", "svg", "iframe", "object", "canvas",
    "select",
];
/// Elements that begin on a new line.
const BLOCKS: [&str; 29] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "center",
    "details",
    "div",
    "dl",
    "dd",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "header",
    "hgroup",
    "hr",
    "html",
    "main",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "summary",
    "table",
    "ul",
];
/// Largest number of columns or rows that a cell can span.
const MAX_SPAN: usize = 100;

/// A page as Markdown.
pub fn markdown(source: &str) -> String {
    let root = parse(source, Dialect::Html);
    let body = root.all("body").first().copied().unwrap_or(&root);
    join(&blocks(body))
}

/// The blocks of an element's content.
fn blocks(element: &Element) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut line = String::new();
    for node in &element.children {
        match node {
            Node::Element(inner) if is_block(inner) => {
                flush(&mut line, &mut blocks);
                blocks.extend(block(inner));
            }
            node => inline(node, &mut line),
        }
    }
    flush(&mut line, &mut blocks);
    blocks
}

fn flush(line: &mut String, blocks: &mut Vec<String>) {
    let text = tidy(&std::mem::take(line));
    if !text.is_empty() {
        blocks.push(text);
    }
}

/// Single spaces, and none around line breaks. Two spaces before one keep it in Markdown.
fn tidy(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(one_line).collect();
    lines.join("  \n").trim().to_owned()
}

fn is_block(element: &Element) -> bool {
    let name = element.name.as_str();
    BLOCKS.contains(&name) || heading_level(name).is_some()
}

fn heading_level(name: &str) -> Option<usize> {
    let level = name.strip_prefix('h')?.parse().ok()?;
    (1..=6).contains(&level).then_some(level)
}

fn block(element: &Element) -> Vec<String> {
    let name = element.name.as_str();
    if let Some(level) = heading_level(name) {
        return vec![heading(level, &inlines(element))];
    }
    match name {
        "hr" => vec!["---".to_owned()],
        "pre" => vec![code(&element.text())],
        "blockquote" => {
            let quoted = join(&blocks(element));
            let lines =
                quoted.trim_end().lines().map(|line| format!("> {line}").trim_end().to_owned());
            vec![lines.collect::<Vec<_>>().join("\n")]
        }
        "ul" | "ol" => vec![list(element)],
        "dt" => vec![marked("**", &one_line(&inlines(element)))],
        "table" => match is_layout(element) {
            true => element.all("td").into_iter().flat_map(blocks).collect(),
            false => {
                let caption = element.child("caption").map(|it| tidy(&inlines(it)));
                caption.into_iter().chain([table(&rows(element))]).collect()
            }
        },
        _ => blocks(element),
    }
}

fn code(text: &str) -> String {
    let text = text.trim_matches('\n');
    let fence = if text.contains("```") { "````" } else { "```" };
    format!("{fence}\n{text}\n{fence}")
}

fn list(element: &Element) -> String {
    let start = element.attribute("start").and_then(|start| start.parse().ok()).unwrap_or(1_usize);
    let mut items = Vec::new();
    for (at, item) in element.named("li").enumerate() {
        let mark = match element.name.as_str() {
            "ol" => format!("{}. ", start.saturating_add(at)),
            _ => "- ".to_owned(),
        };
        let text = blocks(item).join("\n");
        items.push(format!("{mark}{}", hanging(&text, mark.len())));
    }
    // Lists directly in lists are invalid, and common.
    for inner in element.elements().filter(|it| ["ul", "ol"].contains(&it.name.as_str())) {
        items.push(format!("  {}", hanging(&list(inner), 2)));
    }
    items.join("\n")
}

/// Whether a table only arranges blocks on a page.
fn is_layout(table: &Element) -> bool {
    let cells = table.all("td");
    let has_blocks = |cell: &&Element| {
        cell.elements()
            .any(|it| it.name == "table" || it.name == "div" || heading_level(&it.name).is_some())
    };
    table.attribute("role") == Some("presentation")
        || (table.all("th").is_empty() && cells.len() <= 2 && cells.iter().any(has_blocks))
}

/// The cells of a table as a grid. A cell that spans others leaves them empty.
fn rows(table: &Element) -> Vec<Vec<String>> {
    let sections = ["thead", "tbody", "tfoot"];
    let mut lines: Vec<&Element> = Vec::new();
    for section in ["thead", "", "tbody", "tfoot"] {
        for element in table.elements() {
            match element.name.as_str() {
                "tr" if section.is_empty() => lines.push(element),
                name if name == section && sections.contains(&name) => {
                    lines.extend(element.named("tr"))
                }
                _ => {}
            }
        }
    }
    let mut grid: Vec<Vec<Option<String>>> = vec![Vec::new(); lines.len()];
    for (row, line) in lines.iter().enumerate() {
        let mut column = 0;
        for cell in line.elements().filter(|it| it.name == "td" || it.name == "th") {
            let is_taken = |grid: &[Vec<Option<String>>], column| {
                grid.get(row).and_then(|row| row.get(column)).is_some_and(Option::is_some)
            };
            while is_taken(&grid, column) {
                column += 1;
            }
            let span = |name| {
                let span = cell.attribute(name).and_then(|text| text.trim().parse().ok());
                span.unwrap_or(1_usize).clamp(1, MAX_SPAN)
            };
            let (wide, high) = (span("colspan"), span("rowspan"));
            for (down, line) in grid.iter_mut().skip(row).take(high).enumerate() {
                if line.len() < column + wide {
                    line.resize(column + wide, None);
                }
                for (right, place) in line.iter_mut().skip(column).take(wide).enumerate() {
                    let is_first = (down, right) == (0, 0);
                    *place = Some(if is_first { content(cell) } else { String::new() });
                }
            }
            column += wide;
        }
    }
    let filled =
        |row: Vec<Option<String>>| row.into_iter().map(Option::unwrap_or_default).collect();
    grid.into_iter().map(filled).filter(|row: &Vec<String>| !row.is_empty()).collect()
}

/// The text of a cell.
fn content(cell: &Element) -> String {
    blocks(cell).join("\n").replace("  \n", "\n")
}

/// The inline content of an element.
fn inlines(element: &Element) -> String {
    let mut line = String::new();
    for node in &element.children {
        inline(node, &mut line);
    }
    line
}

fn inline(node: &Node, line: &mut String) {
    let element = match node {
        Node::Text(text) => {
            let starts = text.starts_with(char::is_whitespace);
            let ends = text.ends_with(char::is_whitespace);
            let text = one_line(text);
            if starts && !line.is_empty() {
                line.push(' ');
            }
            *line += &text;
            if ends && !text.is_empty() {
                line.push(' ');
            }
            return;
        }
        Node::Element(element) => element,
    };
    let inner = || inlines(element);
    match element.name.as_str() {
        name if HIDDEN.contains(&name) => {}
        "br" => line.push('\n'),
        "b" | "strong" => *line += &marked("**", &inner()),
        "i" | "em" => *line += &marked("*", &inner()),
        "del" | "s" => *line += &marked("~~", &inner()),
        "code" | "kbd" | "samp" => *line += &marked("`", &element.text()),
        "img" => *line += &picture(element),
        "a" => *line += &link(element, &inner()),
        "input" | "button" => {}
        _ if is_block(element) => {
            line.push(' ');
            *line += &inner();
            line.push(' ');
        }
        _ => *line += &inner(),
    }
}

fn picture(element: &Element) -> String {
    let alt = one_line(element.attribute("alt").unwrap_or_default());
    match element.attribute("src").filter(|src| !src.starts_with("data:")) {
        Some(src) if !alt.is_empty() => format!("![{alt}]({})", src.replace(' ', "%20")),
        _ => alt,
    }
}

fn link(element: &Element, text: &str) -> String {
    let target = element.attribute("href").unwrap_or_default().trim();
    let is_link =
        !target.is_empty() && !target.starts_with('#') && !target.starts_with("javascript:");
    match is_link && !text.trim().is_empty() {
        true => format!("[{}]({})", one_line(text), target.replace(' ', "%20")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_keeps_headings_lists_links_and_code() {
        let page = "<html><head><title>t</title><style>p{}</style></head><body><h1>Guide <em>one</em></h1>\
            <p>See <a href='/x y'>the  docs</a> and <b>this</b>.<br>Next &amp; last.</p>\
            <ul><li>a<ul><li>b</li></ul></li><li><p>c</p></li></ul><ol start=3><li>x<li>y</ol>\
            <pre><code>let a = 1;\n  b</code></pre><blockquote><p>q</p></blockquote><hr>\
            <script>alert(1)</script></body></html>";
        assert_eq!(
            markdown(page),
            "# Guide *one*\n\nSee [the docs](/x%20y) and **this**.  \nNext & last.\n\n\
             - a\n  - b\n- c\n\n3. x\n4. y\n\n```\nlet a = 1;\n  b\n```\n\n> q\n\n---\n"
        );
    }

    #[test]
    fn a_table_is_exact_with_spans_lists_and_bars() {
        let page = "<table><caption>T</caption><tr><th>A<th colspan=2>B</tr>\
            <tr><td rowspan=2>1<td>2 | x<td>3<tr><td>4<br>5<td><b>6</b></table>";
        assert_eq!(
            markdown(page),
            "T\n\n| A | B |  |\n| --- | --- | --- |\n| 1 | 2 \\| x | 3 |\n|  | 4<br>5 | **6** |\n"
        );
        let huge = "<table><tr><td colspan=4000000000 rowspan=999999999>x</table>";
        assert!(markdown(huge).len() < 2000);
    }
}
