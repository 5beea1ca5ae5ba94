//! File name patterns, as in `.gitignore`: `*.rs`, `docs/**/*.md`.

use glob::{MatchOptions, Pattern};

use crate::{PackError, PackResult};

/// A pattern for paths.
pub struct Glob {
    pattern: Pattern,
    /// Whether it matches the path, not only the name.
    whole: bool,
}

const OPTIONS: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

impl Glob {
    /// Parses a pattern.
    pub fn parse(text: &str) -> PackResult<Self> {
        let pattern = Pattern::new(text.trim_start_matches("./"));
        let pattern =
            pattern.map_err(|error| PackError::invalid("glob", format!("glob: {error}")))?;
        Ok(Self { pattern, whole: text.contains('/') })
    }

    /// Whether it can match files in folders.
    pub fn is_deep(&self) -> bool {
        self.whole || self.pattern.as_str().contains("**")
    }

    /// Whether a path matches.
    pub fn matches(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let name = path.rsplit('/').next().unwrap_or(path);
        self.pattern.matches_with(if self.whole { path } else { name }, OPTIONS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_without_a_slash_matches_names_and_one_with_a_slash_matches_paths() {
        let matches = |glob: &str, path: &str| Glob::parse(glob).unwrap().matches(path);
        assert!(matches("*.rs", "src/a/b.rs") && matches("*.rs", "b.rs"));
        assert!(!matches("*.rs", "b.rst"));
        assert!(matches("docs/**/*.md", "docs/a/b/c.md") && matches("docs/**/*.md", "docs/c.md"));
        assert!(!matches("docs/*.md", "docs/a/c.md"));
        assert!(Glob::parse("a[").is_err());
        assert!(
            Glob::parse("docs/**").unwrap().is_deep() && !Glob::parse("*.rs").unwrap().is_deep()
        );
    }
}
