//! Text without the marks of Markdown, as documents are read.

/// The text of a document in Markdown. Tables become lines with tabs.
pub fn plain_text(markdown: &str) -> String {
    let mut text = String::with_capacity(markdown.len());
    let mut in_code = false;
    for line in markdown.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
            continue;
        }
        match in_code {
            true => text.push_str(line),
            false if is_rule(line) => continue,
            false => text.push_str(&plain_line(line)),
        }
        text.push('\n');
    }
    text
}

/// Whether a line only separates the header of a table.
fn is_rule(line: &str) -> bool {
    line.starts_with('|') && line.contains("---") && line.chars().all(|c| "|-: ".contains(c))
}

fn plain_line(line: &str) -> String {
    let start = line.len() - line.trim_start().len();
    let (indent, rest) = line.split_at_checked(start).unwrap_or(("", line));
    let hashes = rest.bytes().take_while(|byte| *byte == b'#').count();
    let heading = rest.get(hashes..).and_then(|it| it.strip_prefix(' '));
    let rest = heading.filter(|_| (1..=6).contains(&hashes)).unwrap_or(rest);
    let cells = rest.strip_prefix('|').and_then(|rest| rest.strip_suffix('|'));
    match cells {
        Some(cells) => inline(cells.trim()).replace(" | ", "\t").replace("<br>", " "),
        None => format!("{indent}{}", inline(rest)),
    }
}

/// Text without emphasis, and links as their texts.
fn inline(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        if c == '\\'
            && let Some(escaped) = after.chars().next().filter(char::is_ascii_punctuation)
        {
            plain.push(escaped);
            rest = after.get(1..).unwrap_or_default();
        } else if let Some(after) = rest.strip_prefix("**") {
            rest = after;
        } else if c == '`' {
            rest = after;
        } else if let Some((label, after)) = link(rest) {
            plain.push_str(&inline(label));
            rest = after;
        } else {
            plain.push(c);
            rest = after;
        }
    }
    plain
}

/// The text of a link or picture at the beginning, and what follows it.
fn link(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix("![").or_else(|| text.strip_prefix('['))?;
    let (label, target) = inside.split_once("](")?;
    let (_, after) = target.split_once(')')?;
    (!label.contains(['[', ']'])).then_some((label, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_markdown_are_left_out_and_the_text_stays() {
        let markdown = "# Plan\n\nSee **[the site](http://a.b/c)** and `x_y`, 2 \\* 3 \\| 4.\n\n\
                        - one\n  - [ ] two\n\n| A | B |\n| --- | --- |\n| 1<br>2 | **x** |\n\n\
                        ```\n# code [a](b)\n```\n#1 é ![picture](p.png)\n";
        let text = "Plan\n\nSee the site and x_y, 2 * 3 | 4.\n\n- one\n  - [ ] two\n\n\
                    A\tB\n1 2\tx\n\n# code [a](b)\n#1 é picture\n";
        assert_eq!(plain_text(markdown), text);
        for odd in ["", "[a](", "[[[[a]](b)", "\\", "|", "||", "**", "###### x", "####### x"] {
            plain_text(odd);
        }
    }
}
