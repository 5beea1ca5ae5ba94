//! Packages of Office: archives with parts in XML.

use std::{
    collections::HashMap,
    io::{Cursor, Read},
};

use zip::ZipArchive;

use crate::{
    DocumentError, Format,
    markup::{Dialect, Element, parse},
};

/// Largest part.
const MAX_PART: u64 = 64 << 20;
/// Most bytes that are unpacked altogether, because a small archive can hold much.
const MAX_UNPACKED: u64 = 256 << 20;

/// An archive with parts.
pub struct Package {
    archive: ZipArchive<Cursor<Vec<u8>>>,
    unpacked: u64,
}

/// What a document in an archive is.
pub fn format(content: &[u8]) -> Result<Format, DocumentError> {
    let archive = ZipArchive::new(Cursor::new(content)).map_err(damaged)?;
    let has = |name: &str| archive.index_for_name(name).is_some();
    if has("word/document.xml") {
        return Ok(Format::Docx);
    }
    if has("ppt/presentation.xml") {
        return Ok(Format::Pptx);
    }
    let what =
        if has("xl/workbook.xml") { "this is an Excel file" } else { "this is a ZIP archive" };
    Err(DocumentError::Unsupported(what.to_owned()))
}

impl Package {
    /// Opens a package.
    pub fn open(content: Vec<u8>) -> Result<Self, DocumentError> {
        Ok(Self { archive: ZipArchive::new(Cursor::new(content)).map_err(damaged)?, unpacked: 0 })
    }

    /// A part; `None` if it does not exist.
    pub fn part(&mut self, name: &str) -> Result<Option<Element>, DocumentError> {
        let Some(at) = self.archive.index_for_name(name) else { return Ok(None) };
        let file = self.archive.by_index(at).map_err(damaged)?;
        let mut text = Vec::new();
        let read = file.take(MAX_PART + 1).read_to_end(&mut text).map_err(damaged)?;
        self.unpacked += read as u64;
        if read as u64 > MAX_PART || self.unpacked > MAX_UNPACKED {
            return Err(DocumentError::Damaged(format!("{name} is too large when unpacked")));
        }
        Ok(Some(parse(&String::from_utf8_lossy(&text), Dialect::Xml)))
    }

    /// The targets of a part's relations, by id.
    pub fn relations(&mut self, part: &str) -> Result<HashMap<String, Relation>, DocumentError> {
        let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
        let root = self.part(&format!("{folder}/_rels/{name}.rels"))?.unwrap_or_default();
        let relation = |element: &&Element| {
            let target = element.attribute("Target")?;
            let is_outside = element.attribute("TargetMode") == Some("External");
            let target = if is_outside { target.to_owned() } else { resolve(folder, target) };
            let kind = element.attribute("Type")?.rsplit('/').next()?.to_owned();
            Some((element.attribute("Id")?.to_owned(), Relation { kind, target }))
        };
        Ok(root.all("Relationship").iter().filter_map(relation).collect())
    }
}

/// A part's relation to another, or to an address.
#[derive(Debug, Clone)]
pub struct Relation {
    /// What it is, such as `hyperlink` or `slide`.
    pub kind: String,
    /// Name of the part, or the address.
    pub target: String,
}

/// The name of a part relative to a folder.
fn resolve(folder: &str, target: &str) -> String {
    if let Some(absolute) = target.strip_prefix('/') {
        return absolute.to_owned();
    }
    let mut parts: Vec<_> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn damaged(error: impl std::fmt::Display) -> DocumentError {
    DocumentError::Damaged(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_relative_to_their_part() {
        assert_eq!(resolve("ppt/slides", "../notesSlides/n1.xml"), "ppt/notesSlides/n1.xml");
        assert_eq!(resolve("ppt", "slides/s1.xml"), "ppt/slides/s1.xml");
        assert_eq!(resolve("ppt", "/word/x.xml"), "word/x.xml");
    }
}
