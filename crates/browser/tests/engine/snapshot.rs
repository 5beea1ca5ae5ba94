//! Pages as models read them: snapshots and Markdown.

mod bounds;
mod delta;
mod desk;
mod frames;
mod hostile;
mod lines;
mod markdown;
mod names;
mod refs;
