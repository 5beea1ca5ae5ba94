//! A2A.

use crate::{
    a2a,
    operation::{
        Access::{AnyToken, Open},
        Operation, get, post,
    },
};

use super::live::AnyObject;

/// The agent card, and the endpoint that it names.
pub fn operations() -> Vec<Operation> {
    vec![
        get("/.well-known/agent-card.json", Open, "agent_card", a2a::card)
            .doc("The A2A agent card: the packs as skills, with their schemas.")
            .returns::<AnyObject>(),
        get("/.well-known/agent.json", Open, "agent_card_old", a2a::card)
            .doc("The agent card, at its old path.")
            .undocumented(),
        post(a2a::PATH, AnyToken, "a2a", a2a::serve)
            .doc(
                "The A2A protocol over JSON-RPC, in the versions 1.0 and 0.3: send a message to run a \
                 pack, get its task, cancel it. See docs/packs-guide.md.",
            )
            .takes::<AnyObject>()
            .returns::<AnyObject>(),
    ]
}
