//! Translations between wire families, both ways, from one conversation in every family.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may")]

mod ignored;
mod replies;
mod requests;
mod streams;
