//! What a pack is.

use std::{future::Future, pin::Pin};

use helmdeck_wire::{
    ErrorCode,
    nature::{Nature, Style},
    parse::{Invalid, parse},
    session::Mode,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

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
    /// Calls that show how it is used.
    pub examples: Vec<Example>,
    /// Types of its input.
    pub input: Input,
    /// Schema of its output.
    pub output: fn(&mut SchemaGenerator) -> Schema,
    /// Schema of the input of an operator's pack, which its manifest declares.
    pub declared_input: Option<Value>,
    /// Why it cannot run, if the operator disabled it or its manifest is wrong.
    pub off: Option<String>,
    /// What the operator disables it by.
    pub switch: Option<Switch>,
    /// Whether it works by names or by pictures unless a call has `_mode`. Nothing if it has one way.
    pub mode: Option<Style>,
    /// Which of its calls may be answered with an earlier result, if the caller accepts one.
    cacheable: Option<fn(&Value) -> bool>,
    /// Which calls a service does the work of, so that they need no session.
    sessionless: Option<fn(&Endpoints, &Value) -> bool>,
    parses: fn(Value) -> Result<(), Invalid>,
    run: Run,
}

/// A call that shows how a pack is used.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "PackExample")]
pub struct Example {
    /// What it does, in a few words.
    pub title: &'static str,
    /// The input.
    #[schemars(with = "Map<String, Value>")]
    pub input: Value,
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
    /// A model.
    pub model: ModelNeed,
}

/// Whether a pack needs a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ModelNeed {
    /// No.
    #[default]
    None,
    /// Only if it works by pictures.
    Vision,
    /// Always.
    Always,
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
    /// A new one that ends with the job and that the caller cannot enter.
    Private(Mode),
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

/// Packs that the operator can disable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// `email.send`.
    Email,
    /// `github.*`.
    Github,
    /// `http.fetch`.
    HttpFetch,
    /// `repo.push`.
    RepoPush,
}

impl Switch {
    /// The setting, which is `false` to disable them.
    pub fn setting(self) -> &'static str {
        match self {
            Self::Email => "HELMDECK_EMAIL_ENABLED",
            Self::Github => "HELMDECK_GITHUB_ENABLED",
            Self::HttpFetch => "HELMDECK_HTTP_FETCH_ENABLED",
            Self::RepoPush => "HELMDECK_REPO_PUSH_ENABLED",
        }
    }
}

/// Says that something is disabled, and how it is enabled. Agents look for these words.
pub fn disabled(setting: &str) -> String {
    format!("disabled; set {setting}=true")
}

type Answer = Pin<Box<dyn Future<Output = PackResult<Value>> + Send>>;
type Run = Box<dyn Fn(Context, Value) -> Answer + Send + Sync>;

/// The option that chooses between names and pictures.
pub const MODE_FIELD: &str = "_mode";
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
            examples: Vec::new(),
            input: Input {
                reference: |generator| generator.subschema_for::<I>(),
                schema: I::json_schema,
                name: || I::schema_name().into_owned(),
            },
            output: |generator| generator.subschema_for::<O>(),
            declared_input: None,
            off: None,
            switch: None,
            mode: None,
            cacheable: None,
            sessionless: None,
            parses: |input| parse::<I>(input).map(drop),
            run: Box::new(run),
        }
    }

    /// Why it cannot run on this machine.
    pub fn unavailable(&self) -> Option<String> {
        self.off.clone().or_else(|| toolset::unavailable(self.needs.programs))
    }

    /// Refuses to run it if it is off.
    pub fn check_on(&self) -> PackResult<()> {
        match &self.off {
            Some(reason) => {
                let message = format!("{}: {reason}", self.name);
                Err(PackError::new(ErrorCode::NotReady, message).permanent())
            }
            None => Ok(()),
        }
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

    /// Whether a call works without a session on this server.
    pub(crate) fn is_sessionless(&self, endpoints: &Endpoints, input: &Value) -> bool {
        self.needs.session == SessionNeed::None
            || self.sessionless.is_some_and(|without| without(endpoints, input))
    }

    /// Whether an input that matches the schema can be parsed, too.
    pub fn parses(&self, mut input: Value) -> Result<(), Invalid> {
        if let Some(fields) = input.as_object_mut() {
            fields.remove(MODE_FIELD);
        }
        (self.parses)(input)
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

    /// Declares that calls need no session if `without` holds: a service does their work.
    pub fn sessionless_if(self, without: fn(&Endpoints, &Value) -> bool) -> Self {
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

    /// Declares that it needs a model, which costs money. Comes after `nature`.
    pub fn model(self, model: ModelNeed) -> Self {
        let nature = self.nature.spends_money();
        Self { needs: Needs { model, ..self.needs }, nature, ..self }
    }

    /// Declares that it can work by names and by pictures, and which of them is the default.
    pub fn mode(self, mode: Style) -> Self {
        Self { mode: Some(mode), ..self }
    }

    /// Whether a call needs a model.
    pub fn needs_model(&self, mode: Style) -> bool {
        match self.needs.model {
            ModelNeed::None => false,
            ModelNeed::Vision => mode == Style::Vision,
            ModelNeed::Always => true,
        }
    }

    /// How a call works: as its input says, or as usual.
    pub(crate) fn mode_of(&self, input: &Value) -> Style {
        let wanted = input.get(MODE_FIELD).and_then(Value::as_str);
        match (self.mode, wanted) {
            (Some(_), Some("vision")) => Style::Vision,
            (Some(_), Some("structured")) => Style::Structured,
            (Some(mode), _) => mode,
            (None, _) => self.nature.style,
        }
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

    /// Adds a call that shows how it is used.
    pub fn example(mut self, title: &'static str, input: Value) -> Self {
        self.examples.push(Example { title, input });
        self
    }

    /// Lets the operator disable it.
    pub fn switch(self, switch: Switch) -> Self {
        Self { switch: Some(switch), ..self }
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
