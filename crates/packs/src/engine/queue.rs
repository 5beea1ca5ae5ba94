//! Whose turn it is. No I/O.

use std::collections::{HashMap, VecDeque};

use helmdeck_wire::{ErrorCode, job::JobId};

use super::EngineLimits;
use crate::{PackError, PackResult, error::RETRY_S};

/// Jobs that wait, by caller, and how many run.
pub struct Queue {
    limits: EngineLimits,
    /// Callers with waiting jobs. The first is next.
    turns: VecDeque<String>,
    waiting: HashMap<String, Waiting>,
    running: HashMap<String, usize>,
    total: usize,
}

/// Waiting jobs of a caller.
#[derive(Default)]
struct Waiting {
    /// Their ids and the sizes of their inputs.
    jobs: VecDeque<(JobId, usize)>,
    /// The size of all inputs.
    bytes: usize,
}

impl Queue {
    pub fn new(limits: EngineLimits) -> Self {
        Self {
            limits,
            turns: VecDeque::new(),
            waiting: HashMap::new(),
            running: HashMap::new(),
            total: 0,
        }
    }

    /// Fails if the caller has too many waiting jobs for one more with an input of this size.
    pub fn check(&self, owner: &str, bytes: usize) -> PackResult<()> {
        let (limit, most) = (self.limits.waiting_per_caller, self.limits.waiting_bytes_per_caller);
        let Some(waiting) = self.waiting.get(owner) else { return Ok(()) };
        let why = if waiting.jobs.len() >= limit {
            format!("{limit} jobs of {owner} are waiting")
        } else if waiting.bytes.saturating_add(bytes) > most {
            format!("jobs of {owner} with inputs of {} bytes are waiting", waiting.bytes)
        } else {
            return Ok(());
        };
        let message = format!("{why}: wait until some have ended");
        Err(PackError::new(ErrorCode::QuotaExceeded, message).retry_after_s(RETRY_S))
    }

    /// Adds a job with an input of this size.
    pub fn add(&mut self, owner: &str, id: JobId, bytes: usize) {
        let waiting = self.waiting.entry(owner.to_owned()).or_default();
        if waiting.jobs.is_empty() {
            self.turns.push_back(owner.to_owned());
        }
        waiting.jobs.push_back((id, bytes));
        waiting.bytes += bytes;
    }

    /// The next job that may run. Callers take turns.
    pub fn next(&mut self) -> Option<JobId> {
        if self.total >= self.limits.running {
            return None;
        }
        for _ in 0..self.turns.len() {
            let owner = self.turns.pop_front()?;
            let running = self.running.get(&owner).copied().unwrap_or(0);
            if running >= self.limits.running_per_caller {
                self.turns.push_back(owner);
                continue;
            }
            let waiting = self.waiting.get_mut(&owner)?;
            let (id, bytes) = waiting.jobs.pop_front()?;
            waiting.bytes = waiting.bytes.saturating_sub(bytes);
            if waiting.jobs.is_empty() {
                self.waiting.remove(&owner);
            } else {
                self.turns.push_back(owner.clone());
            }
            self.running.insert(owner, running + 1);
            self.total += 1;
            return Some(id);
        }
        None
    }

    /// Records that a running job has ended.
    pub fn ended(&mut self, owner: &str) {
        self.total = self.total.saturating_sub(1);
        match self.running.get_mut(owner) {
            Some(running) if *running > 1 => *running -= 1,
            _ => {
                self.running.remove(owner);
            }
        }
    }

    /// Removes a waiting job. False if it does not wait.
    pub fn remove(&mut self, owner: &str, id: &JobId) -> bool {
        let Some(waiting) = self.waiting.get_mut(owner) else { return false };
        let Some(at) = waiting.jobs.iter().position(|(other, _)| other == id) else { return false };
        if let Some((_, bytes)) = waiting.jobs.remove(at) {
            waiting.bytes = waiting.bytes.saturating_sub(bytes);
        }
        if waiting.jobs.is_empty() {
            self.waiting.remove(owner);
            self.turns.retain(|other| other != owner);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(running: usize, running_per_caller: usize) -> Queue {
        let limits = EngineLimits { running, running_per_caller, ..EngineLimits::default() };
        Queue::new(EngineLimits { waiting_per_caller: 3, waiting_bytes_per_caller: 100, ..limits })
    }

    fn id(text: &str) -> JobId {
        JobId::new(text)
    }

    #[test]
    fn callers_take_turns() {
        let mut queue = queue(10, 10);
        for job in ["a1", "a2", "a3"] {
            queue.add("ann", id(job), 0);
        }
        queue.add("bob", id("b1"), 0);
        let order: Vec<_> = std::iter::from_fn(|| queue.next()).collect();
        assert_eq!(order, ["a1", "b1", "a2", "a3"].map(id));
    }

    #[test]
    fn a_caller_at_the_limit_does_not_hold_up_others() {
        let mut queue = queue(3, 1);
        for (owner, job) in [("ann", "a1"), ("ann", "a2"), ("bob", "b1")] {
            queue.add(owner, id(job), 0);
        }
        assert_eq!(queue.next(), Some(id("a1")));
        assert_eq!(queue.next(), Some(id("b1")));
        assert_eq!(queue.next(), None);
        queue.ended("ann");
        assert_eq!(queue.next(), Some(id("a2")));
    }

    #[test]
    fn no_more_jobs_run_than_the_limit_allows() {
        let mut queue = queue(2, 2);
        for (owner, job) in [("ann", "a1"), ("bob", "b1"), ("eve", "e1")] {
            queue.add(owner, id(job), 0);
        }
        assert!(queue.next().is_some() && queue.next().is_some());
        assert_eq!(queue.next(), None);
        queue.ended("ann");
        assert_eq!(queue.next(), Some(id("e1")));
    }

    #[test]
    fn a_waiting_job_can_be_removed_and_too_many_are_refused() {
        let mut queue = queue(0, 1);
        for job in ["a1", "a2", "a3"] {
            assert!(queue.check("ann", 0).is_ok());
            queue.add("ann", id(job), 0);
        }
        assert_eq!(queue.check("ann", 0).unwrap_err().code(), ErrorCode::QuotaExceeded);
        assert!(queue.check("bob", 0).is_ok());
        assert!(queue.remove("ann", &id("a2")));
        assert!(!queue.remove("ann", &id("a2")));
        assert!(queue.check("ann", 0).is_ok());
    }

    #[test]
    fn the_inputs_of_waiting_jobs_are_limited_together() {
        let mut queue = queue(1, 1);
        assert!(queue.check("ann", 101).is_ok(), "one job alone may wait");
        queue.add("ann", id("a1"), 60);
        queue.add("ann", id("a2"), 40);
        let full = queue.check("ann", 1).unwrap_err();
        assert_eq!((full.code(), full.body().retry_after_s), (ErrorCode::QuotaExceeded, Some(5)));
        assert!(queue.check("bob", 1).is_ok());
        assert_eq!(queue.next(), Some(id("a1")));
        assert!(queue.check("ann", 60).is_ok());
        assert!(queue.remove("ann", &id("a2")));
        assert!(queue.check("ann", 100).is_ok());
    }
}
