//! The last snapshots of a tab, for saying what has changed since.

use std::{collections::VecDeque, sync::Arc};

use parking_lot::Mutex;

use super::layout::Line;
use crate::refs::Node;

/// How many are kept.
const KEPT: usize = 5;
/// What is larger is not kept, in bytes.
const MAX_KEPT: usize = 4 << 20;

/// The last snapshots of a tab.
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

/// What a snapshot is of. Only those of the same can be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Of {
    /// The id of what the tab has loaded.
    pub document: String,
    pub root: Option<Node>,
}

impl Past {
    /// The lines of an earlier snapshot, if it is still known.
    pub(crate) fn find(&self, id: u64, of: &Of) -> Option<Arc<[Line]>> {
        let state = self.state.lock();
        let kept = state.kept.iter().find(|kept| kept.id == id && kept.of == *of)?;
        Some(Arc::clone(&kept.lines))
    }

    /// Keeps a snapshot, and gives it a number.
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
