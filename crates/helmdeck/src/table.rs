//! Tables for terminals.

use std::{
    error::Error,
    io::{ErrorKind, Write, stdout},
};

/// Rows of text in columns.
pub struct Table<const N: usize> {
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    /// A table with these headings.
    pub fn new(headings: [&str; N]) -> Self {
        Self { rows: vec![headings.map(str::to_owned)] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: [String; N]) {
        self.rows.push(cells);
    }

    /// Prints the table. A closed pipe is not an error.
    pub fn print(&self) -> Result<(), Box<dyn Error>> {
        match stdout().write_all(self.text().as_bytes()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            written => Ok(written?),
        }
    }

    fn text(&self) -> String {
        let mut widths = [0; N];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.chars().count().max(*width);
            }
        }
        let mut text = String::new();
        for row in &self.rows {
            let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
            text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(["ID", "LABEL"]);
        table.row(["sess-1".to_owned(), "é".to_owned()]);
        assert_eq!(table.text(), "ID      LABEL\nsess-1  é\n");
    }
}
