//! All packs, one file each.

use crate::Pack;

include!(concat!(env!("OUT_DIR"), "/packs.rs"));
