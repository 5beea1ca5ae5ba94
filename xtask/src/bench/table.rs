//! Samples, the table of results, and whether bars were met.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Bars that were missed so far.
static MISSED: AtomicUsize = AtomicUsize::new(0);

/// A bar and whether it is met, for a table.
pub fn bar(text: &str, met: bool) -> String {
    if !met {
        MISSED.fetch_add(1, Ordering::Relaxed);
    }
    format!("{text} {}", if met { "met" } else { "MISSED" })
}

/// How many bars were missed so far.
pub fn missed() -> usize {
    MISSED.load(Ordering::Relaxed)
}

/// Durations in milliseconds.
#[derive(Debug, Clone, Default)]
pub struct Samples(pub Vec<f64>);

impl Samples {
    /// The value that `share` of all samples do not exceed.
    pub fn percentile(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1);
        let at = (last as f64 * share).round() as usize;
        sorted.get(at).copied().unwrap_or(f64::NAN)
    }

    /// The median.
    pub fn p50(&self) -> f64 {
        self.percentile(0.5)
    }

    /// The 95th percentile.
    pub fn p95(&self) -> f64 {
        self.percentile(0.95)
    }
}

/// One line of a comparison.
pub struct Row {
    /// The action.
    pub what: &'static str,
    /// Our samples.
    pub ours: Samples,
    /// Samples of the peer's technique; empty if it could not be run.
    pub peer: Samples,
    /// The peer's technique.
    pub technique: &'static str,
    /// The promised ratio, if any.
    pub bar: Option<f64>,
}

/// Prints a comparison as Markdown.
pub fn print(rows: &[Row]) {
    println!("| action | ours p50 / p95 ms | peer p50 / p95 ms | ratio of p50 | bar | peer |");
    println!("|---|---|---|---|---|---|");
    for row in rows {
        let ratio = row.peer.p50() / row.ours.p50();
        let bar =
            row.bar.map_or("–".to_owned(), |least| bar(&format!("≥ {least}×"), ratio >= least));
        println!(
            "| {} | {:.2} / {:.2} | {:.1} / {:.1} | {ratio:.1}× | {bar} | `{}` |",
            row.what,
            row.ours.p50(),
            row.ours.p95(),
            row.peer.p50(),
            row.peer.p95(),
            row.technique,
        );
    }
}
