//! Which elements are visible on a screen, what changed, and which one a caller means.
//!
//! Pure: the guest gathers windows and elements into a [`Scene`]; everything here can be tested
//! without a screen.

pub mod expect;
pub mod matching;
pub mod rect;
pub mod refs;
pub mod role;
mod scene;
pub mod tree;

pub use scene::{Element, Scene, Surface};
