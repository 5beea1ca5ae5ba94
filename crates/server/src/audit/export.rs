//! The audit log as JSON Lines or CSV.

use helmdeck_wire::audit::{AuditRecord, format_at};
use schemars::JsonSchema;
use serde::Deserialize;

/// First line of a CSV file.
const COLUMNS: &str = "id,at,event_type,severity,actor_subject,actor_label,human,session_id,target,\
                       details,remote_address,previous_hash,hash\r\n";
/// First characters that a spreadsheet may read as a formula.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// Format of an exported audit log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    /// One JSON object per line.
    #[default]
    Jsonl,
    /// Comma-separated values with a line of column names.
    Csv,
}

impl ExportFormat {
    /// Media type of the file.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Jsonl => "application/x-ndjson",
            Self::Csv => "text/csv; charset=utf-8",
        }
    }

    /// Ending of the file's name.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Csv => "csv",
        }
    }

    /// What precedes the rows.
    pub fn head(self) -> &'static str {
        match self {
            Self::Jsonl => "",
            Self::Csv => COLUMNS,
        }
    }

    /// A row, with its line break.
    pub fn line(self, row: &AuditRecord) -> String {
        match self {
            // Our own types always serialize.
            Self::Jsonl => serde_json::to_string(row).unwrap_or_default() + "\n",
            Self::Csv => csv(row),
        }
    }
}

fn csv(row: &AuditRecord) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let cells = [
        row.id.to_string(),
        format_at(row.at),
        row.event_type.clone(),
        row.severity.as_str().to_owned(),
        text(&row.actor_subject),
        text(&row.actor_label),
        row.human.to_string(),
        row.session_id.as_ref().map_or_else(String::new, |id| id.as_str().to_owned()),
        text(&row.target),
        row.details.to_string(),
        text(&row.remote_address),
        row.previous_hash.clone(),
        row.hash.clone(),
    ];
    cells.map(|cell| quoted(&cell)).join(",") + "\r\n"
}

/// A cell. A spreadsheet must not read it as a formula, so an apostrophe precedes one.
fn quoted(cell: &str) -> String {
    let guard = if cell.starts_with(FORMULA) { "'" } else { "" };
    if guard.is_empty() && !cell.contains([',', '"', '\r', '\n']) {
        return cell.to_owned();
    }
    format!("\"{guard}{}\"", cell.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_never_read_as_a_formula_or_as_several_cells() {
        for (cell, expected) in [
            ("plain text", "plain text"),
            ("", ""),
            ("=1+1", "\"'=1+1\""),
            ("+1", "\"'+1\""),
            ("-1", "\"'-1\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("\tx", "\"'\tx\""),
            ("a,b", "\"a,b\""),
            ("{\"a\":1}", "\"{\"\"a\"\":1}\""),
            ("=\"x\",1", "\"'=\"\"x\"\",1\""),
        ] {
            assert_eq!(quoted(cell), expected, "{cell:?}");
        }
    }
}
