//! Parts of Markdown.

/// Joins blocks with blank lines between them.
pub fn join(blocks: &[String]) -> String {
    let kept: Vec<_> =
        blocks.iter().map(|it| it.trim_matches('\n')).filter(|it| !it.is_empty()).collect();
    let mut text = kept.join("\n\n");
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// A heading of a level from 1 to 6.
pub fn heading(level: usize, text: &str) -> String {
    let text = one_line(text);
    if text.is_empty() { text } else { format!("{} {text}", "#".repeat(level.clamp(1, 6))) }
}

/// A table. The first row is the header. Rows may have different lengths.
pub fn table(rows: &[Vec<String>]) -> String {
    let width = rows.iter().map(Vec::len).max().unwrap_or_default();
    if width == 0 {
        return String::new();
    }
    let line = |row: &Vec<String>| {
        let cells = (0..width).map(|at| cell(row.get(at).map_or("", String::as_str)));
        format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
    };
    let mut lines: Vec<_> = rows.iter().map(line).collect();
    lines.insert(1.min(lines.len()), format!("|{}", " --- |".repeat(width)));
    lines.join("\n")
}

/// The text of a cell: on one line, without a bar.
fn cell(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("<br>").replace('|', "\\|")
}

/// Text between marks such as `**`. Spaces stay outside.
pub fn marked(mark: &str, text: &str) -> String {
    let inner = text.trim();
    if inner.is_empty() {
        return text.to_owned();
    }
    let (start, end) = (text.len() - text.trim_start().len(), text.trim_end().len());
    let (before, after) = (text.get(..start), text.get(end..));
    format!("{}{mark}{inner}{mark}{}", before.unwrap_or_default(), after.unwrap_or_default())
}

/// Text on one line, with single spaces.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Lines after the first one indented.
pub fn hanging(text: &str, indent: usize) -> String {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |text, line| match line {
        "" => text + "\n",
        line => format!("{text}\n{:indent$}{line}", ""),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_header_and_cells_of_one_line() {
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect();
        let rows = [row(&["A", "B"]), row(&["1\n2", "x|y", "z"])];
        assert_eq!(table(&rows), "| A | B |  |\n| --- | --- | --- |\n| 1<br>2 | x\\|y | z |");
        assert_eq!(table(&[]), "");
    }

    #[test]
    fn spaces_stay_outside_of_marks() {
        assert_eq!(marked("**", " a b "), " **a b** ");
        assert_eq!(marked("**", "  "), "  ");
        assert_eq!(hanging("a\nb\n\nc", 2), "a\n  b\n\n  c");
    }
}
