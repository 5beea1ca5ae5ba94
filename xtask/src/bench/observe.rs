//! Observing: settling against fixed sleeps, the tokens of pictures, and what it costs.

mod cost;
mod idle;
mod interactions;
mod pages;
mod picture;
mod settle;
mod shown;
mod tokens;
mod vendors;

use helmdeck_testkit::{Server, Site};

use super::table::bar;

/// Measures and prints the tables, or only those of one part. The server must allow 127.0.0.1.
pub async fn run(server: &Server, part: Option<&str>) {
    let site = Site::start(pages::page).await;
    let wanted = |name| part.is_none_or(|part| part == name);
    if wanted("settle") {
        settle::run(server, &site).await;
    }
    if wanted("tokens") {
        tokens::run(server, &site).await;
    }
    if wanted("cost") {
        cost::run(server, &site).await;
    }
}
