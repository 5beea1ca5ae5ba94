//! `helmdeck audit`: verifies, exports and follows the audit log. Reads the data directory only, also
//! beside a running server.

use std::{
    error::Error,
    io::{self, Write, stdout},
    process::ExitCode,
    time::Duration,
};

use helmdeck_server::{Config, audit};
use helmdeck_store::{AuditFilter, AuditReport, Store};
use helmdeck_wire::audit::{AuditRecord, Severity, format_at};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// Number of rows that are read at once.
const BATCH: u32 = 1000;
/// How often `tail` looks for new rows.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What to do with the audit log.
#[derive(clap::Subcommand)]
pub enum Action {
    /// Check that no row was changed, removed or inserted. Names the first broken row, and fails if
    /// there is one.
    Verify {
        /// A row and its hash, as an earlier `verify` printed them: 120:9f86d0… The row must still
        /// have that hash.
        #[arg(long, value_name = "ID:HASH", value_parser = known)]
        known: Option<Known>,
    },
    /// Print rows, oldest first.
    Export {
        /// Format of the rows.
        #[arg(long, value_enum, default_value = "jsonl")]
        format: Format,
        /// Not before this time: 2026-01-31 or 2026-01-31T12:00:00Z.
        #[arg(long, value_name = "TIME", value_parser = moment)]
        from: Option<OffsetDateTime>,
        /// Before this time.
        #[arg(long, value_name = "TIME", value_parser = moment)]
        to: Option<OffsetDateTime>,
    },
    /// Print new rows as they arrive. Ctrl-C ends it.
    Tail {
        /// How many of the last rows to print first.
        #[arg(long, short = 'n', value_name = "ROWS", default_value = "10")]
        lines: u32,
        /// Print each row as a JSON object.
        #[arg(long)]
        json: bool,
    },
}

/// Format of an export.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum Format {
    /// One JSON object per line.
    Jsonl,
    /// Comma-separated values, for spreadsheets.
    Csv,
}

/// A row whose hash was noted elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    id: u64,
    hash: String,
}

/// Runs the action on the log of the data directory.
pub fn run(config: &Config, action: &Action) -> Result<ExitCode, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = helmdeck_task::block_on(&runtime, async {
        let store = Store::open_to_read(&config.data_dir).await?;
        match action {
            Action::Verify { known } => verify(&store, known.as_ref()).await,
            Action::Export { format, from, to } => {
                let filter = AuditFilter { from: *from, to: *to, ..AuditFilter::default() };
                let format = match format {
                    Format::Jsonl => audit::ExportFormat::Jsonl,
                    Format::Csv => audit::ExportFormat::Csv,
                };
                export(&store, &filter, format).await
            }
            Action::Tail { lines, json } => tail(&store, *lines, *json).await,
        }
    });
    match done {
        Err(error) if is_broken_pipe(&*error) => Ok(ExitCode::SUCCESS),
        done => done,
    }
}

async fn verify(store: &Store, known: Option<&Known>) -> Result<ExitCode, Box<dyn Error>> {
    let report = store.verify_audit().await?;
    let AuditReport { rows, anchor, newest, newest_hash, broken } = &report;
    if let Some(broken) = broken {
        println!("The audit log is broken: {broken}.");
        println!("The {rows} rows before it are intact.");
        return Ok(ExitCode::FAILURE);
    }
    if let Some(Known { id, hash }) = known {
        let none = AuditFilter::default();
        let found = store.audit_after(&none, id.saturating_sub(1), 1).await?;
        if !found.first().is_some_and(|row| row.id == *id && row.hash == *hash) {
            println!("The audit log is broken: row {id} does not have the hash that was noted.");
            return Ok(ExitCode::FAILURE);
        }
    }
    println!("The audit log is intact: {rows} rows.");
    if *anchor > 0 {
        println!("Rows up to {anchor} were removed for their age.");
    }
    if *rows > 0 {
        println!("Newest row: {newest}:{newest_hash}");
    }
    Ok(ExitCode::SUCCESS)
}

async fn export(
    store: &Store,
    filter: &AuditFilter,
    format: audit::ExportFormat,
) -> Result<ExitCode, Box<dyn Error>> {
    let mut out = io::BufWriter::new(stdout().lock());
    out.write_all(format.head().as_bytes())?;
    let (mut after, last) = (0, store.newest_audit().await?);
    while after < last {
        let rows = store.audit_after(filter, after, BATCH).await?;
        let Some(newest) = rows.last().map(|row| row.id) else { break };
        for row in rows.iter().filter(|row| row.id <= last) {
            out.write_all(format.line(row).as_bytes())?;
        }
        after = newest;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

async fn tail(store: &Store, lines: u32, json: bool) -> Result<ExitCode, Box<dyn Error>> {
    let all = AuditFilter::default();
    let mut after = store.newest_audit().await?;
    let mut rows = store.audit_before(&all, after.saturating_add(1), lines).await?;
    rows.reverse();
    loop {
        let mut out = stdout().lock();
        for row in &rows {
            after = row.id;
            let line = if json { audit::ExportFormat::Jsonl.line(row) } else { sentence(row) };
            out.write_all(line.as_bytes())?;
        }
        out.flush()?;
        drop(out);
        if rows.is_empty() {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        rows = store.audit_after(&all, after, BATCH).await?;
    }
}

/// A row on one line, for people.
fn sentence(row: &AuditRecord) -> String {
    let at = format_at(row.at);
    let at = at.get(..19).unwrap_or(&at);
    let mut line = format!("{at}Z {:<7} {:<24}", severity(row.severity), row.event_type);
    let parts = [
        ("by", row.actor_subject.as_deref()),
        ("from", row.remote_address.as_deref()),
        ("in", row.session_id.as_ref().map(|id| id.as_str())),
        ("to", row.target.as_deref()),
    ];
    for (name, value) in parts {
        if let Some(value) = value {
            line.push_str(&format!(" {name} {value}"));
        }
    }
    if row.details.as_object().is_some_and(|details| !details.is_empty()) {
        line.push_str(&format!(" {}", row.details));
    }
    line.push('\n');
    line
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "",
        other => other.as_str(),
    }
}

/// Whether the reader of the output, such as `head`, has ended.
fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// A time in RFC 3339, or the beginning of a day in UTC.
fn moment(text: &str) -> Result<OffsetDateTime, String> {
    if let Ok(at) = OffsetDateTime::parse(text, &Rfc3339) {
        return Ok(at);
    }
    let day = OffsetDateTime::parse(&format!("{text}T00:00:00Z"), &Rfc3339);
    day.map_err(|_| format!("{text:?} is not a time: use 2026-01-31 or 2026-01-31T12:00:00Z"))
}

fn known(text: &str) -> Result<Known, String> {
    let parsed = text.split_once(':').and_then(|(id, hash)| {
        let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        Some(Known { id: id.parse().ok()?, hash: hash.to_ascii_lowercase() }).filter(|_| is_hash)
    });
    parsed.ok_or_else(|| format!("{text:?} is not ID:HASH, as `helmdeck audit verify` prints it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_day_or_a_moment() {
        let day = moment("2026-01-31").unwrap();
        assert_eq!(moment("2026-01-31T00:00:00Z"), Ok(day));
        assert_eq!(moment("2026-01-31T01:00:00+01:00").unwrap(), day);
        assert!(moment("yesterday").unwrap_err().contains("2026-01-31"));
    }

    #[test]
    fn a_known_row_is_an_id_and_a_whole_hash() {
        let hash = "AB".repeat(32);
        assert_eq!(known(&format!("7:{hash}")), Ok(Known { id: 7, hash: "ab".repeat(32) }));
        for wrong in ["7", "7:abc", &format!("x:{hash}"), &format!("7:{}", "zz".repeat(32))] {
            assert!(known(wrong).is_err(), "{wrong}");
        }
    }
}
