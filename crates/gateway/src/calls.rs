//! How many calls run at once, altogether and of each caller.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;

use crate::error::GatewayError;

/// How many calls may run at once. A request and its answer are in memory meanwhile.
const MOST: usize = 64;
/// How many of them may be of one caller, so that others can call as well.
const MOST_OF_ONE: usize = 48;

/// The calls that run. Cheap to clone.
#[derive(Clone, Default)]
pub struct Calls {
    running: Arc<Mutex<HashMap<String, usize>>>,
}

/// A call that runs until this is dropped.
pub struct Permit {
    caller: String,
    calls: Calls,
}

impl Calls {
    /// Begins a call, unless too many run.
    pub fn begin(&self, caller: &str) -> Result<Permit, GatewayError> {
        let mut running = self.running.lock();
        let own = running.get(caller).copied().unwrap_or_default();
        if own >= MOST_OF_ONE || running.values().sum::<usize>() >= MOST {
            return Err(GatewayError::Busy);
        }
        running.insert(caller.to_owned(), own + 1);
        Ok(Permit { caller: caller.to_owned(), calls: self.clone() })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut running = self.calls.running.lock();
        if let Some(own) = running.get_mut(&self.caller) {
            *own = own.saturating_sub(1);
            if *own == 0 {
                running.remove(&self.caller);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_caller_cannot_take_all_places() {
        let calls = Calls::default();
        let mut held: Vec<_> = (0..MOST_OF_ONE).map(|_| calls.begin("ann").unwrap()).collect();
        assert!(matches!(calls.begin("ann"), Err(GatewayError::Busy)));
        held.extend((MOST_OF_ONE..MOST).map(|_| calls.begin("bob").unwrap()));
        assert!(matches!(calls.begin("eve"), Err(GatewayError::Busy)));
        held.clear();
        assert!(calls.running.lock().is_empty());
    }
}
