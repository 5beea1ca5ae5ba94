//! The table of all API operations.

mod a2a;
mod actions;
mod artifacts;
mod audit;
mod connect;
mod exec;
mod live;
mod mcp;
mod models;
mod packs;
mod profiles;
mod server;
mod sessions;
mod vault;
mod vision;

use std::sync::Arc;

use crate::{operation::Operation, tool::Tool};

/// All operations.
pub fn operations() -> Vec<Operation> {
    [
        server::pages_and_health(),
        server::signing_in(),
        connect::operations(),
        server::settings(),
        audit::operations(),
        vault::credentials(),
        models::compatible(),
        models::operations(),
        models::providers(),
        sessions::lifecycle(),
        sessions::endings(),
        live::attaching(),
        profiles::profiles_and_extensions(),
        artifacts::operations(),
        live::watching(),
        sessions::control(),
        sessions::files(),
        exec::operations(),
        vision::operations(),
        sessions::network(),
        live::debugging(),
        server::tools(),
        mcp::operations(),
        a2a::operations(),
        packs::operations(),
        actions::browser(),
        actions::desktop(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// All tools.
pub fn tools() -> Vec<Arc<Tool>> {
    operations().iter().filter_map(|operation| operation.tool().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use helmdeck_wire::{Scope, nature::Effect};

    use super::*;

    #[test]
    fn every_tool_has_one_name_a_doc_a_registered_scope_and_a_schema_that_is_enforced() {
        let tools = tools();
        let names: BTreeSet<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names.len(), tools.len(), "a name is used twice");
        for tool in &tools {
            assert!(!tool.doc.is_empty(), "{}", tool.name);
            assert!(Scope::REGISTRY.iter().any(|(scope, _)| *scope == tool.scope), "{}", tool.name);
            if let Err(error) = tool.schema() {
                panic!("{}: {:?}", tool.name, error.source);
            }
        }
    }

    #[test]
    fn tools_that_run_a_model_spend_money() {
        let spend = tools().into_iter().filter(|tool| tool.nature.effect == Effect::SpendsMoney);
        let names: BTreeSet<_> = spend.map(|tool| tool.name.clone()).collect();
        assert_eq!(names, ["vision.act", "vision.start"].map(String::from).into());
    }

    #[test]
    fn names_of_tools_are_a_noun_and_a_verb() {
        for tool in tools() {
            let plain = |c: char| c.is_ascii_lowercase() || c == '_';
            let (noun, verb) = tool.name.split_once('.').expect("a dot");
            assert!(noun.chars().all(plain) && verb.chars().all(plain), "{}", tool.name);
            assert!(tool.name.len() <= 64);
        }
    }
}
