//! The role of an element, by its `role` or its tag.

use super::{
    capture::{DomNode, Kind},
    dom::{Dom, Mark},
};

/// Roles that `role` may name.
const NAMED: &str = "alert alertdialog application article banner blockquote button caption cell \
    checkbox code columnheader combobox comment complementary contentinfo definition deletion \
    dialog document emphasis feed figure form generic graphics-document graphics-symbol grid \
    gridcell group heading img insertion link list listbox listitem log main mark marquee math \
    menu menubar menuitem menuitemcheckbox menuitemradio meter navigation note option paragraph \
    progressbar radio radiogroup region row rowgroup rowheader scrollbar search searchbox \
    separator slider spinbutton status strong subscript suggestion superscript switch tab table \
    tablist tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem \
    doc-abstract doc-acknowledgments doc-afterword doc-appendix doc-bibliography doc-chapter \
    doc-colophon doc-conclusion doc-cover doc-credit doc-credits doc-dedication doc-endnotes \
    doc-epigraph doc-epilogue doc-errata doc-example doc-footnote doc-foreword doc-glossary \
    doc-index doc-introduction doc-notice doc-pagebreak doc-pagelist doc-part doc-preface \
    doc-prologue doc-pullquote doc-qna doc-subtitle doc-tip doc-toc";

/// Whether a role has no meaning: it is shown only if the element can be used or has a name.
pub(super) fn is_plain(role: &str) -> bool {
    matches!(
        role,
        "none"
            | "generic"
            | "paragraph"
            | "strong"
            | "emphasis"
            | "code"
            | "time"
            | "mark"
            | "superscript"
            | "subscript"
            | "insertion"
            | "deletion"
            | "blockquote"
            | "group"
            | "figure"
            | "caption"
            | "rowgroup"
            | "term"
            | "definition"
            | "document"
            | "region"
            | "form"
            | "sectionheader"
            | "sectionfooter"
            | "separator"
            | "img"
            | "canvas"
            | "graphics-symbol"
            | "graphics-document"
            | "iframe"
    )
}

/// Whether elements of a role can be used.
pub(super) fn is_acting(role: &str) -> bool {
    matches!(
        role,
        "button"
            | "link"
            | "textbox"
            | "searchbox"
            | "checkbox"
            | "radio"
            | "switch"
            | "combobox"
            | "listbox"
            | "option"
            | "menuitem"
            | "menuitemcheckbox"
            | "menuitemradio"
            | "tab"
            | "treeitem"
            | "slider"
            | "spinbutton"
            | "scrollbar"
            | "summary"
            | "color"
            | "date"
    )
}

/// The role of an element. The roles of the elements around it are known.
pub(super) fn role(dom: &Dom<'_>, index: usize) -> &'static str {
    let Some(node) = dom.node(index).filter(|node| node.kind == Kind::Element) else { return "" };
    let role = said(dom, index, node).unwrap_or_else(|| native(dom, index, node));
    if matches!(role, "generic" | "paragraph") && dom.is_edited(index) { "textbox" } else { role }
}

/// The first known role of the attribute.
fn said(dom: &Dom<'_>, index: usize, node: &DomNode<'_>) -> Option<&'static str> {
    let roles = node.words("role")?.to_ascii_lowercase();
    roles.split_ascii_whitespace().find_map(|role| match role {
        "none" | "presentation" => (!is_labelled(node) && !is_focusable(node)).then_some("none"),
        "image" => Some("img"),
        "directory" => Some("list"),
        "doc-backlink" | "doc-biblioref" | "doc-glossref" | "doc-noteref" => Some("link"),
        "region" | "form" if !is_named(node) => Some("generic"),
        "listitem" if !matches!(dom.context(index), "list" | "group") => Some("generic"),
        "option" if !matches!(dom.context(index), "listbox" | "group") => Some("generic"),
        "treeitem" if !matches!(dom.context(index), "tree" | "group" | "treeitem") => {
            Some("generic")
        }
        role => NAMED.split_ascii_whitespace().find(|its| *its == role),
    })
}

fn native(dom: &Dom<'_>, index: usize, node: &DomNode<'_>) -> &'static str {
    let parent = || node.parent.and_then(|at| Some((at, dom.node(at)?)));
    match node.tag {
        "A" | "a" => {
            let target = node.attribute("href").or_else(|| node.attribute("xlink:href"));
            if target.is_some() { "link" } else { "generic" }
        }
        "ASIDE" if is_sectioned(dom, index, false) && !is_named(node) => "generic",
        "ASIDE" => "complementary",
        "FOOTER" if is_sectioned(dom, index, true) => "sectionfooter",
        "FOOTER" => "contentinfo",
        "HEADER" if is_sectioned(dom, index, true) => "sectionheader",
        "HEADER" => "banner",
        "IMG" if node.attribute("alt") == Some("") && !is_named(node) && !is_focusable(node) => {
            "none"
        }
        "INPUT" => input(node),
        "LI" if parent().is_some_and(|(at, _)| dom.role(at) == "none") => "none",
        "SECTION" => {
            if is_named(node) {
                "region"
            } else {
                "generic"
            }
        }
        "SELECT" => {
            let lines = node.attribute("size").and_then(|size| size.trim().parse::<u32>().ok());
            let list = node.attribute("multiple").is_some() || lines.is_some_and(|size| size > 1);
            if list { "listbox" } else { "combobox" }
        }
        // Without a summary in the page, the browser shows one.
        "DETAILS" if dom.child(index, "SUMMARY").is_none() => "summary",
        "SUMMARY" => {
            let first = parent().filter(|(_, parent)| parent.tag == "DETAILS");
            let first = first.and_then(|(at, _)| dom.child(at, "SUMMARY"));
            if first == Some(index) { "summary" } else { "generic" }
        }
        "TABLE" if is_data(dom, index, node) || is_named(node) => "table",
        "TR" | "TBODY" | "THEAD" | "TFOOT" if table_role(dom, index) == "none" => "none",
        "AREA" if node.attribute("href").is_some() => "link",
        "TD" | "TH" => cell(dom, index, node),
        "svg" => {
            let mut inside = dom.inside(index);
            let drawn = |inner: &DomNode<'_>| {
                inner.kind == Kind::Text && inner.layout.is_some()
                    || inner.kind == Kind::Element && inner.layout.is_some() && is_known(inner)
            };
            if inside.any(|(_, inner)| drawn(inner)) { "generic" } else { "img" }
        }
        "g" if is_labelled(node) => "group",
        "path" | "rect" | "circle" | "ellipse" | "line" | "polygon" | "polyline" | "use"
            if is_labelled(node) || dom.child(index, "title").is_some() =>
        {
            "graphics-symbol"
        }
        "image" => "img",
        tag => by_tag(tag),
    }
}

/// The role of a tag, if it does not depend on more.
fn by_tag(tag: &str) -> &'static str {
    match tag {
        "ARTICLE" => "article",
        "AUDIO" => "audio",
        "BLOCKQUOTE" => "blockquote",
        "BUTTON" => "button",
        "CANVAS" => "canvas",
        "CAPTION" => "caption",
        "CODE" => "code",
        "DD" => "definition",
        "DEL" | "S" => "deletion",
        "DIALOG" => "dialog",
        "EM" => "emphasis",
        "FIGURE" => "figure",
        "FORM" => "form",
        "ADDRESS" | "DETAILS" | "FIELDSET" | "HGROUP" | "OPTGROUP" => "group",
        "H1" | "H2" | "H3" | "H4" | "H5" | "H6" => "heading",
        "FRAME" | "IFRAME" => "iframe",
        "IMG" => "img",
        "INS" => "insertion",
        "MENU" | "OL" | "UL" => "list",
        "LI" => "listitem",
        "MAIN" => "main",
        "MARK" => "mark",
        "METER" => "meter",
        "NAV" => "navigation",
        "OPTION" => "option",
        "P" => "paragraph",
        "PROGRESS" => "progressbar",
        "TR" => "row",
        "TBODY" | "TFOOT" | "THEAD" => "rowgroup",
        "SEARCH" => "search",
        "HR" => "separator",
        "OUTPUT" => "status",
        "STRONG" => "strong",
        "SUB" => "subscript",
        "SUP" => "superscript",
        "DFN" | "DT" => "term",
        "TEXTAREA" => "textbox",
        "TIME" => "time",
        "VIDEO" => "video",
        _ => "generic",
    }
}

fn input(node: &DomNode<'_>) -> &'static str {
    let kind = node.attribute("type").unwrap_or_default().trim().to_ascii_lowercase();
    match kind.as_str() {
        "button" | "submit" | "reset" | "image" | "file" => "button",
        "checkbox" => "checkbox",
        "radio" => "radio",
        "range" => "slider",
        "number" => "spinbutton",
        "color" => "color",
        "date" | "time" | "datetime-local" | "month" | "week" => "date",
        "hidden" => "none",
        "password" => "textbox",
        _ if node.attribute("list").is_some() => "combobox",
        "search" => "searchbox",
        _ => "textbox",
    }
}

/// Whether an element of a drawing has its own meaning.
fn is_known(node: &DomNode<'_>) -> bool {
    node.attribute("role").is_some() || is_labelled(node) || node.tag == "a" || is_focusable(node)
}

fn is_labelled(node: &DomNode<'_>) -> bool {
    ["aria-label", "aria-labelledby"].iter().any(|name| node.words(name).is_some())
}

fn is_named(node: &DomNode<'_>) -> bool {
    is_labelled(node) || node.words("title").is_some()
}

/// Whether an element can have the focus.
pub(super) fn is_focusable(node: &DomNode<'_>) -> bool {
    let index = node.attribute("tabindex").and_then(|index| index.trim().parse::<i32>().ok());
    index.is_some()
        || matches!(node.tag, "INPUT" | "SELECT" | "TEXTAREA" | "BUTTON" | "SUMMARY")
        || matches!(node.tag, "A" | "a") && node.attribute("href").is_some()
}

/// Whether an element belongs to a section of the page, and not to the page itself.
fn is_sectioned(dom: &Dom<'_>, index: usize, in_main: bool) -> bool {
    dom.around(index).any(|(at, node)| match node.tag {
        "ARTICLE" | "ASIDE" | "NAV" | "SECTION" => true,
        "MAIN" => in_main,
        _ => matches!(dom.role(at), "article" | "complementary" | "navigation" | "region"),
    })
}

/// The role of the table that an element belongs to, empty without one.
pub(super) fn table_role(dom: &Dom<'_>, index: usize) -> &'static str {
    let mut around = dom.around(index);
    around.find(|(_, node)| node.tag == "TABLE").map_or("", |(at, _)| dom.role(at))
}

fn cell(dom: &Dom<'_>, index: usize, node: &DomNode<'_>) -> &'static str {
    let table = table_role(dom, index);
    if table == "none" {
        return "generic";
    }
    let scope = node.attribute("scope").unwrap_or_default().to_ascii_lowercase();
    match (node.tag, scope.as_str()) {
        ("TD", _) if matches!(table, "grid" | "treegrid") => "gridcell",
        ("TD", _) => "cell",
        (_, "row" | "rowgroup") => "rowheader",
        (_, "col" | "colgroup") => "columnheader",
        _ => {
            // A header beside headers is that of a column, one beside cells that of a row.
            let row = node.parent.and_then(|at| dom.node(at));
            let cells = row.map_or(&[][..], |row| &row.children);
            let (before, after) = cells.split_at(cells.partition_point(|at| *at < index));
            let tag = |at: &usize| dom.node(*at).map(|cell| cell.tag);
            let cell = |tag: &&str| matches!(*tag, "TD" | "TH");
            let before = before.iter().rev().filter_map(tag).find(cell);
            let after = after.iter().skip(1).filter_map(tag).find(cell);
            let header = before == Some("TH") || after == Some("TH");
            let alone = before.is_none() && after.is_none();
            if header || alone { "columnheader" } else { "rowheader" }
        }
    }
}

/// Whether a table has data, and is not only a way to place things. As in Chromium.
fn is_data(dom: &Dom<'_>, index: usize, table: &DomNode<'_>) -> bool {
    const MANY: usize = 20;
    let filled = |name: &str| table.attribute(name).is_some_and(|value| !value.is_empty());
    let has = |tag: &str| dom.child(index, tag).is_some();
    if dom.is_editable(index)
        || filled("summary")
        || filled("rules")
        || ["THEAD", "TFOOT", "CAPTION", "COL", "COLGROUP"].into_iter().any(has)
    {
        return true;
    }
    let rows: Vec<Vec<&DomNode<'_>>> = rows(dom, table);
    let first = rows.first().map_or(0, Vec::len);
    if rows.len() >= MANY || dom.is_marked(index, Mark::Ruled) {
        return true;
    }
    let tells = |cell: &&DomNode<'_>| {
        let names = ["headers", "abbr", "axis", "scope"];
        cell.tag == "TH" || names.iter().any(|name| cell.words(name).is_some())
    };
    !(rows.len() == 1 && first == 1) && rows.iter().flatten().any(tells)
}

/// The cells of a table without header and footer, by row.
fn rows<'b, 'a>(dom: &'b Dom<'a>, table: &'b DomNode<'a>) -> Vec<Vec<&'b DomNode<'a>>> {
    let below = |node: &'b DomNode<'a>| node.children.iter().filter_map(|at| dom.node(*at));
    let groups = below(table).flat_map(|part| {
        let rows: Vec<&DomNode<'_>> = match part.tag {
            "TR" => vec![part],
            "TBODY" => below(part).filter(|row| row.tag == "TR").collect(),
            _ => Vec::new(),
        };
        rows
    });
    let cells = |row| below(row).filter(|cell| matches!(cell.tag, "TD" | "TH")).collect();
    groups.map(cells).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;

    fn role_of(path: &[(&'static str, &'static str)]) -> &'static str {
        let mut page = Fixture::default();
        let last = path.iter().fold(0, |at, (tag, attributes)| page.element(at, tag, attributes));
        page.dom().role(last)
    }

    #[test]
    fn roles_follow_from_the_attribute_and_the_tag() {
        for (path, expected) in [
            (&[("DIV", "role=bogus_button")][..], "button"),
            (&[("DIV", "role=presentation")], "none"),
            (&[("BUTTON", "role=presentation")], "button"),
            (&[("DIV", "role=region")], "generic"),
            (&[("DIV", "role=region aria-label=x")], "region"),
            (&[("A", "")], "generic"),
            (&[("A", "href=x")], "link"),
            (&[("HEADER", "")], "banner"),
            (&[("ARTICLE", ""), ("HEADER", "")], "sectionheader"),
            (&[("IMG", "alt=")], "none"),
            (&[("INPUT", "type=email list=x")], "combobox"),
            (&[("SELECT", "size=3")], "listbox"),
            (&[("UL", "role=none"), ("LI", "")], "none"),
            (&[("DIV", "role=option")], "generic"),
            (&[("DIV", "role=listbox"), ("DIV", "role=option")], "option"),
            (&[("DETAILS", ""), ("SUMMARY", "")], "summary"),
            (&[("P", "contenteditable=true")], "textbox"),
            (&[("DIV", "contenteditable=true"), ("P", "")], "paragraph"),
            (&[("TABLE", ""), ("TR", ""), ("TD", "")], "cell"),
            (&[("TABLE", "role=grid"), ("TR", ""), ("TD", "")], "gridcell"),
            (&[("TABLE", "role=none"), ("TR", ""), ("TD", "")], "generic"),
        ] {
            assert_eq!(role_of(path), expected, "{path:?}");
        }
    }

    #[test]
    fn tables_that_only_place_things_are_no_tables() {
        let table = |rows: usize, cell: &'static str, attributes: &'static str| {
            let mut page = Fixture::default();
            let table = page.element(0, "TABLE", "");
            for _ in 0..rows {
                let row = page.element(table, "TR", "");
                page.element(row, cell, attributes);
                page.element(row, "TD", "");
            }
            page.dom().role(table)
        };
        assert_eq!(table(2, "TD", ""), "generic");
        assert_eq!(table(20, "TD", ""), "table");
        assert_eq!(table(2, "TH", ""), "table");
        assert_eq!(table(2, "TD", "headers=x"), "table");
    }
}
