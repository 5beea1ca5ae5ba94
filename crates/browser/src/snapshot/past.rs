//! The latest snapshots of a tab, for computing deltas.

use std::{collections::VecDeque, sync::Arc};

use parking_lot::Mutex;

use super::layout::Line;
use crate::refs::Node;

/// The number of snapshots kept.
const KEPT: usize = 5;
/// Larger snapshots are not kept, in bytes.
const MAX_KEPT: usize = 4 << 20;

/// The latest snapshots of a tab.
#[derive(Default)]
pub(crate) struct Past {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    last: u64,
    kept: VecDeque<Kept>,
}

struct Kept {
    id: u64,
    of: Of,
    lines: Arc<[Line]>,
}

/// The scope of a snapshot. Only snapshots of the same scope can be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Of {
    /// The id of the tab's document.
    pub document: String,
    pub root: Option<Node>,
}

impl Past {
    /// The lines of an earlier snapshot, if it is still kept.
    pub(crate) fn find(&self, id: u64, of: &Of) -> Option<Arc<[Line]>> {
        let state = self.state.lock();
        let kept = state.kept.iter().find(|kept| kept.id == id && kept.of == *of)?;
        Some(Arc::clone(&kept.lines))
    }

    /// Keeps a snapshot and returns its number.
    pub(crate) fn keep(&self, of: Of, lines: Vec<Line>) -> u64 {
        let mut state = self.state.lock();
        state.last += 1;
        let id = state.last;
        let size: usize = lines.iter().map(|line| line.text.len() + size_of::<Line>()).sum();
        if size <= MAX_KEPT {
            state.kept.push_back(Kept { id, of, lines: lines.into() });
        }
        if state.kept.len() > KEPT {
            state.kept.pop_front();
        }
        id
    }
}
