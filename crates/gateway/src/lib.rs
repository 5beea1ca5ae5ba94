//! Models of many providers behind one door.
//!
//! A [`Family`] is how a provider or a client speaks; there are four. A request that arrives in the
//! family of its provider passes through; only the model's name and the key change. Others are
//! translated by pure functions, by way of [`conversation`]. What has no equivalent is refused if it
//! would change the answer, and reported as ignored if not.
//!
//! [`Gateway`] makes the calls. It finds keys in the vault, refuses what a budget does not allow, tries
//! again only what is safe, and records every call without its content.

mod attempt;
pub mod body;
mod budget;
mod calls;
mod catalogue;
pub mod chat;
pub mod conversation;
mod error;
mod estimate;
mod fallback;
pub mod family;
mod gateway;
pub mod gemini;
mod invalid;
pub mod json;
mod known_fields;
pub mod messages;
mod meter;
mod model_id;
mod models;
mod other_calls;
mod pinned;
pub mod provider;
pub mod responses;
pub mod settings;
pub mod sse;
mod streaming;
mod upstream;

pub use body::Body;
pub use budget::{Run, WINDOW};
pub use catalogue::no_models;
pub use error::{GatewayError, Trigger, add_key};
pub use family::Family;
pub use gateway::{Answer, AnswerBody, Gateway, ModelRequest, Now, SHOULD_RETRY};
pub use invalid::{Invalid, Malformed};
pub use model_id::{MODEL_ID_EXPECTED, MODEL_ID_PATTERN, ModelId};
pub use models::{Facts, Models, dollars, nanos};
pub use pinned::PinnedModel;
pub use provider::Provider;
pub use settings::{Deadlines, Fallback, Rule, Settings};
