//! What sessions reach outside: forwarded ports, and the network.

use helmdeck_sessions::Scope::SessionsRead;
use helmdeck_wire::{
    egress::{EgressTested, TestEgress},
    forward::{Forward, ForwardList, NewForward},
};
use http::StatusCode;

use crate::{
    operation::{Access::Needs, Operation, delete, get, post},
    routes::{desktop, egress, forwards},
};

/// Forwarded ports, and the network.
pub fn the_network() -> Vec<Operation> {
    vec![
        get(
            "/api/v1/sessions/{id}/forwards",
            Needs(SessionsRead),
            "list_forwards",
            forwards::list_forwards,
        )
        .doc("The ports outside that the session opens as its own.")
        .returns::<ForwardList>(),
        post(
            "/api/v1/sessions/{id}/forwards",
            desktop::ACT,
            "add_forward",
            forwards::add_forward,
        )
        .doc(
            "Forward a port of the server's machine: with `localhost:5173`, the session's browser \
             and programs reach a development server at `http://localhost:5173`. Needs the admin, \
             or a port of HELMDECK_FORWARD_ALLOW.",
        )
        .takes::<NewForward>()
        .returns::<Forward>()
        .status(StatusCode::CREATED),
        delete(
            "/api/v1/sessions/{id}/forwards/{port}",
            desktop::ACT,
            "remove_forward",
            forwards::remove_forward,
        )
        .doc("Close a forwarded port, by its number inside the session, and its connections.")
        .status(StatusCode::NO_CONTENT),
        get(
            "/api/v1/sessions/{id}/forwards/{port}/client",
            desktop::ACT,
            "forward_from_client",
            forwards::from_client,
        )
        .doc(
            "Forward a port of the client's machine, for as long as this WebSocket is open: what \
             `helmdeck forward` connects to. By bearer token only.",
        )
        .query::<forwards::ClientQuery>()
        .upgrades(),
        get(
            "/api/v1/sessions/{id}/forwards/{port}/client/{connection}",
            desktop::ACT,
            "bring_forwarded",
            forwards::bring,
        )
        .doc("One connection of a forwarded port of the client's machine, as it was announced.")
        .upgrades(),
        post("/api/v1/egress/test", desktop::ACT, "test_egress", egress::test_egress)
            .doc(
                "What a session's connection to an address would meet, address by address. Nothing \
                 is connected.",
            )
            .takes::<TestEgress>()
            .returns::<EgressTested>(),
    ]
}
