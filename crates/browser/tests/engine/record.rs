//! What pages say and ask for, recorded while they do.

mod console;
mod network;
