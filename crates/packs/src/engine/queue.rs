//! Whose turn it is. No I/O.

use std::collections::{HashMap, VecDeque};

use helmdeck_wire::{ErrorCode, job::JobId};

use super::Limits;
use crate::{PackError, PackResult};

/// Jobs that wait, by caller, and how many run.
pub struct Queue {
    limits: Limits,
    /// Callers with waiting jobs. The first is next.
    turns: VecDeque<String>,
    waiting: HashMap<String, VecDeque<JobId>>,
    running: HashMap<String, usize>,
    total: usize,
}

impl Queue {
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            turns: VecDeque::new(),
            waiting: HashMap::new(),
            running: HashMap::new(),
            total: 0,
        }
    }

    /// Fails if the caller has too many waiting jobs.
    pub fn check(&self, owner: &str) -> PackResult<()> {
        let limit = self.limits.waiting_per_caller;
        if self.waiting.get(owner).map_or(0, VecDeque::len) < limit {
            return Ok(());
        }
        let message = format!("{limit} jobs of {owner} are waiting: wait until some have ended");
        Err(PackError::new(ErrorCode::QuotaExceeded, message))
    }

    /// Adds a job.
    pub fn add(&mut self, owner: &str, id: JobId) {
        let waiting = self.waiting.entry(owner.to_owned()).or_default();
        if waiting.is_empty() {
            self.turns.push_back(owner.to_owned());
        }
        waiting.push_back(id);
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
            let id = waiting.pop_front();
            if waiting.is_empty() {
                self.waiting.remove(&owner);
            } else {
                self.turns.push_back(owner.clone());
            }
            self.running.insert(owner, running + 1);
            self.total += 1;
            return id;
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
        let before = waiting.len();
        waiting.retain(|other| other != id);
        let removed = waiting.len() < before;
        if waiting.is_empty() {
            self.waiting.remove(owner);
            self.turns.retain(|other| other != owner);
        }
        removed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(running: usize, running_per_caller: usize) -> Queue {
        Queue::new(Limits { running, running_per_caller, waiting_per_caller: 3 })
    }

    fn id(text: &str) -> JobId {
        JobId::new(text)
    }

    #[test]
    fn callers_take_turns() {
        let mut queue = queue(10, 10);
        for job in ["a1", "a2", "a3"] {
            queue.add("ann", id(job));
        }
        queue.add("bob", id("b1"));
        let order: Vec<_> = std::iter::from_fn(|| queue.next()).collect();
        assert_eq!(order, ["a1", "b1", "a2", "a3"].map(id));
    }

    #[test]
    fn a_caller_at_the_limit_does_not_hold_up_others() {
        let mut queue = queue(3, 1);
        for (owner, job) in [("ann", "a1"), ("ann", "a2"), ("bob", "b1")] {
            queue.add(owner, id(job));
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
            queue.add(owner, id(job));
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
            assert!(queue.check("ann").is_ok());
            queue.add("ann", id(job));
        }
        assert_eq!(queue.check("ann").unwrap_err().code(), ErrorCode::QuotaExceeded);
        assert!(queue.check("bob").is_ok());
        assert!(queue.remove("ann", &id("a2")));
        assert!(!queue.remove("ann", &id("a2")));
        assert!(queue.check("ann").is_ok());
    }
}
