//! Whole documents.

use std::io::{Cursor, Write};

use proptest::prelude::*;
use zip::{ZipWriter, write::SimpleFileOptions};

use crate::{DocumentError, Format, Options, docx, html, markup, pptx, read};

fn package(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn word(body: &str) -> Vec<u8> {
    let document = format!("<w:document xmlns:w=\"w\"><w:body>{body}</w:body></w:document>");
    let styles = "<w:styles><w:style w:styleId=\"H\"><w:name w:val=\"heading 2\"/></w:style>\
        <w:style w:styleId=\"Own\"><w:name w:val=\"Own\"/><w:basedOn w:val=\"H\"/></w:style></w:styles>";
    let numbering = "<w:numbering><w:abstractNum w:abstractNumId=\"7\">\
        <w:lvl w:ilvl=\"0\"><w:numFmt w:val=\"decimal\"/></w:lvl>\
        <w:lvl w:ilvl=\"1\"><w:numFmt w:val=\"bullet\"/></w:lvl></w:abstractNum>\
        <w:num w:numId=\"3\"><w:abstractNumId w:val=\"7\"/></w:num></w:numbering>";
    let relations = "<Relationships><Relationship Id=\"r1\" Type=\"x/hyperlink\" \
        Target=\"https://example.com/\" TargetMode=\"External\"/></Relationships>";
    package(&[
        ("word/document.xml", &document),
        ("word/styles.xml", styles),
        ("word/numbering.xml", numbering),
        ("word/_rels/document.xml.rels", relations),
    ])
}

fn paragraph(properties: &str, text: &str) -> String {
    format!("<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
}

fn cell(properties: &str, text: &str) -> String {
    format!("<w:tc><w:tcPr>{properties}</w:tcPr>{}</w:tc>", paragraph("", text))
}

#[test]
fn a_word_document_keeps_headings_lists_emphasis_and_links() {
    let item = |level: u8, text| {
        let list = format!("<w:numPr><w:ilvl w:val=\"{level}\"/><w:numId w:val=\"3\"/></w:numPr>");
        paragraph(&list, text)
    };
    let body = [
        paragraph("<w:pStyle w:val=\"Own\"/>", "Plan &amp; cost"),
        "<w:p><w:r><w:t xml:space=\"preserve\">See </w:t></w:r><w:hyperlink r:id=\"r1\"><w:r><w:t>this</w:t></w:r>\
         </w:hyperlink><w:r><w:rPr><w:b/></w:rPr><w:t> bold</w:t></w:r><w:del><w:r><w:delText>old</w:delText></w:r>\
         </w:del><w:ins><w:r><w:t>!</w:t></w:r></w:ins></w:p>"
            .to_owned(),
        item(0, "one"),
        item(1, "inner"),
        item(0, "two"),
    ];
    let document = docx::document(word(&body.concat())).unwrap();
    assert_eq!(
        document.markdown,
        "## Plan & cost\n\nSee [this](https://example.com/) **bold**!\n\n1. one\n   - inner\n2. two\n"
    );
}

#[test]
fn a_word_table_is_exact_with_merged_cells() {
    let row = |cells: &[String]| format!("<w:tr>{}</w:tr>", cells.concat());
    let body = format!(
        "<w:tbl>{}{}{}</w:tbl>",
        row(&[cell("", "A"), cell("<w:gridSpan w:val=\"2\"/>", "B")]),
        row(&[cell("<w:vMerge w:val=\"restart\"/>", "1"), cell("", "x|y"), cell("", "3")]),
        row(&[cell("<w:vMerge/>", "hidden"), cell("", ""), cell("", "4")]),
    );
    let document = docx::document(word(&body)).unwrap();
    assert_eq!(
        document.markdown,
        "| A | B |  |\n| --- | --- | --- |\n| 1 | x\\|y | 3 |\n|  |  | 4 |\n"
    );
}

#[test]
fn slides_have_titles_lists_tables_and_notes() {
    let slide = "<p:sld><p:cSld><p:spTree><p:sp><p:nvSpPr><p:nvPr><p:ph type=\"title\"/></p:nvPr></p:nvSpPr>\
        <p:txBody><a:p><a:r><a:t>Plan</a:t></a:r></a:p></p:txBody></p:sp>\
        <p:sp><p:nvSpPr><p:nvPr><p:ph idx=\"1\"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>one</a:t></a:r></a:p>\
        <a:p><a:pPr lvl=\"1\"/><a:r><a:rPr b=\"1\"/><a:t>two</a:t></a:r></a:p></p:txBody></p:sp>\
        <p:graphicFrame><a:tbl><a:tr><a:tc><a:p><a:r><a:t>A</a:t></a:r></a:p></a:tc>\
        <a:tc><a:p><a:r><a:t>B</a:t></a:r></a:p></a:tc></a:tr></a:tbl></p:graphicFrame></p:spTree></p:cSld></p:sld>";
    let presentation = "<p:presentation><p:sldIdLst><p:sldId id=\"256\" r:id=\"r9\"/></p:sldIdLst></p:presentation>";
    let relation = |id: &str, kind: &str, target: &str| {
        format!(
            "<Relationships><Relationship Id=\"{id}\" Type=\"x/{kind}\" Target=\"{target}\"/></Relationships>"
        )
    };
    let notes = "<p:notes><p:sp><p:nvPr><p:ph type=\"body\"/></p:nvPr><a:p><a:r><a:t>Say hi.</a:t></a:r></a:p></p:sp></p:notes>";
    let content = package(&[
        ("ppt/presentation.xml", presentation),
        ("ppt/_rels/presentation.xml.rels", &relation("r9", "slide", "slides/slide3.xml")),
        ("ppt/slides/slide3.xml", slide),
        ("ppt/slides/_rels/slide3.xml.rels", &relation("r1", "notesSlide", "../notesSlides/n.xml")),
        ("ppt/notesSlides/n.xml", notes),
    ]);
    let document = pptx::document(content, &Options::default()).unwrap();
    assert_eq!(
        document.markdown,
        "## Plan\n\n- one\n   - **two**\n\n| A | B |\n| --- | --- |\n\n> Notes: Say hi.\n"
    );
    assert_eq!(document.pages, Some(1));
}

#[test]
fn a_file_that_is_not_a_document_is_refused_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |content: &[u8]| {
        let path = dir.path().join("file");
        std::fs::write(&path, content).unwrap();
        read(&path, &Options::default()).unwrap_err()
    };
    let archive = package(&[("a.txt", "x")]);
    assert!(
        matches!(refused(&archive), DocumentError::Unsupported(message) if message.contains("ZIP"))
    );
    assert!(matches!(refused(b"PK\x03\x04 broken"), DocumentError::Damaged(_)));
    assert!(matches!(refused(b"\0\x01\x02"), DocumentError::Unsupported(_)));
    let missing = read(&dir.path().join("none"), &Options::default()).unwrap_err();
    assert!(matches!(missing, DocumentError::Unreadable(_)));
}

#[test]
fn text_and_web_pages_need_no_program() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("page");
    std::fs::write(&path, "<!doctype html><h1>Hi</h1>").unwrap();
    let document = read(&path, &Options::default()).unwrap();
    assert_eq!((document.format, document.markdown.as_str()), (Format::Html, "# Hi\n"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn garbage_is_read_without_harm(parts in prop::collection::vec(prop::sample::select(vec![
        "<", ">", "</", "/>", "<table>", "<tr>", "<td colspan=9>", "<li>", "<ul>", "</table>", "<p", " a=\"", "'", "=",
        "&", "&#x", ";", "<!--", "-->", "<![CDATA[", "]]>", "é", "text ", "\n", "<b>", "</b>", "<pre>", "<script>"]), 0..200)) {
        let source = parts.concat();
        let _ = html::markdown(&source);
        let _ = markup::parse(&source, markup::Dialect::Xml);
        let _ = docx::document(word(&source));
    }

    #[test]
    fn broken_archives_are_refused_without_harm(cut in 0..600_usize, byte in any::<u8>()) {
        let mut content = word(&paragraph("", "text"));
        let at = cut % content.len();
        content[at] = byte;
        let _ = docx::document(content.clone());
        content.truncate(at);
        let _ = docx::document(content);
    }
}
