//! Files, profiles and extensions.

use axum::{
    body::Body,
    extract::{Query, State},
    response::{IntoResponse, Response},
};
use helmdeck_link::route;
use helmdeck_task::block_in_place;
use helmdeck_wire::{
    byte_range::Part,
    file::{FileList, FileStored},
    guest::{OneExtension, OneFile, SaveProfile},
};
use http::{HeaderName, header::CONTENT_LENGTH};

use crate::{begin::Guest, error::GuestError, extension, files, json::Json, profile};

pub async fn folder(
    State(guest): State<Guest>,
    Query(folder): Query<OneFile>,
) -> Result<Json<FileList>, GuestError> {
    guest.ensure_own()?;
    Ok(Json(block_in_place(|| files::list(&folder.path))?))
}

pub async fn read_file(
    State(guest): State<Guest>,
    Query(file): Query<OneFile>,
) -> Result<Response, GuestError> {
    guest.ensure_own()?;
    guest.activity.touch();
    let range = file.range;
    let (mut file, size) = block_in_place(|| files::read(&file.path))?;
    let Some(range) = range else {
        let body = Body::from_stream(files::pieces(file, size));
        return Ok(([(CONTENT_LENGTH, size)], body).into_response());
    };
    let Part { first, length } = range.of(size).unwrap_or(Part { first: size, length: 0 });
    block_in_place(|| files::skip(&mut file, first))?;
    let facts = [(route::FILE_FIRST, first), (route::FILE_SIZE, size)];
    let facts = facts.map(|(name, value)| (HeaderName::from_static(name), value));
    let body = Body::from_stream(files::pieces(file, length));
    Ok((facts, [(CONTENT_LENGTH, length)], body).into_response())
}

pub async fn write_file(
    State(guest): State<Guest>,
    Query(file): Query<OneFile>,
    body: Body,
) -> Result<Json<FileStored>, GuestError> {
    guest.ensure_own()?;
    guest.activity.touch();
    let stored = files::store(file, body.into_data_stream()).await;
    guest.activity.touch();
    Ok(Json(stored?))
}

/// Only before the browser starts: later it would overwrite open files.
pub async fn load_profile(State(guest): State<Guest>, body: Body) -> Result<(), GuestError> {
    guest.ensure_empty()?;
    *guest.cookies.lock() = profile::load(body.into_data_stream()).await?;
    Ok(())
}

/// Only before the browser starts: later it could see a partial extension.
pub async fn load_extension(
    State(guest): State<Guest>,
    Query(extension): Query<OneExtension>,
    body: Body,
) -> Result<(), GuestError> {
    guest.ensure_empty()?;
    extension::unpack(&extension.name, body.into_data_stream()).await
}

pub async fn save_profile(
    State(guest): State<Guest>,
    Query(wanted): Query<SaveProfile>,
) -> Result<Body, GuestError> {
    let current = guest.session()?.cdp;
    Ok(Body::from_stream(profile::save(&current, &guest.stay_closed, wanted.last).await?))
}
