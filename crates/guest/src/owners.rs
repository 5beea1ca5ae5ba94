//! Whose a window is: maps processes as the X server sees them to the session's sandboxes.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use helmdeck_display::{Owner, Owners};

/// The process namespace of the session's browser of the moment; 0 while there is none.
#[derive(Clone, Default)]
pub struct BrowserNamespace(Arc<AtomicU64>);

impl BrowserNamespace {
    /// The browser runs in this namespace from now on.
    pub fn set(&self, namespace: u64) {
        self.0.store(namespace, Ordering::Release);
    }

    /// For the display, to tell windows apart by.
    pub fn owners(&self) -> Owners {
        let browser = self.0.clone();
        Arc::new(move |pid| {
            let namespace = fs::metadata(format!("/proc/{pid}/ns/pid")).ok()?.ino();
            if namespace == browser.load(Ordering::Acquire) {
                return Some(Owner::Browser);
            }
            let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
            number_inside(&status).map(Owner::Program)
        })
    }
}

/// A process's number in the nested sandbox: the second in the list that begins with ours. One that
/// runs in a further namespace has more, which other programs do not see.
fn number_inside(status: &str) -> Option<u32> {
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    numbers.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_the_number_that_other_programs_of_the_session_see() {
        assert_eq!(number_inside("Name:\tx\nNSpid:\t310\t17\nThreads:\t1\n"), Some(17));
        assert_eq!(number_inside("NSpid:\t310\t17\t2\n"), Some(17));
        assert_eq!(number_inside("NSpid:\t310\n"), None);
    }
}
