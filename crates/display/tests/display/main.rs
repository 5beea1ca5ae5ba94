//! The display against real X servers and real programs.

mod clipboard;
mod desktop;
mod keyboard;
mod pointer;
mod resilience;
mod screen;
mod typing;
mod witness;
mod world;
