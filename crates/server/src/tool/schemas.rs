//! The schemas of a tool.

use std::{
    ops::Deref,
    sync::{Arc, OnceLock},
};

use helmdeck_schema::Schema;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{Tool, pack};
use crate::{
    error::{ApiError, ApiResult},
    openapi::{standalone, without_notes},
    operation::Output,
};

/// Generated when they are first used, and kept. A pack that changes becomes a new tool.
#[derive(Default)]
pub(super) struct Schemas {
    enforced: OnceLock<Schema>,
    documented: OnceLock<SharedSchema>,
    output: OnceLock<Option<SharedSchema>>,
}

/// A schema that listings share.
#[derive(Debug, Clone)]
pub struct SharedSchema(Arc<Value>);

impl Deref for SharedSchema {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

impl Serialize for SharedSchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl Tool {
    /// The enforced schema of all arguments.
    pub fn schema(&self) -> ApiResult<&Schema> {
        if let Some(schema) = self.schemas.enforced.get() {
            return Ok(schema);
        }
        let schema = Schema::new(self.whole_schema()).map_err(ApiError::internal)?;
        Ok(self.schemas.enforced.get_or_init(|| schema))
    }

    fn whole_schema(&self) -> Value {
        let mut root = (self.root_schema)();
        let Some(object) = root.as_object_mut() else { return root };
        // Only the packs of operators may take any field.
        object.entry("additionalProperties").or_insert(json!(false));
        let fields = object.entry("properties").or_insert(json!({}));
        if let Value::Object(fields) = fields {
            if self.of_session {
                let description = "Id of the session, as returned when it was created.";
                let id = json!({
                    "type": "string", "minLength": 1, "maxLength": 200,
                    "description": description, "x-missing": "missing_session_id",
                });
                fields.insert("session_id".to_owned(), id);
            }
            for flag in &self.flags {
                fields.insert(flag.name.to_owned(), flag.schema());
            }
        }
        let required = object.entry("required").or_insert(json!([]));
        // Last, so that clients fix their own fields first.
        if let Value::Array(required) = required
            && self.of_session
        {
            required.push(json!("session_id"));
        }
        root
    }

    /// The schema of all arguments as clients see it.
    pub fn documented_schema(&self) -> ApiResult<SharedSchema> {
        let enforced = self.schema()?;
        let schema = self.schemas.documented.get_or_init(|| {
            let mut schema = enforced.value().clone();
            without_notes(&mut schema);
            SharedSchema(Arc::new(schema))
        });
        Ok(schema.clone())
    }

    /// The schema of the reply, if it is JSON.
    pub fn output_schema(&self) -> Option<SharedSchema> {
        let schema = self.schemas.output.get_or_init(|| match self.output {
            Output::Json(schema) => Some(SharedSchema(Arc::new(standalone(schema)))),
            Output::Job(schema) => Some(SharedSchema(Arc::new(pack::reply_schema(schema)))),
            Output::Text(_) | Output::Bytes(_) | Output::Nothing => None,
        });
        schema.clone()
    }
}

#[cfg(test)]
mod tests {
    use crate::table::tools;

    #[test]
    fn a_schema_is_generated_once_and_shared() {
        for tool in tools() {
            let documented = [tool.documented_schema().unwrap(), tool.documented_schema().unwrap()];
            assert!(std::ptr::eq(&*documented[0], &*documented[1]), "{}", tool.name);
            if let (Some(one), Some(other)) = (tool.output_schema(), tool.output_schema()) {
                assert!(std::ptr::eq(&*one, &*other), "{}", tool.name);
            }
        }
    }
}
