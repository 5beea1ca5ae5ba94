//! The model of vision that an admin pinned while the server runs.

use std::sync::Arc;

use parking_lot::RwLock;

use crate::model_id::ModelId;

/// A model that is pinned, or none. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct PinnedModel {
    model: Arc<RwLock<Option<ModelId>>>,
}

impl PinnedModel {
    /// The model.
    pub fn get(&self) -> Option<ModelId> {
        self.model.read().clone()
    }

    /// Pins a model, or none.
    pub fn set(&self, model: Option<ModelId>) {
        *self.model.write() = model;
    }
}
