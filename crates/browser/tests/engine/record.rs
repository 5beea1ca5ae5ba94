//! Recorded console messages and requests.

mod console;
mod network;
