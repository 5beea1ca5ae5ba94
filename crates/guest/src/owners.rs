//! Maps processes as the X server sees them to window owners.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use helmdeck_display::{Owner, Owners};
use parking_lot::Mutex;

use crate::nest::Nest;

/// The nested sandbox of the session's current browser.
#[derive(Clone, Default)]
pub struct BrowserNest {
    /// Its process namespace; 0 without a browser.
    namespace: Arc<AtomicU64>,
    nest: Arc<Mutex<Option<Nest>>>,
}

impl BrowserNest {
    /// Sets the sandbox in which the browser runs.
    pub fn set(&self, nest: &Nest) {
        self.namespace.store(nest.process_namespace(), Ordering::Release);
        *self.nest.lock() = Some(nest.clone());
    }

    /// The sandbox; it may have ended.
    pub fn get(&self) -> Option<Nest> {
        self.nest.lock().clone()
    }

    /// The mapping for the display.
    pub fn owners(&self) -> Owners {
        let browser = self.namespace.clone();
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

/// A process's id in the nested sandbox: the second in the list that begins with ours. A process in
/// a further namespace has more ids, which other programs do not see.
pub fn number_inside(status: &str) -> Option<u32> {
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    numbers.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_its_id_in_the_nested_sandbox() {
        assert_eq!(number_inside("Name:\tx\nNSpid:\t310\t17\nThreads:\t1\n"), Some(17));
        assert_eq!(number_inside("NSpid:\t310\t17\t2\n"), Some(17));
        assert_eq!(number_inside("NSpid:\t310\n"), None);
    }
}
