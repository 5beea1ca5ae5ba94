//! The manifest of an operator's pack: `NAME.helmdeck-pack.yaml` beside the program.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Longest time limit, in seconds.
const MAX_TIMEOUT_S: u32 = 3600;
/// Default time limit, in seconds.
const TIMEOUT_S: u32 = 60;
/// Largest output, in bytes.
const MAX_OUTPUT_BYTES: u32 = 16 << 20;
/// Variables that belong to the server.
const OURS: &str = "HELMDECK_";

/// A manifest.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// For people; the file's name counts.
    #[serde(default)]
    #[expect(dead_code, reason = "accepted, because manifests have it")]
    name: Option<String>,
    /// Who wrote it.
    #[serde(default)]
    #[expect(dead_code, reason = "accepted, because manifests have it")]
    author: Option<String>,
    /// `v1`, `v2` and so on.
    #[serde(default)]
    version: Option<String>,
    /// What it does.
    #[serde(default)]
    pub description: Option<String>,
    #[serde(default)]
    input_schema: Option<Fields>,
    #[serde(default)]
    output_schema: Option<Fields>,
    /// Time limit; the default is 60 s.
    #[serde(default)]
    timeout_s: u32,
    /// Limit of its output; the default is 16 MiB.
    #[serde(default)]
    max_output_bytes: u32,
    /// Whether calls return a handle at once.
    #[serde(default, rename = "async")]
    returns_handle: bool,
    /// `NAME=value`, or `NAME` for the value that the server has.
    #[serde(default)]
    env: Vec<String>,
}

/// The fields of an object.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    #[serde(default)]
    required: Vec<String>,
    #[serde(default)]
    properties: BTreeMap<String, Field>,
}

/// A field: its type, or its type and description.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Field {
    Type(FieldType),
    Described {
        #[serde(rename = "type")]
        kind: FieldType,
        #[serde(default)]
        description: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum FieldType {
    String,
    Number,
    Integer,
    Boolean,
    Object,
    Array,
}

/// What a manifest declares.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    /// Version, from 1.
    pub version: u32,
    /// What it does.
    pub description: Option<String>,
    /// Schema of the input.
    pub input: Value,
    /// Schema of the output, if it has one.
    pub output: Option<Value>,
    /// Time limit.
    pub timeout_s: u32,
    /// Limit of its output.
    pub max_output_bytes: u32,
    /// Whether calls return a handle at once.
    pub returns_handle: bool,
    /// Its variables, besides those of the session.
    pub env: BTreeMap<String, String>,
    /// Those variables whose value is the server's.
    pub from_server: BTreeSet<String>,
}

impl Default for Declared {
    fn default() -> Self {
        Self {
            version: 1,
            description: None,
            input: json!({ "type": "object", "additionalProperties": true }),
            output: None,
            timeout_s: TIMEOUT_S,
            max_output_bytes: MAX_OUTPUT_BYTES,
            returns_handle: false,
            env: BTreeMap::new(),
            from_server: BTreeSet::new(),
        }
    }
}

impl Declared {
    /// Reads a manifest. The error says what is wrong with it. `environment` is the server's.
    pub fn parse(text: &str, environment: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let manifest: Manifest = yaml_serde::from_str(text).map_err(|error| error.to_string())?;
        let version = match manifest.version.as_deref() {
            None => 1,
            Some(version) => version
                .strip_prefix('v')
                .and_then(|number| number.parse().ok())
                .filter(|number| *number >= 1)
                .ok_or_else(|| format!("version: {version:?} is not v1, v2 and so on"))?,
        };
        let limit = |name: &str, value: u32, default: u32, most: u32| match value {
            0 => Ok(default),
            value if value <= most => Ok(value),
            value => Err(format!("{name}: {value} is more than {most}")),
        };
        let timeout_s = limit("timeout_s", manifest.timeout_s, TIMEOUT_S, MAX_TIMEOUT_S)?;
        let most = MAX_OUTPUT_BYTES;
        let max_output_bytes = limit("max_output_bytes", manifest.max_output_bytes, most, most)?;
        let input = manifest.input_schema.as_ref().map(|it| it.schema("input_schema", false));
        let output = manifest.output_schema.as_ref().map(|it| it.schema("output_schema", true));
        Ok(Self {
            version,
            description: manifest.description.filter(|text| !text.trim().is_empty()),
            input: input.transpose()?.unwrap_or(Self::default().input),
            output: output.transpose()?,
            timeout_s,
            max_output_bytes,
            returns_handle: manifest.returns_handle,
            env: variables(&manifest.env, environment)?,
            from_server: manifest.env.into_iter().filter(|entry| !entry.contains('=')).collect(),
        })
    }
}

impl Fields {
    fn schema(&self, place: &str, others: bool) -> Result<Value, String> {
        if let Some(name) = self.required.iter().find(|name| !self.properties.contains_key(*name)) {
            return Err(format!("{place}: {name:?} is required and not among the properties"));
        }
        let property = |(name, field): (&String, &Field)| {
            let (kind, description) = match field {
                Field::Type(kind) => (*kind, ""),
                Field::Described { kind, description } => (*kind, description.as_str()),
            };
            let mut schema = kind.schema();
            if let (Value::Object(schema), false) = (&mut schema, description.is_empty()) {
                schema.insert("description".to_owned(), description.into());
            }
            (name.clone(), schema)
        };
        let properties: Map<_, _> = self.properties.iter().map(property).collect();
        Ok(json!({
            "type": "object",
            "properties": properties,
            "required": self.required,
            "additionalProperties": others,
        }))
    }
}

impl FieldType {
    fn schema(self) -> Value {
        match self {
            Self::String => json!({ "type": "string" }),
            Self::Number => json!({ "type": "number" }),
            Self::Integer => json!({ "type": "integer" }),
            Self::Boolean => json!({ "type": "boolean" }),
            Self::Object => json!({ "type": "object", "additionalProperties": true }),
            // Some clients refuse arrays that do not say what is in them.
            Self::Array => json!({ "type": "array", "items": {} }),
        }
    }
}

/// The variables of a pack. It never gets one that is not listed, or that belongs to the server.
fn variables(
    listed: &[String],
    environment: impl Fn(&str) -> Option<String>,
) -> Result<BTreeMap<String, String>, String> {
    let mut variables = BTreeMap::new();
    for entry in listed {
        let (name, value) = match entry.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (entry.as_str(), None),
        };
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name {
            return Err(format!("env: {name:?} is not the name of a variable"));
        }
        if name.starts_with(OURS) {
            return Err(format!("env: {name} is a setting of the server, which packs do not get"));
        }
        let value = value.or_else(|| environment(name));
        let value = value.ok_or_else(|| format!("env: the server has no variable {name}"))?;
        variables.insert(name.to_owned(), value);
    }
    Ok(variables)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Declared, String> {
        Declared::parse(text, |name| (name == "REGION").then(|| "eu".to_owned()))
    }

    #[test]
    fn a_manifest_declares_schemas_limits_and_variables() {
        let declared = parse(
            "name: x\nversion: v2\ndescription: Counts words.\ninput_schema:\n  required: [text]\n  \
             properties:\n    text: string\n    tags: {type: array, description: Labels.}\n\
             output_schema: {properties: {count: integer}}\ntimeout_s: 5\nenv: [A=1, REGION]\n",
        )
        .unwrap();
        assert_eq!((declared.version, declared.timeout_s), (2, 5));
        assert_eq!(declared.input["required"], json!(["text"]));
        let tags = &declared.input["properties"]["tags"];
        assert_eq!((&tags["items"], &tags["description"]), (&json!({}), &json!("Labels.")));
        assert_eq!(declared.output.unwrap()["properties"]["count"]["type"], "integer");
        assert_eq!((&*declared.env["A"], &*declared.env["REGION"]), ("1", "eu"));
        assert_eq!(declared.from_server.iter().collect::<Vec<_>>(), ["REGION"]);
        assert_eq!(parse("description: x").unwrap().input["additionalProperties"], true);
    }

    #[test]
    fn a_wrong_manifest_says_what_is_wrong() {
        for (text, reason) in [
            ("version: 1.0", "version"),
            ("version: v0", "version"),
            ("timeout: 3", "timeout"),
            ("timeout_s: 100000", "more than 3600"),
            ("timeout_s: -1", "timeout_s"),
            ("input_schema: {required: [a]}", "\"a\" is required"),
            ("input_schema: {properties: {a: text}}", "a"),
            ("env: [HELMDECK_JWT_SECRET]", "setting of the server"),
            ("env: [NO_SUCH]", "has no variable"),
            ("env: [\"a b=1\"]", "not the name"),
            ("description: [", "line"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
