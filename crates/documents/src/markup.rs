//! Reads XML and HTML into a tree, whatever is wrong with them.
//!
//! There are no document types and no external entities, so nothing expands or is fetched. The tree
//! is never deeper than [`MAX_DEPTH`].

use crate::entities::decode;

/// Deeper elements become siblings.
const MAX_DEPTH: usize = 200;
/// Elements of HTML without content.
const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
];
/// Elements of HTML whose content is not markup.
const RAW: [&str; 5] = ["script", "style", "textarea", "title", "noscript"];

/// Which rules apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// XML: every element is closed.
    Xml,
    /// HTML: names in any case, elements that close themselves and others.
    Html,
}

/// A part of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// An element.
    Element(Element),
    /// Text, decoded.
    Text(String),
}

/// An element.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Element {
    /// Name; in XML without its prefix.
    pub name: String,
    /// Attributes, with their prefixes.
    pub attributes: Vec<(String, String)>,
    /// Content.
    pub children: Vec<Node>,
}

impl Element {
    /// The value of an attribute, by its name with or without a prefix.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        let exact = self.attributes.iter().find(|(known, _)| known == name);
        let local = |known: &str| known.rsplit_once(':').is_some_and(|(_, local)| local == name);
        let found = exact.or_else(|| self.attributes.iter().find(|(known, _)| local(known)));
        found.map(|(_, value)| value.as_str())
    }

    /// The elements directly in it.
    pub fn elements(&self) -> impl Iterator<Item = &Element> {
        self.children.iter().filter_map(|node| match node {
            Node::Element(element) => Some(element),
            Node::Text(_) => None,
        })
    }

    /// The first element directly in it with this name.
    pub fn child(&self, name: &str) -> Option<&Element> {
        self.elements().find(|element| element.name == name)
    }

    /// The elements directly in it with this name.
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.elements().filter(move |element| element.name == name)
    }

    /// All elements in it with this name, at any depth, in order.
    pub fn all<'a>(&'a self, name: &str) -> Vec<&'a Element> {
        let mut found = Vec::new();
        for element in self.elements() {
            if element.name == name {
                found.push(element);
            }
            found.extend(element.all(name));
        }
        found
    }

    /// All text in it.
    pub fn text(&self) -> String {
        let text = self.children.iter().map(|node| match node {
            Node::Element(element) => element.text(),
            Node::Text(text) => text.clone(),
        });
        text.collect()
    }
}

/// Parses a document. The result is a nameless element that holds everything.
pub fn parse(source: &str, dialect: Dialect) -> Element {
    let mut tree = Tree { open: vec![Element::default()], dialect };
    let mut rest = source;
    while let Some(at) = rest.find('<') {
        let (text, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        tree.text(decode(text));
        rest = tree.tag(from);
    }
    tree.text(decode(rest));
    tree.finish()
}

struct Tree {
    /// Elements that are not closed, the outermost first. Never empty.
    open: Vec<Element>,
    dialect: Dialect,
}

impl Tree {
    fn text(&mut self, text: String) {
        if !text.is_empty() {
            self.add(Node::Text(text));
        }
    }

    fn add(&mut self, node: Node) {
        if let Some(parent) = self.open.last_mut() {
            parent.children.push(node);
        }
    }

    /// Takes what begins with `<`, and returns the rest.
    fn tag<'a>(&mut self, from: &'a str) -> &'a str {
        let after = |end: &str, skip: usize| {
            let found = from.get(skip..).and_then(|rest| rest.find(end));
            found.and_then(|at| from.get(skip + at + end.len()..)).unwrap_or_default()
        };
        if from.starts_with("<!--") {
            return after("-->", 4);
        }
        if let Some(data) = from.strip_prefix("<![CDATA[") {
            let end = data.find("]]>").unwrap_or(data.len());
            self.text(data.get(..end).unwrap_or_default().to_owned());
            return data.get(end + 3..).unwrap_or_default();
        }
        if from.starts_with("<!") || from.starts_with("<?") {
            return after(">", 2);
        }
        let inner = from.get(1..).unwrap_or_default();
        let (closing, inner) = match inner.strip_prefix('/') {
            Some(inner) => (true, inner),
            None => (false, inner),
        };
        if !inner.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            self.text("<".to_owned());
            return from.get(1..).unwrap_or_default();
        }
        let end = tag_end(inner);
        let tag = inner.get(..end).unwrap_or(inner);
        let rest = inner.get(end + 1..).unwrap_or_default();
        let split = tag.find(|c: char| c.is_whitespace() || c == '/').unwrap_or(tag.len());
        let (name, attributes) = tag.split_at_checked(split).unwrap_or((tag, ""));
        let name = self.name(name);
        if closing {
            self.close(&name);
            return rest;
        }
        let closed = attributes.trim_end().ends_with('/');
        let attributes = self.attributes(attributes);
        self.imply(&name);
        let element = Element { name: name.clone(), attributes, children: Vec::new() };
        let is_void = self.dialect == Dialect::Html && VOID.contains(&name.as_str());
        let is_closed = closed && self.dialect == Dialect::Xml;
        if is_void || is_closed || self.open.len() >= MAX_DEPTH {
            self.add(Node::Element(element));
            return rest;
        }
        self.open.push(element);
        if self.dialect == Dialect::Html && RAW.contains(&name.as_str()) {
            let end = end_of_raw(rest, &name);
            self.text(decode(rest.get(..end).unwrap_or_default()));
            return rest.get(end..).unwrap_or_default();
        }
        rest
    }

    fn name(&self, name: &str) -> String {
        match self.dialect {
            Dialect::Html => name.to_ascii_lowercase(),
            Dialect::Xml => name.rsplit(':').next().unwrap_or(name).to_owned(),
        }
    }

    fn attributes(&self, text: &str) -> Vec<(String, String)> {
        let mut all = Vec::new();
        let mut rest = text.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
        while !rest.is_empty() {
            let end = rest.find(|c: char| c.is_whitespace() || c == '=').unwrap_or(rest.len());
            let (name, after) = rest.split_at_checked(end.max(1)).unwrap_or((rest, ""));
            let after = after.trim_start();
            let (value, after) = match after.strip_prefix('=') {
                Some(value) => value_of(value.trim_start()),
                None => ("", after),
            };
            let name = match self.dialect {
                Dialect::Html => name.to_ascii_lowercase(),
                Dialect::Xml => name.to_owned(),
            };
            all.push((name, decode(value)));
            rest = after.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
        }
        all
    }

    /// Closes the elements of HTML that a new one ends.
    fn imply(&mut self, name: &str) {
        if self.dialect == Dialect::Xml {
            return;
        }
        let ended: &[&str] = match name {
            "li" => &["li"],
            "dt" | "dd" => &["dt", "dd"],
            "option" => &["option"],
            "td" | "th" => &["td", "th"],
            "tr" => &["tr", "td", "th"],
            "tbody" | "thead" | "tfoot" => &["tr", "td", "th", "tbody", "thead", "tfoot"],
            "p" | "div" | "ul" | "ol" | "table" | "pre" | "blockquote" | "h1" | "h2" | "h3"
            | "h4" | "h5" | "h6" | "section" | "article" | "hr" => &["p"],
            _ => &[],
        };
        while self.open.len() > 1
            && self.open.last().is_some_and(|open| ended.contains(&open.name.as_str()))
        {
            self.fold();
        }
    }

    fn close(&mut self, name: &str) {
        let Some(at) = self.open.iter().rposition(|open| open.name == name).filter(|at| *at > 0)
        else {
            return;
        };
        // A table is closed by its own end only.
        let is_table = |open: &Element| self.dialect == Dialect::Html && open.name == "table";
        if name != "table" && self.open.iter().skip(at + 1).any(is_table) {
            return;
        }
        while self.open.len() > at {
            self.fold();
        }
    }

    /// Closes the innermost element.
    fn fold(&mut self) {
        if let Some(element) = self.open.pop() {
            self.add(Node::Element(element));
        }
    }

    fn finish(mut self) -> Element {
        while self.open.len() > 1 {
            self.fold();
        }
        self.open.pop().unwrap_or_default()
    }
}

/// Where a tag ends: at the first `>` outside quotes.
fn tag_end(inner: &str) -> usize {
    let mut quote = None;
    let mut before = ' ';
    for (at, c) in inner.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            // Only a value is quoted.
            None if (c == '"' || c == '\'') && before == '=' => quote = Some(c),
            None if c == '>' => return at,
            None => {}
        }
        if !c.is_whitespace() {
            before = c;
        }
    }
    inner.len()
}

/// The value of an attribute, and what follows it.
fn value_of(text: &str) -> (&str, &str) {
    let quote = text.chars().next().filter(|c| *c == '"' || *c == '\'');
    let (body, end) = match quote {
        Some(quote) => {
            let body = text.get(1..).unwrap_or_default();
            (body, body.find(quote).unwrap_or(body.len()))
        }
        None => (text, text.find(char::is_whitespace).unwrap_or(text.len())),
    };
    let skipped = end + usize::from(quote.is_some());
    (body.get(..end).unwrap_or_default(), body.get(skipped..).unwrap_or_default())
}

/// Where the content of a raw element ends: before its closing tag.
fn end_of_raw(rest: &str, name: &str) -> usize {
    let closing = format!("</{name}");
    let bytes = rest.as_bytes();
    let is_end = |at: &usize| {
        let part = bytes.get(*at..at + closing.len());
        part.is_some_and(|part| part.eq_ignore_ascii_case(closing.as_bytes()))
    };
    let starts = rest.match_indices('<').map(|(at, _)| at);
    starts.into_iter().find(is_end).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xml_is_read_with_attributes_sections_and_references() {
        let root = parse(
            "<?xml version=\"1.0\"?><!-- c --><w:p w:val='a>b' x=\"1 &amp; 2\"><w:t>a &lt; b</w:t>\
             <![CDATA[<raw>]]><w:br/></w:p>",
            Dialect::Xml,
        );
        let p = root.child("p").unwrap();
        assert_eq!(p.attribute("val"), Some("a>b"));
        assert_eq!(p.attribute("x"), Some("1 & 2"));
        assert_eq!(p.text(), "a < b<raw>");
        assert!(p.child("br").is_some());
    }

    #[test]
    fn html_is_read_as_browsers_do() {
        let root = parse(
            "<UL><LI>one<li class=x>two <b>bold<br>more</b></UL><p>a<p>b<script>if (a<b) {}</script> 1 < 2",
            Dialect::Html,
        );
        let list = root.child("ul").unwrap();
        let items: Vec<_> = list.named("li").map(Element::text).collect();
        assert_eq!(items, ["one", "two boldmore"]);
        assert_eq!(list.named("li").nth(1).unwrap().attribute("class"), Some("x"));
        assert_eq!(root.named("p").count(), 2);
        assert!(root.text().ends_with("1 < 2"), "{}", root.text());
    }

    #[test]
    fn depth_is_limited() {
        let root = parse(&"<a>".repeat(100_000), Dialect::Xml);
        assert!(root.all("a").len() > 1000, "and nothing is lost");
    }
}
