//! The languages: which files they are in, and which nodes of a syntax tree define a symbol.

use std::{collections::HashMap, sync::OnceLock};

use tree_sitter_language::LanguageFn;

use crate::Kind;

/// A language.
pub struct Language {
    /// Name, such as `rust`.
    pub name: &'static str,
    /// Endings of its files.
    pub extensions: &'static [&'static str],
    grammar: LanguageFn,
    definitions: &'static [(&'static str, Definition)],
    tables: OnceLock<Tables>,
}

/// How a node defines a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Definition {
    /// Its `name` field is the name.
    Named(Kind),
    /// The same, but only with a `body`: otherwise it refers to a definition elsewhere.
    WithBody(Kind),
    /// The name is inside its `declarator`, as in C.
    Declared(Kind),
    /// The same, if it declares a function.
    Prototype,
    /// Its `name` is a variable whose `value` is a function.
    Variable,
    /// The `type` field is the name: an `impl` block.
    Block,
}

/// What the syntax tree's numbers mean.
pub struct Tables {
    /// The grammar.
    pub language: tree_sitter::Language,
    /// Definitions by the number of the node's kind.
    pub definitions: HashMap<u16, Definition>,
    /// Kinds that are identifiers.
    pub identifiers: Vec<bool>,
}

use Definition::{Block, Declared, Named, Prototype, Variable, WithBody};
use Kind::{Constant, Function, Macro, Method, Type};

/// Number of languages in this build.
const COUNT: usize = if cfg!(feature = "large-grammars") { 12 } else { 8 };

static LANGUAGES: [Language; COUNT] = [
    Language {
        name: "rust",
        extensions: &["rs"],
        grammar: tree_sitter_rust::LANGUAGE,
        definitions: &[
            ("function_item", Named(Function)),
            ("function_signature_item", Named(Function)),
            ("struct_item", Named(Type)),
            ("enum_item", Named(Type)),
            ("union_item", Named(Type)),
            ("trait_item", Named(Type)),
            ("type_item", Named(Type)),
            ("associated_type", Named(Type)),
            ("macro_definition", Named(Macro)),
            ("const_item", Named(Constant)),
            ("static_item", Named(Constant)),
            ("impl_item", Block),
        ],
        tables: OnceLock::new(),
    },
    Language {
        name: "go",
        extensions: &["go"],
        grammar: tree_sitter_go::LANGUAGE,
        definitions: &[
            ("function_declaration", Named(Function)),
            ("method_declaration", Named(Method)),
            ("method_elem", Named(Method)),
            ("type_spec", Named(Type)),
            ("type_alias", Named(Type)),
        ],
        tables: OnceLock::new(),
    },
    Language {
        name: "python",
        extensions: &["py", "pyi"],
        grammar: tree_sitter_python::LANGUAGE,
        definitions: &[("class_definition", Named(Type)), ("function_definition", Named(Function))],
        tables: OnceLock::new(),
    },
    Language {
        name: "typescript",
        extensions: &["ts", "mts", "cts"],
        grammar: tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
        definitions: SCRIPT,
        tables: OnceLock::new(),
    },
    Language {
        name: "tsx",
        extensions: &["tsx"],
        grammar: tree_sitter_typescript::LANGUAGE_TSX,
        definitions: SCRIPT,
        tables: OnceLock::new(),
    },
    // JavaScript is TypeScript without types, so it needs no grammar.
    Language {
        name: "javascript",
        extensions: &["js", "jsx", "mjs", "cjs"],
        grammar: tree_sitter_typescript::LANGUAGE_TSX,
        definitions: SCRIPT,
        tables: OnceLock::new(),
    },
    Language {
        name: "java",
        extensions: &["java"],
        grammar: tree_sitter_java::LANGUAGE,
        definitions: &[
            ("class_declaration", Named(Type)),
            ("interface_declaration", Named(Type)),
            ("enum_declaration", Named(Type)),
            ("record_declaration", Named(Type)),
            ("annotation_type_declaration", Named(Type)),
            ("method_declaration", Named(Method)),
            ("constructor_declaration", Named(Method)),
            ("compact_constructor_declaration", Named(Method)),
            ("annotation_type_element_declaration", Named(Method)),
        ],
        tables: OnceLock::new(),
    },
    Language {
        name: "c",
        extensions: &["c", "h"],
        grammar: tree_sitter_c::LANGUAGE,
        definitions: &[
            ("function_definition", Declared(Function)),
            ("declaration", Prototype),
            ("struct_specifier", WithBody(Type)),
            ("union_specifier", WithBody(Type)),
            ("enum_specifier", WithBody(Type)),
            ("type_definition", Declared(Type)),
            ("preproc_function_def", Named(Macro)),
        ],
        tables: OnceLock::new(),
    },
    #[cfg(feature = "large-grammars")]
    Language {
        name: "cpp",
        extensions: &["cc", "cpp", "cxx", "hh", "hpp", "hxx"],
        grammar: tree_sitter_cpp::LANGUAGE,
        definitions: &[
            ("function_definition", Declared(Function)),
            ("declaration", Prototype),
            ("field_declaration", Prototype),
            ("class_specifier", WithBody(Type)),
            ("struct_specifier", WithBody(Type)),
            ("union_specifier", WithBody(Type)),
            ("enum_specifier", WithBody(Type)),
            ("type_definition", Declared(Type)),
            ("alias_declaration", Named(Type)),
            ("preproc_function_def", Named(Macro)),
        ],
        tables: OnceLock::new(),
    },
    #[cfg(feature = "large-grammars")]
    Language {
        name: "ruby",
        extensions: &["rb"],
        grammar: tree_sitter_ruby::LANGUAGE,
        definitions: &[
            ("class", Named(Type)),
            ("module", Named(Type)),
            ("method", Named(Function)),
            ("singleton_method", Named(Function)),
        ],
        tables: OnceLock::new(),
    },
    #[cfg(feature = "large-grammars")]
    Language {
        name: "csharp",
        extensions: &["cs"],
        grammar: tree_sitter_c_sharp::LANGUAGE,
        definitions: &[
            ("class_declaration", Named(Type)),
            ("struct_declaration", Named(Type)),
            ("interface_declaration", Named(Type)),
            ("enum_declaration", Named(Type)),
            ("record_declaration", Named(Type)),
            ("delegate_declaration", Named(Type)),
            ("method_declaration", Named(Method)),
            ("constructor_declaration", Named(Method)),
            ("local_function_statement", Named(Function)),
        ],
        tables: OnceLock::new(),
    },
    #[cfg(feature = "large-grammars")]
    Language {
        name: "php",
        extensions: &["php"],
        grammar: tree_sitter_php::LANGUAGE_PHP,
        definitions: &[
            ("class_declaration", Named(Type)),
            ("interface_declaration", Named(Type)),
            ("trait_declaration", Named(Type)),
            ("enum_declaration", Named(Type)),
            ("function_definition", Named(Function)),
            ("method_declaration", Named(Method)),
        ],
        tables: OnceLock::new(),
    },
];

const SCRIPT: &[(&str, Definition)] = &[
    ("function_declaration", Named(Function)),
    ("generator_function_declaration", Named(Function)),
    ("function_signature", Named(Function)),
    ("class_declaration", Named(Type)),
    ("abstract_class_declaration", Named(Type)),
    ("interface_declaration", Named(Type)),
    ("type_alias_declaration", Named(Type)),
    ("enum_declaration", Named(Type)),
    ("internal_module", Named(Type)),
    ("method_definition", Named(Method)),
    ("method_signature", Named(Method)),
    ("abstract_method_signature", Named(Method)),
    ("variable_declarator", Variable),
    ("public_field_definition", Variable),
];

/// All languages of this build.
pub fn languages() -> impl Iterator<Item = &'static Language> {
    LANGUAGES.iter()
}

/// The language with this name.
pub fn by_name(name: &str) -> Option<&'static Language> {
    let name = name.to_ascii_lowercase();
    languages().find(|language| language.name == name || language.extensions.contains(&&*name))
}

/// The language of a file.
pub fn by_path(path: &str) -> Option<&'static Language> {
    let name = path.rsplit('/').next()?;
    let (_, extension) = name.rsplit_once('.')?;
    languages().find(|language| language.extensions.contains(&extension))
}

impl Language {
    /// What its numbers mean.
    pub fn tables(&self) -> &Tables {
        self.tables.get_or_init(|| {
            let language = tree_sitter::Language::new(self.grammar);
            let definitions = self.definitions.iter();
            let number = |kind: &str| language.id_for_node_kind(kind, true);
            let definitions = definitions.map(|(kind, definition)| (number(kind), *definition));
            let definitions = definitions.collect();
            let is_identifier = |kind: u16| {
                let name = language.node_kind_for_id(kind).unwrap_or_default();
                language.node_kind_is_named(kind)
                    && (name == "identifier"
                        || name.ends_with("_identifier")
                        || (self.name == "ruby" && name == "constant")
                        || (self.name == "php" && name == "name"))
            };
            let kinds = 0..u16::try_from(language.node_kind_count()).unwrap_or(u16::MAX);
            let identifiers = kinds.map(is_identifier).collect();
            Tables { language, definitions, identifiers }
        })
    }
}

impl std::fmt::Debug for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_that_defines_a_symbol_is_in_its_grammar() {
        for language in languages() {
            let tables = language.tables();
            assert!(!tables.definitions.contains_key(&0), "{language:?} has an unknown kind");
            assert_eq!(tables.definitions.len(), language.definitions.len(), "{language:?}");
            assert!(tables.identifiers.iter().any(|it| *it), "{language:?} has identifiers");
        }
    }

    #[test]
    fn a_file_has_the_language_of_its_ending() {
        assert_eq!(by_path("src/a.rs").unwrap().name, "rust");
        assert_eq!(by_path("a/b.test.tsx").unwrap().name, "tsx");
        assert!(by_path("Makefile").is_none() && by_path("a.rs/b").is_none());
        assert_eq!(by_name("Rust").unwrap().name, "rust");
        assert_eq!(by_name("js").unwrap().name, "javascript");
    }
}
