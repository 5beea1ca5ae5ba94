//! The few elements that are read from the XML of a service: flat texts, found by name.

/// The text of the first element with this name.
pub(crate) fn text(xml: &str, name: &str) -> Option<String> {
    inner(xml, name).map(|(inner, _)| decoded(inner))
}

/// The contents of all elements with this name.
pub(crate) fn all<'a>(xml: &'a str, name: &str) -> Vec<&'a str> {
    let (mut rest, mut found) = (xml, Vec::new());
    while let Some((inner, after)) = inner(rest, name) {
        found.push(inner);
        rest = after;
    }
    found
}

/// The content of the first element with this name, and what follows it.
fn inner<'a>(xml: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    let mut rest = xml;
    loop {
        let (_, after) = rest.split_once('<')?;
        let tag_rest = after.strip_prefix(name).and_then(|it| {
            it.starts_with(['>', ' ']).then(|| it.split_once('>').map(|(_, inner)| inner))?
        });
        match tag_rest {
            Some(inner) => return inner.split_once(&format!("</{name}>")),
            None => rest = after,
        }
    }
}

fn decoded(text: &str) -> String {
    // The ampersand is last: otherwise `&amp;lt;` would become `<`.
    let text = text.replace("&quot;", "\"").replace("&#34;", "\"").replace("&apos;", "'");
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").trim().to_owned()
}

/// A text for an element.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "<?xml version=\"1.0\"?>\n<ListBucketResult xmlns=\"http://x/\"><Name>b</Name>\
        <KeyCount>2</KeyCount><Contents><Key>a&amp;lt;</Key><Size>1</Size></Contents>\
        <Contents><Key>b</Key></Contents><IsTruncated>false</IsTruncated></ListBucketResult>";

    #[test]
    fn elements_are_found_by_their_whole_name() {
        assert_eq!(text(LIST, "Key").as_deref(), Some("a&lt;"));
        assert_eq!(text(LIST, "KeyCount").as_deref(), Some("2"));
        assert_eq!(text(LIST, "Missing"), None);
        let keys: Vec<_> = all(LIST, "Contents").iter().filter_map(|it| text(it, "Key")).collect();
        assert_eq!(keys, ["a&lt;", "b"]);
        assert!(all(LIST, "ListBucketResult")[0].starts_with("<Name>"));
    }

    #[test]
    fn what_is_cut_off_is_not_found() {
        assert_eq!(text("<Key>a", "Key"), None);
        assert_eq!(text("<Key", "Key"), None);
        assert_eq!(text("", "Key"), None);
    }
}
