//! Reports of a guest, limited in length and number.

use helmdeck_link::{LinkError, ProgressStream};
use helmdeck_wire::{guest::Progress, window::BrowserWindow};

use crate::Attachment;

/// Maximum length of a sentence, in characters.
const MAX_SENTENCE: usize = 4096;
/// Maximum length of a log tail, including line markers.
const MAX_TAIL: usize = 64 << 10;
/// Maximum length of a window id.
const MAX_ID: usize = 20;

/// A stream of reports.
/// Counts the reports of an attached guest.
pub(super) struct Reports {
    stream: Box<ProgressStream>,
    /// Counts them, if they are of a guest that is not ours.
    attachment: Option<Attachment>,
}

impl Reports {
    pub fn new(stream: ProgressStream, attachment: Option<Attachment>) -> Self {
        Self { stream: Box::new(stream), attachment }
    }

    /// The next report, or `None` when the guest is gone. Cancel-safe.
    pub async fn next(&mut self) -> Result<Option<Progress>, LinkError> {
        let Some(report) = self.stream.next().await? else { return Ok(None) };
        if let Some(attachment) = &self.attachment
            && !attachment.may_report(self.stream.size())
        {
            return Err(LinkError::Nonsense("the guest sent more reports than allowed".to_owned()));
        }
        Ok(Some(cut(report)))
    }
}

/// Truncates fields that are longer than allowed.
fn cut(report: Progress) -> Progress {
    match report {
        Progress::Event(event) => Progress::Event(first(event, MAX_SENTENCE)),
        Progress::BrowserEnded(how) => Progress::BrowserEnded(first(how, MAX_SENTENCE)),
        Progress::BrowserWindow(Some(window)) => {
            let id = first(window.id, MAX_ID);
            Progress::BrowserWindow(Some(BrowserWindow { id, ..window }))
        }
        Progress::Failed { stage, reason, log_tail } => {
            let (reason, log_tail) = (first(reason, MAX_SENTENCE), first(log_tail, MAX_TAIL));
            Progress::Failed { stage, reason, log_tail }
        }
        Progress::Lost { part, log_tail } => {
            Progress::Lost { part, log_tail: first(log_tail, MAX_TAIL) }
        }
        whole @ (Progress::Done(_)
        | Progress::Ready
        | Progress::BrowserBack
        | Progress::PrivateEnded
        | Progress::Executing(_)
        | Progress::BrowserWindow(None)) => whole,
    }
}

fn first(text: String, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_reports_are_cut_between_characters() {
        let long = "é".repeat(MAX_SENTENCE + 1);
        let Progress::Event(cut) = cut(Progress::Event(long)) else { panic!("an event") };
        assert_eq!(cut, "é".repeat(MAX_SENTENCE));
        assert_eq!(first("short".into(), 5), "short");
    }
}
