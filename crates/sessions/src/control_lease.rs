//! The lease that says who has control of a session, with an epoch. Pure decisions, with time passed in.
//!
//! Without a lease, agents drive. A person who takes it stops them until it is released, or until
//! all viewers of that person have been gone for [`GRACE`]. A holder without a viewer must act at
//! least every [`UNWATCHED`].
//!
//! People have priority: anyone but an agent can take the lease from an agent. Only a person who
//! logged in can force it from another person. Agents can never force it.

use std::time::{Duration, Instant};

use helmdeck_wire::{
    control::{Control, Driver},
    history::{Actor, ActorKind},
};
use time::OffsetDateTime;

/// How long a person keeps the lease after their last viewer is gone. A page reload or a network
/// change must not give a half-filled form to the agent.
pub const GRACE: Duration = Duration::from_secs(15);
/// How long a holder who never opened a viewer keeps the lease without using it.
pub const UNWATCHED: Duration = Duration::from_secs(300);

/// A client that can take control.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Shown to others.
    pub by: Actor,
    /// The token or ticket that was used. Two pages of one login are the same holder.
    pub key: String,
}

/// State of control.
#[derive(Debug, Clone, Default)]
pub struct Lease {
    epoch: u64,
    held: Option<Held>,
    since: Option<OffsetDateTime>,
    /// Message that the last person left for the agent, and that person.
    message: Option<(String, String)>,
}

/// The new state after control changed.
#[derive(Debug, Clone)]
pub struct ControlChange {
    lease: Lease,
    running: bool,
}

impl ControlChange {
    pub(crate) fn new(lease: Lease, running: bool) -> Self {
        Self { lease, running }
    }

    /// Control as the client with `key` sees it.
    pub fn seen_by(&self, key: &str) -> Control {
        self.lease.describe(self.running, key)
    }
}

#[derive(Debug, Clone)]
struct Held {
    holder: Holder,
    viewers: usize,
    /// Whether the holder ever had a viewer.
    watched: bool,
    /// When the holder's last viewer left, or the holder last acted.
    seen: Instant,
}

impl Held {
    fn yields_to(&self, taker: &Actor, force: bool) -> bool {
        match (self.holder.by.is_person(), taker.kind) {
            (_, ActorKind::Human) if force => true,
            (false, ActorKind::Human | ActorKind::Link) => true,
            _ => false,
        }
    }
}

impl Lease {
    /// Gives the lease to `holder` if it is free, if an agent has it and `holder` is not an agent,
    /// or if `holder` is a person who forces it. Returns whether anything changed, or the current
    /// holder.
    pub fn take(
        &mut self,
        holder: Holder,
        force: bool,
        now: Instant,
        at: OffsetDateTime,
    ) -> Result<bool, Holder> {
        match &mut self.held {
            Some(held) if held.holder.key == holder.key => {
                held.seen = now;
                return Ok(false);
            }
            Some(held) if !held.yields_to(&holder.by, force) => return Err(held.holder.clone()),
            _ => {}
        }
        self.held = Some(Held { holder, viewers: 0, watched: false, seen: now });
        self.change(None, at);
        Ok(true)
    }

    /// Releases control to the agents if `key` has it. Returns whether anything changed.
    pub fn release(&mut self, key: &str, message: Option<String>, at: OffsetDateTime) -> bool {
        let Some(held) = self.held.take_if(|held| held.holder.key == key) else { return false };
        self.change(message.map(|message| (message, held.holder.by.subject)), at);
        true
    }

    /// Whether an action may start: the current epoch, or the holder who prevents it. The holder of
    /// the lease may use actions, too.
    pub fn admit(&self, key: &str) -> Result<u64, Holder> {
        match &self.held {
            Some(held) if held.holder.key != key => Err(held.holder.clone()),
            _ => Ok(self.epoch),
        }
    }

    /// Whether `key` has the lease. Manual input requires it.
    pub fn drives(&self, key: &str) -> bool {
        self.held.as_ref().is_some_and(|held| held.holder.key == key)
    }

    /// The holder of the lease.
    pub fn holder(&self) -> Option<&Holder> {
        self.held.as_ref().map(|held| &held.holder)
    }

    /// Increases whenever control changes.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Updates the number of the holder's open viewers.
    pub fn watched_by(&mut self, key: &str, viewers: usize, now: Instant) {
        if let Some(held) = self.held.as_mut().filter(|held| held.holder.key == key) {
            held.viewers = viewers;
            held.watched |= viewers > 0;
            held.seen = now;
        }
    }

    /// Records activity of the holder.
    pub fn used_by(&mut self, key: &str, now: Instant) {
        if let Some(held) = self.held.as_mut().filter(|held| held.holder.key == key) {
            held.seen = now;
        }
    }

    /// Ends a lease whose holder has been gone for too long. Returns whether anything changed.
    pub fn expire(&mut self, now: Instant, at: OffsetDateTime) -> bool {
        let expired = self.expires().is_some_and(|end| now >= end);
        if expired {
            self.held = None;
            self.change(None, at);
        }
        expired
    }

    /// When [`Self::expire`] needs to be called next.
    pub fn expires(&self) -> Option<Instant> {
        let held = self.held.as_ref().filter(|held| held.viewers == 0)?;
        Some(held.seen + if held.watched { GRACE } else { UNWATCHED })
    }

    /// Control as the client with `key` sees it.
    pub fn describe(&self, running: bool, key: &str) -> Control {
        let driver = match &self.held {
            _ if !running => Driver::Nobody,
            Some(held) if held.holder.by.is_person() => Driver::Human,
            Some(_) | None => Driver::Agent,
        };
        Control {
            driver,
            holder: self.holder().map(|holder| holder.by.subject.clone()),
            by: self.holder().map(|holder| holder.by.clone()),
            epoch: self.epoch,
            since: self.since,
            message: self.message.as_ref().map(|(message, _)| message.clone()),
            message_by: self.message.as_ref().map(|(_, by)| by.clone()),
            yours: self.drives(key),
        }
    }

    fn change(&mut self, message: Option<(String, String)>, at: OffsetDateTime) {
        self.epoch += 1;
        self.since = Some(at);
        self.message = message;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

    fn one(kind: ActorKind, key: &str) -> Holder {
        Holder { by: Actor { kind, subject: key.into(), ..Actor::default() }, key: key.into() }
    }

    fn holder(key: &str) -> Holder {
        one(ActorKind::Human, key)
    }

    #[test]
    fn an_agent_never_takes_control_from_a_person_not_even_by_force() {
        for person in [ActorKind::Human, ActorKind::Link] {
            let mut lease = Lease::default();
            lease.take(one(person, "ann"), false, Instant::now(), AT).unwrap();
            for force in [false, true] {
                let agent = one(ActorKind::Agent, "bot");
                let refused = lease.take(agent, force, Instant::now(), AT);
                assert_eq!(refused, Err(one(person, "ann")), "{person:?} {force}");
            }
        }
    }

    #[test]
    fn people_and_link_holders_take_control_from_an_agent_without_force() {
        for taker in [ActorKind::Human, ActorKind::Link] {
            let mut lease = Lease::default();
            let now = Instant::now();
            assert_eq!(lease.take(one(ActorKind::Agent, "bot"), false, now, AT), Ok(true));
            assert_eq!(lease.describe(true, "").driver, Driver::Agent);
            assert!(lease.admit("other bot").is_err());
            assert_eq!(lease.take(one(taker, "ann"), false, now, AT), Ok(true));
            assert_eq!(lease.describe(true, "").driver, Driver::Human);
            assert!(lease.admit("bot").is_err());
        }
    }

    #[test]
    fn a_link_holder_cannot_force_control_from_a_person() {
        let mut lease = Lease::default();
        let now = Instant::now();
        lease.take(holder("ann"), false, now, AT).unwrap();
        assert_eq!(lease.take(one(ActorKind::Link, "l"), true, now, AT), Err(holder("ann")));
        lease.release("ann", None, AT);
        lease.take(one(ActorKind::Link, "l"), false, now, AT).unwrap();
        assert!(lease.take(one(ActorKind::Link, "m"), true, now, AT).is_err());
        assert!(lease.take(holder("ann"), false, now, AT).is_err());
        assert_eq!(lease.take(holder("ann"), true, now, AT), Ok(true));
    }

    #[test]
    fn agents_drive_until_a_person_takes_control_and_again_after() {
        let mut lease = Lease::default();
        assert_eq!(lease.admit("agent"), Ok(0));
        assert!(!lease.drives("agent"), "manual input needs the lease");
        assert_eq!(lease.take(holder("ann"), false, Instant::now(), AT), Ok(true));
        assert_eq!(lease.admit("agent"), Err(holder("ann")));
        assert_eq!(lease.admit("ann"), Ok(1));
        assert!(!lease.release("agent", None, AT), "only the holder can release");
        assert!(lease.release("ann", Some("logged in".into()), AT));
        assert_eq!(lease.admit("agent"), Ok(2));
        let seen = lease.describe(true, "agent");
        assert_eq!(seen.message.as_deref(), Some("logged in"));
        assert_eq!(seen.message_by.as_deref(), Some("ann"), "the message comes from the person");
    }

    #[test]
    fn a_second_person_needs_force_and_taking_twice_changes_nothing() {
        let mut lease = Lease::default();
        assert_eq!(lease.take(holder("ann"), false, Instant::now(), AT), Ok(true));
        assert_eq!(lease.take(holder("ann"), false, Instant::now(), AT), Ok(false));
        assert_eq!(lease.take(holder("bob"), false, Instant::now(), AT), Err(holder("ann")));
        assert_eq!(lease.epoch(), 1);
        assert_eq!(lease.take(holder("bob"), true, Instant::now(), AT), Ok(true));
        assert!(lease.drives("bob") && !lease.drives("ann"));
    }

    #[test]
    fn a_holder_whose_viewers_are_gone_keeps_the_lease_for_the_grace_only() {
        let mut lease = Lease::default();
        let start = Instant::now();
        lease.take(holder("ann"), false, start, AT).unwrap();
        lease.watched_by("ann", 1, start);
        assert_eq!(lease.expires(), None);
        lease.watched_by("ann", 0, start);
        lease.watched_by("bob", 0, start);
        assert!(!lease.expire(start + GRACE - Duration::from_millis(1), AT));
        lease.watched_by("ann", 1, start + GRACE / 2);
        assert!(!lease.expire(start + 2 * GRACE, AT), "back in time");
        lease.watched_by("ann", 0, start);
        assert!(lease.expire(start + GRACE, AT));
        assert_eq!(lease.admit("agent"), Ok(2));
    }

    #[test]
    fn a_holder_without_a_viewer_keeps_the_lease_while_it_uses_it() {
        let mut lease = Lease::default();
        let start = Instant::now();
        lease.take(holder("ann"), false, start, AT).unwrap();
        lease.used_by("bob", start + UNWATCHED / 2);
        assert_eq!(lease.expires(), Some(start + UNWATCHED));
        lease.used_by("ann", start + UNWATCHED / 2);
        assert!(!lease.expire(start + UNWATCHED, AT));
        lease.take(holder("ann"), false, start + UNWATCHED, AT).unwrap();
        assert!(lease.expire(start + 2 * UNWATCHED, AT));
    }

    #[test]
    fn an_ended_session_has_no_driver() {
        let mut lease = Lease::default();
        assert_eq!(lease.describe(false, "").driver, Driver::Nobody);
        assert_eq!(lease.describe(true, "").driver, Driver::Agent);
        lease.take(holder("ann"), false, Instant::now(), AT).unwrap();
        let seen = lease.describe(true, "ann");
        assert_eq!((seen.driver, seen.yours), (Driver::Human, true));
        assert!(!lease.describe(true, "bob").yours);
    }
}
