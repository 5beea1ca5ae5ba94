//! Tables of PDF pages, which are texts side by side.

use crate::{
    markdown::table,
    pdf::{Cell, Line},
};

/// Longer texts side by side are columns of a page, not of a table.
const COLUMN_TEXT: usize = 40;
/// Fewer lines side by side are not columns of a page.
const COLUMN_LINES: usize = 8;

/// A part of a page.
#[derive(Debug, PartialEq)]
pub enum Part {
    /// Lines of text.
    Lines(Vec<Line>),
    /// A table, as Markdown.
    Table(String),
}

/// Divides the lines of a page into tables and text.
pub fn parts(lines: &[Line]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = lines;
    while let Some((first, after)) = rest.split_first() {
        let length = run(rest);
        let (side_by_side, others) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        if length < 2 {
            text(&mut parts, vec![first.clone()]);
            rest = after;
            continue;
        }
        let columns = columns(side_by_side);
        if columns.len() < 2 {
            text(&mut parts, side_by_side.to_vec());
        } else if is_page_columns(side_by_side) {
            for (left, right) in &columns {
                text(&mut parts, column(side_by_side, *left, *right));
            }
        } else {
            parts.push(Part::Table(table(&rows(side_by_side, &columns))));
        }
        rest = others;
    }
    parts
}

fn text(parts: &mut Vec<Part>, lines: Vec<Line>) {
    match parts.last_mut() {
        Some(Part::Lines(before)) => before.extend(lines),
        _ => parts.push(Part::Lines(lines)),
    }
}

/// How many lines from the first one have texts side by side. A single text in between, close to the
/// line above, is the rest of a cell.
fn run(lines: &[Line]) -> usize {
    let mut length = 0;
    for (at, line) in lines.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| lines.get(at));
        let is_close = before
            .is_none_or(|before| line.top - (before.top + before.height) < 2.0 * before.height);
        let is_far = before.is_some_and(|_| !is_close);
        match line.cells.len() {
            _ if is_far => break,
            2.. => length = at + 1,
            _ if at == 0 => break,
            // Counts only if a line with several texts follows.
            _ if at > length => break,
            _ => {}
        }
    }
    length
}

/// The columns: ranges from left to right that texts of several lines share.
fn columns(lines: &[Line]) -> Vec<(f64, f64)> {
    let wide = lines.iter().filter(|line| line.cells.len() > 1);
    let mut ranges: Vec<_> =
        wide.flat_map(|line| &line.cells).map(|it| (it.left, it.right)).collect();
    ranges.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut merged: Vec<(f64, f64)> = Vec::new();
    for (left, right) in ranges {
        match merged.last_mut() {
            Some(last) if left <= last.1 => last.1 = last.1.max(right),
            _ => merged.push((left, right)),
        }
    }
    merged
}

fn is_page_columns(lines: &[Line]) -> bool {
    let cells: Vec<_> = lines.iter().flat_map(|line| &line.cells).collect();
    let letters: usize = cells.iter().map(|cell| cell.text.chars().count()).sum();
    lines.len() >= COLUMN_LINES && letters / cells.len().max(1) >= COLUMN_TEXT
}

/// The lines of one column of a page.
fn column(lines: &[Line], left: f64, right: f64) -> Vec<Line> {
    let inside = |cell: &&Cell| cell.left >= left - 1.0 && cell.left <= right;
    let part = |line: &Line| {
        let cells: Vec<_> = line.cells.iter().filter(inside).cloned().collect();
        (!cells.is_empty()).then(|| Line { cells, ..line.clone() })
    };
    lines.iter().filter_map(part).collect()
}

fn rows(lines: &[Line], columns: &[(f64, f64)]) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for line in lines {
        let mut row = vec![String::new(); columns.len()];
        for cell in &line.cells {
            let middle = (cell.left + cell.right) / 2.0;
            let distance =
                |(left, right): &(f64, f64)| (left - middle).max(middle - right).max(0.0);
            let nearest = columns
                .iter()
                .enumerate()
                .min_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b)));
            if let Some(place) = nearest.and_then(|(at, _)| row.get_mut(at)) {
                *place = if place.is_empty() {
                    cell.text.clone()
                } else {
                    format!("{place} {}", cell.text)
                };
            }
        }
        match rows.last_mut() {
            // The rest of a cell above.
            Some(before) if line.cells.len() == 1 => {
                for (above, below) in
                    before.iter_mut().zip(row).filter(|(_, below)| !below.is_empty())
                {
                    *above = if above.is_empty() { below } else { format!("{above} {below}") };
                }
            }
            _ => rows.push(row),
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(top: f64, cells: &[(f64, &str)]) -> Line {
        let cell = |(left, text): &(f64, &str)| Cell {
            left: *left,
            right: left + 7.0 * text.len() as f64,
            text: (*text).to_owned(),
        };
        let cells = cells.iter().map(cell).collect();
        Line { top, height: 12.0, size: 12.0, bold: false, cells }
    }

    #[test]
    fn texts_side_by_side_are_a_table_with_wrapped_cells() {
        let lines = [
            line(0.0, &[(0.0, "Intro")]),
            line(40.0, &[(0.0, "A"), (100.0, "B"), (200.0, "C")]),
            line(56.0, &[(0.0, "1"), (100.0, "two"), (205.0, "3")]),
            line(70.0, &[(100.0, "lines")]),
            line(86.0, &[(0.0, "4"), (200.0, "6")]),
        ];
        let parts = parts(&lines);
        assert_eq!(parts.len(), 2, "{parts:?}");
        let expected =
            "| A | B | C |\n| --- | --- | --- |\n| 1 | two lines | 3 |\n| 4 |  | 6 |".to_owned();
        assert_eq!(parts[1], Part::Table(expected));
    }

    #[test]
    fn columns_of_a_page_are_read_one_after_the_other() {
        let long = "a line of a column that is as long as lines in columns are";
        let lines: Vec<_> =
            (0..10).map(|n| line(14.0 * f64::from(n), &[(0.0, long), (600.0, long)])).collect();
        let parts = parts(&lines);
        let [Part::Lines(lines)] = &parts[..] else { panic!("{parts:?}") };
        assert_eq!(lines.len(), 20);
        assert!(lines[..10].iter().all(|line| line.cells[0].left < 1.0));
    }
}
