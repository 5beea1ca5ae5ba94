//! Ownership of browser contexts, and their visibility to other clients.
//!
//! A context that a client created is private: for other clients, the context and its targets do
//! not exist. The default context is shared. When a client leaves, its contexts become shared, so
//! that they can be found again.

use std::{borrow::Cow, collections::HashMap};

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::{internal_pages::is_browser_part, tree::Owner};

/// Limit on contexts of one client.
const MAX_CONTEXTS: usize = 1000;
/// Limit on known targets in private contexts; more than any browser has.
const MAX_TARGETS: usize = 16 << 10;

/// The owner of each context.
#[derive(Default)]
pub(crate) struct Contexts {
    owners: HashMap<String, Owner>,
    /// The private context of each target, because the event for a target's end contains only its
    /// id.
    targets: HashMap<String, String>,
}

/// The context and target named by a client's call.
#[derive(Default, Deserialize)]
pub(crate) struct Named<'a> {
    #[serde(borrow, default, rename = "targetId")]
    pub target: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "browserContextId")]
    pub context: Option<Cow<'a, str>>,
}

/// What an answer says about contexts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expectation {
    Nothing,
    NewContext,
    Contexts,
    Targets,
    /// This context was disposed.
    Disposed(String),
}

/// What happens to an event about a target.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum EventVisibility {
    Shown,
    Hidden,
    /// The browser attached a client to a target it must not reach.
    Detached {
        session: String,
        waiting: bool,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetParams<'a> {
    #[serde(borrow, default)]
    target_info: Option<Info<'a>>,
    #[serde(borrow, default)]
    target_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    session_id: Option<Cow<'a, str>>,
    #[serde(default)]
    waiting_for_debugger: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Info<'a> {
    #[serde(borrow)]
    target_id: Cow<'a, str>,
    #[serde(borrow, default)]
    browser_context_id: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    url: Cow<'a, str>,
}

impl<'a> Named<'a> {
    /// What a call names; an error if the browser might read it differently.
    pub fn by(method: &str, params: Option<&'a RawValue>) -> Result<Self, serde_json::Error> {
        let domain = method.split_once('.').map(|(domain, _)| domain);
        let params = params.map(RawValue::get).filter(|params| params.starts_with('{'));
        match (domain, params) {
            (Some("Target" | "Browser" | "Storage"), Some(params)) => serde_json::from_str(params),
            _ => Ok(Self::default()),
        }
    }

    /// What the answer to the call says about contexts.
    pub fn expectation(&self, method: &str) -> Expectation {
        match (method, &self.context) {
            ("Target.createBrowserContext", _) => Expectation::NewContext,
            ("Target.getBrowserContexts", _) => Expectation::Contexts,
            ("Target.getTargets", _) => Expectation::Targets,
            ("Target.disposeBrowserContext", Some(context)) => {
                Expectation::Disposed(context.clone().into_owned())
            }
            _ => Expectation::Nothing,
        }
    }
}

impl Contexts {
    /// Whether a client may see and use a context.
    pub fn shows(&self, client: u64, context: Option<&str>) -> bool {
        let owner = context.and_then(|context| self.owners.get(context));
        owner.is_none_or(|owner| *owner == Owner::Client(client))
    }

    /// Whether a client created a context.
    pub fn owns(&self, client: u64, context: Option<&str>) -> bool {
        let owner = context.and_then(|context| self.owners.get(context));
        owner == Some(&Owner::Client(client))
    }

    /// Whether a client has reached its limit of contexts.
    pub fn is_full(&self, client: u64) -> bool {
        let theirs = self.owners.values().filter(|owner| **owner == Owner::Client(client));
        theirs.count() >= MAX_CONTEXTS
    }

    /// Handles an answer to `owner`. Returns a filtered answer if parts must be hidden.
    pub fn answered(
        &mut self,
        owner: Owner,
        expectation: &Expectation,
        result: Option<&RawValue>,
    ) -> Option<Box<RawValue>> {
        let mut result: Value = match expectation {
            Expectation::Nothing => return None,
            _ => serde_json::from_str(result?.get()).ok()?,
        };
        match (expectation, owner) {
            (Expectation::NewContext, _) => {
                let context = result.get("browserContextId")?.as_str()?;
                self.owners.insert(context.to_owned(), owner);
                None
            }
            (Expectation::Disposed(context), _) => {
                self.owners.remove(context);
                self.targets.retain(|_, in_context| in_context != context);
                None
            }
            (Expectation::Contexts, Owner::Client(client)) => {
                let all = result.get_mut("browserContextIds")?.as_array_mut()?;
                all.retain(|context| self.shows(client, context.as_str()));
                serde_json::value::to_raw_value(&result).ok()
            }
            (Expectation::Targets, Owner::Client(client)) => {
                let all = result.get_mut("targetInfos")?.as_array_mut()?;
                let text = |info: &Value, key: &str| Some(info.get(key)?.as_str()?.to_owned());
                all.retain(|info| {
                    let [kind, url] = ["type", "url"].map(|key| text(info, key));
                    let part = is_browser_part(&kind.unwrap_or_default(), &url.unwrap_or_default());
                    !part && self.shows(client, text(info, "browserContextId").as_deref())
                });
                serde_json::value::to_raw_value(&result).ok()
            }
            (Expectation::Nothing | Expectation::Contexts | Expectation::Targets, _) => None,
        }
    }

    /// Decides whether a client receives an event.
    pub fn judge(&mut self, client: u64, method: &str, params: &str) -> EventVisibility {
        if !method.starts_with("Target.") {
            return EventVisibility::Shown;
        }
        let Ok(told) = serde_json::from_str::<TargetParams<'_>>(params) else {
            return EventVisibility::Shown;
        };
        if let Some(Info { target_id, browser_context_id, kind, url }) = told.target_info {
            let context = browser_context_id.as_deref();
            if let Some(context) = context.filter(|context| self.owners.contains_key(*context)) {
                if self.targets.len() >= MAX_TARGETS {
                    self.targets.clear();
                }
                self.targets.insert(target_id.into_owned(), context.to_owned());
            }
            let shown = self.shows(client, context) && !is_browser_part(&kind, &url);
            return match (shown, method, told.session_id) {
                (true, _, _) => EventVisibility::Shown,
                (false, "Target.attachedToTarget", Some(session)) => EventVisibility::Detached {
                    session: session.into_owned(),
                    waiting: told.waiting_for_debugger,
                },
                (false, _, _) => EventVisibility::Hidden,
            };
        }
        let context = told.target_id.and_then(|target| self.targets.get(&*target));
        if self.shows(client, context.map(String::as_str)) {
            EventVisibility::Shown
        } else {
            EventVisibility::Hidden
        }
    }

    /// A client left: its contexts become shared.
    pub fn left(&mut self, client: u64) {
        self.owners.retain(|_, owner| *owner != Owner::Client(client));
        let owners = &self.owners;
        self.targets.retain(|_, context| owners.contains_key(context));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{json, value::to_raw_value};

    use super::*;

    fn with_context_of(client: u64) -> Contexts {
        let mut contexts = Contexts::default();
        let made = to_raw_value(&json!({ "browserContextId": "C" })).unwrap();
        contexts.answered(Owner::Client(client), &Expectation::NewContext, Some(&made));
        contexts
    }

    #[test]
    fn a_context_is_private_to_its_client_until_the_client_leaves() {
        let mut contexts = with_context_of(1);
        let all = to_raw_value(&json!({ "browserContextIds": ["C"] })).unwrap();
        let seen_by = |contexts: &mut Contexts, client| {
            let seen = contexts.answered(Owner::Client(client), &Expectation::Contexts, Some(&all));
            seen.unwrap().get().contains("\"C\"")
        };
        assert!(seen_by(&mut contexts, 1) && !seen_by(&mut contexts, 2));
        assert!(contexts.shows(2, None) && contexts.shows(2, Some("default")));
        contexts.left(1);
        assert!(seen_by(&mut contexts, 2));
    }

    #[test]
    fn targets_in_another_clients_context_are_hidden_and_detached() {
        let mut contexts = with_context_of(1);
        let told = json!({
            "sessionId": "S", "waitingForDebugger": true,
            "targetInfo": { "targetId": "T", "browserContextId": "C" },
        });
        let told = told.to_string();
        let detached = EventVisibility::Detached { session: "S".into(), waiting: true };
        assert_eq!(contexts.judge(2, "Target.attachedToTarget", &told), detached);
        assert_eq!(contexts.judge(2, "Target.targetCreated", &told), EventVisibility::Hidden);
        assert_eq!(contexts.judge(1, "Target.attachedToTarget", &told), EventVisibility::Shown);
        let ended = json!({ "targetId": "T" }).to_string();
        assert_eq!(contexts.judge(2, "Target.targetDestroyed", &ended), EventVisibility::Hidden);
        assert_eq!(contexts.judge(1, "Target.targetDestroyed", &ended), EventVisibility::Shown);
        let other = json!({ "targetId": "U" }).to_string();
        assert_eq!(contexts.judge(2, "Target.targetDestroyed", &other), EventVisibility::Shown);
    }

    #[test]
    fn parts_of_the_browser_itself_are_hidden_from_clients() {
        let mut contexts = Contexts::default();
        let info = json!({ "targetId": "T", "type": "page", "url": "chrome://settings/" });
        let told = json!({ "sessionId": "S", "targetInfo": info }).to_string();
        let detached = EventVisibility::Detached { session: "S".into(), waiting: false };
        assert_eq!(contexts.judge(1, "Target.attachedToTarget", &told), detached);
        assert_eq!(contexts.judge(1, "Target.targetInfoChanged", &told), EventVisibility::Hidden);
        let page = json!({ "targetId": "P", "type": "page", "url": "https://a.example/" });
        let all = to_raw_value(&json!({ "targetInfos": [info, page] })).unwrap();
        let seen = contexts.answered(Owner::Client(1), &Expectation::Targets, Some(&all)).unwrap();
        assert!(seen.get().contains("\"P\"") && !seen.get().contains("\"T\""));
    }

    #[test]
    fn a_call_that_names_two_contexts_is_refused() {
        let twice = RawValue::from_string(
            r#"{"browserContextId":"mine","browserContextId":"yours"}"#.to_owned(),
        );
        assert!(Named::by("Target.disposeBrowserContext", Some(&twice.unwrap())).is_err());
        let escaped = RawValue::from_string(r#"{"target\u0049d":"\u0054"}"#.to_owned()).unwrap();
        let named = Named::by("Target.attachToTarget", Some(&escaped)).unwrap();
        assert_eq!(named.target.as_deref(), Some("T"));
    }
}
