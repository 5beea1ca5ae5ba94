//! What a pack is.

use std::{future::Future, pin::Pin};

use helmdeck_wire::{ErrorCode, nature::Nature, parse::parse, session::Mode};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{Context, Endpoints, PackError, PackResult, toolset};

/// A typed tool that runs as a job.
pub struct Pack {
    /// Name, such as `repo.fetch`.
    pub name: String,
    /// Version, from 1.
    pub version: u32,
    /// What it does, for people and models.
    pub doc: String,
    /// Properties of a call.
    pub nature: Nature,
    /// What it needs.
    pub needs: Needs,
    /// Whether calls return a handle at once.
    pub returns_handle: bool,
    /// Whether it may run again from the beginning after the server was killed.
    pub resumable: bool,
    /// How long it may run, in seconds.
    pub timeout_s: u32,
    /// What agents choose it by.
    pub routing: Routing,
    /// Types of its input.
    pub input: Input,
    /// Schema of its output.
    pub output: fn(&mut SchemaGenerator) -> Schema,
    /// Schema of the input of an operator's pack, which its manifest declares.
    pub declared_input: Option<Value>,
    /// Why it cannot run, if its manifest is wrong.
    pub broken: Option<String>,
    /// Which of its calls may be answered with an earlier result, if the caller accepts one.
    cacheable: Option<fn(&Value) -> bool>,
    /// When a service does its work, so that it needs no session.
    sessionless: Option<fn(&Endpoints) -> bool>,
    run: Run,
}

/// What a pack needs to run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Needs {
    /// A session.
    pub session: SessionNeed,
    /// Programs in the session.
    pub programs: &'static [&'static str],
    /// Programs that only part of its work needs.
    pub optional_programs: &'static [&'static str],
    /// A credential of the vault.
    pub credential: Option<&'static str>,
}

/// Which session a pack works in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SessionNeed {
    /// None.
    #[default]
    None,
    /// The named one, or a new one that ends with the job.
    OneShot(Mode),
    /// The named one, or a new one that stays for the next call.
    Keeps(Mode),
    /// The named one: it works on what an earlier call left there.
    Existing,
}

/// What agents choose a pack by.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Routing {
    /// Kinds of things that it takes.
    pub accepts: &'static [&'static str],
    /// Kinds of things that it makes.
    pub produces: &'static [&'static str],
    /// Words in requests that it is for.
    pub intent_keywords: &'static [&'static str],
    /// When it is used.
    pub typical_use: &'static str,
    /// What it cannot do.
    pub limitations: &'static [&'static str],
}

/// The type of a pack's input.
#[derive(Clone, Copy)]
pub struct Input {
    /// A reference to it.
    pub reference: fn(&mut SchemaGenerator) -> Schema,
    /// The schema without its definitions.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// Name of the schema.
    pub name: fn() -> String,
}

type Answer = Pin<Box<dyn Future<Output = PackResult<Value>> + Send>>;
type Run = Box<dyn Fn(Context, Value) -> Answer + Send + Sync>;

/// Default time limit of a pack.
const TIMEOUT_S: u32 = 600;

impl Pack {
    /// A pack without needs. Everything that depends on its types is in this function.
    pub fn new<I, O, F, R>(name: &str, run: F) -> Self
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + 'static,
        F: Fn(Context, I) -> R + Send + Sync + 'static,
        R: Future<Output = PackResult<O>> + Send + 'static,
    {
        let run = move |context, input: Value| -> Answer {
            match parse::<I>(input) {
                Ok(input) => {
                    let work = run(context, input);
                    Box::pin(async move {
                        let output = work.await?;
                        serde_json::to_value(output).map_err(|error| {
                            PackError::new(ErrorCode::InvalidOutput, error.to_string())
                        })
                    })
                }
                Err(invalid) => {
                    let refused = PackError::new(ErrorCode::InvalidInput, invalid.reason);
                    Box::pin(std::future::ready(Err(refused)))
                }
            }
        };
        Self {
            name: name.to_owned(),
            version: 1,
            doc: String::new(),
            nature: Nature::default(),
            needs: Needs::default(),
            returns_handle: false,
            resumable: false,
            timeout_s: TIMEOUT_S,
            routing: Routing::default(),
            input: Input {
                reference: |generator| generator.subschema_for::<I>(),
                schema: I::json_schema,
                name: || I::schema_name().into_owned(),
            },
            output: |generator| generator.subschema_for::<O>(),
            declared_input: None,
            broken: None,
            cacheable: None,
            sessionless: None,
            run: Box::new(run),
        }
    }

    /// Why it cannot run on this machine.
    pub fn unavailable(&self) -> Option<String> {
        self.broken.clone().or_else(|| toolset::unavailable(self.needs.programs))
    }

    /// What it lacks on this machine, for part of its work.
    pub fn limited(&self) -> Option<String> {
        toolset::unavailable(self.needs.optional_programs)
    }

    /// Whether callers may accept an earlier result, at least for some calls.
    pub fn is_cacheable(&self) -> bool {
        self.cacheable.is_some()
    }

    /// Whether a call may be answered with an earlier result.
    pub(crate) fn may_reuse(&self, input: &Value) -> bool {
        self.cacheable.is_some_and(|may| may(input))
    }

    /// Whether it works without a session on this server.
    pub(crate) fn is_sessionless(&self, endpoints: &Endpoints) -> bool {
        self.needs.session == SessionNeed::None
            || self.sessionless.is_some_and(|without| without(endpoints))
    }

    /// Runs it.
    pub(crate) fn run(&self, context: Context, input: Value) -> Answer {
        (self.run)(context, input)
    }

    /// Says what it does.
    pub fn doc(self, doc: &str) -> Self {
        Self { doc: doc.to_owned(), ..self }
    }

    /// Sets the properties of a call.
    pub fn nature(self, nature: Nature) -> Self {
        Self { nature, ..self }
    }

    /// Sets which session it works in.
    pub fn session(self, session: SessionNeed) -> Self {
        Self { needs: Needs { session, ..self.needs }, ..self }
    }

    /// Declares that it needs no session if `without` holds: a service does its work.
    pub fn sessionless_if(self, without: fn(&Endpoints) -> bool) -> Self {
        Self { sessionless: Some(without), ..self }
    }

    /// Lets callers accept an earlier result of the same call, with `max_age_s`. For packs that only
    /// read what is outside.
    pub fn cacheable(self) -> Self {
        self.cacheable_if(|_| true)
    }

    /// The same, for those calls whose input fulfils `may`.
    pub fn cacheable_if(self, may: fn(&Value) -> bool) -> Self {
        Self { cacheable: Some(may), ..self }
    }

    /// Sets the programs that it needs in the session.
    pub fn programs(self, programs: &'static [&'static str]) -> Self {
        Self { needs: Needs { programs, ..self.needs }, ..self }
    }

    /// Sets the programs that only part of its work needs.
    pub fn optional_programs(self, optional_programs: &'static [&'static str]) -> Self {
        Self { needs: Needs { optional_programs, ..self.needs }, ..self }
    }

    /// Sets the credential that it needs.
    pub fn credential(self, name: &'static str) -> Self {
        Self { needs: Needs { credential: Some(name), ..self.needs }, ..self }
    }

    /// Declares that running it twice has the same effect as once.
    pub fn resumable(self) -> Self {
        Self { resumable: true, ..self }
    }

    /// Makes calls return a handle at once.
    pub fn returns_handle(self) -> Self {
        Self { returns_handle: true, ..self }
    }

    /// Sets its time limit.
    pub fn timeout_s(self, timeout_s: u32) -> Self {
        Self { timeout_s, ..self }
    }

    /// Sets what agents choose it by.
    pub fn routing(self, routing: Routing) -> Self {
        Self { routing, ..self }
    }
}

impl std::fmt::Debug for Pack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pack").field("name", &self.name).finish_non_exhaustive()
    }
}
