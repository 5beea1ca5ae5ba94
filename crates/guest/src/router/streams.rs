//! Connections that leave HTTP: the network of programs, pictures, and the browser's protocol.

use axum::{
    extract::{Query, Request, State},
    response::{IntoResponse, Response},
};
use helmdeck_link::route;
use helmdeck_wire::{
    cast::CastView,
    guest::{OneClient, PictureRequest},
    ticket::Role,
};
use http::{
    StatusCode,
    header::{CONNECTION, UPGRADE},
};
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional_with_sizes;

use crate::{begin::Guest, cast, debugging, error::GuestError, thumbnails};

/// The buffer for network connections of programs; a smaller one costs throughput.
const RELAY: usize = 64 << 10;

/// The role of a viewer.
#[derive(serde::Deserialize)]
pub struct View {
    role: Role,
}

/// Answers when a program opens an outgoing connection, and then carries that connection.
pub async fn tunnel(
    State(guest): State<Guest>,
    mut request: Request,
) -> Result<Response, GuestError> {
    let upgrade = hyper::upgrade::on(&mut request);
    let client = guest.egress.next_client().await.ok_or(GuestError::NotBegun)?;
    let forwarded_port = client.forwarded_port;
    helmdeck_task::spawn(async move {
        if let Ok(upgraded) = upgrade.await {
            client.relay(TokioIo::new(upgraded)).await;
        }
    });
    let mut response = switch_to(route::TUNNEL_PROTOCOL);
    if let Some(port) = forwarded_port {
        response.headers_mut().insert(route::FORWARDED_PORT, port.into());
    }
    Ok(response)
}

/// An RFB stream of the X server, for the role in the query.
pub async fn view(
    State(guest): State<Guest>,
    Query(view): Query<View>,
    mut request: Request,
) -> Result<Response, GuestError> {
    let upgrade = hyper::upgrade::on(&mut request);
    let mut picture = guest.passwords()?.open(view.role).await?;
    helmdeck_task::spawn(async move {
        if let Ok(upgraded) = upgrade.await {
            let mut server = TokioIo::new(upgraded);
            let _ = copy_bidirectional_with_sizes(&mut picture, &mut server, RELAY, RELAY).await;
        }
    });
    Ok(switch_to(route::RFB_PROTOCOL))
}

/// A stream of thumbnails, sent when the session changes.
pub async fn frames(
    State(guest): State<Guest>,
    Query(wanted): Query<PictureRequest>,
    mut request: Request,
) -> Result<Response, GuestError> {
    let upgrade = hyper::upgrade::on(&mut request);
    let pictures = guest.pictures(wanted).await?;
    helmdeck_task::spawn(async move {
        if let Ok(upgraded) = upgrade.await {
            thumbnails::send(pictures, TokioIo::new(upgraded)).await;
        }
    });
    Ok(switch_to(route::FRAMES_PROTOCOL))
}

/// The browser's debugging protocol for one client.
pub async fn cdp(
    State(guest): State<Guest>,
    Query(whose): Query<OneClient>,
    mut request: Request,
) -> Result<Response, GuestError> {
    let upgrade = hyper::upgrade::on(&mut request);
    let current = guest.cdp()?;
    let (browser, client) = debugging::open(&current, &whose).await?;
    let structured = guest.browser()?;
    let files = structured.download_files().filter(|_| current.is_own(&browser));
    helmdeck_task::spawn(async move {
        if let Ok(upgraded) = upgrade.await {
            debugging::serve(&client, files, TokioIo::new(upgraded)).await;
        }
        drop(client);
        // The program that started a browser chose its download folder.
        if current.is_own(&browser) {
            structured.restore_downloads(&browser, debugging::OPEN_DEADLINE).await;
        }
    });
    Ok(switch_to(route::CDP_PROTOCOL))
}

/// A cast of the browser's page for one viewer.
pub async fn show(
    State(guest): State<Guest>,
    Query(view): Query<CastView>,
    Query(whose): Query<OneClient>,
    mut request: Request,
) -> Result<Response, GuestError> {
    let upgrade = hyper::upgrade::on(&mut request);
    let browser = guest.browser()?;
    helmdeck_task::spawn(async move {
        if let Ok(upgraded) = upgrade.await {
            cast::serve(&browser, &whose.key, view, TokioIo::new(upgraded)).await;
        }
    });
    Ok(switch_to(route::CAST_PROTOCOL))
}

fn switch_to(protocol: &'static str) -> Response {
    let headers = [(CONNECTION, "upgrade"), (UPGRADE, protocol)];
    (StatusCode::SWITCHING_PROTOCOLS, headers).into_response()
}
