//! What a clone contains: files, README, entry points, documentation.

use std::collections::BTreeSet;

use helmdeck_wire::exec::Exec;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Context, PackResult, context::command, repository::git_environment};

/// How many files are listed.
const MAX_TREE: usize = 300;
/// How much of the README is quoted.
const MAX_README: usize = 4096;
/// How much of the documentation is quoted, and from how many files at most.
const MAX_DOCS: (usize, usize) = (16_384, 50);

/// Files that say how a project is built or described, and what they are.
const ENTRYPOINTS: [(&str, &str); 16] = [
    ("Makefile", "build"),
    ("go.mod", "go"),
    ("package.json", "node"),
    ("pyproject.toml", "python"),
    ("setup.py", "python"),
    ("Cargo.toml", "rust"),
    ("pom.xml", "java"),
    ("build.gradle", "gradle"),
    ("CMakeLists.txt", "cmake"),
    ("devfile.yaml", "devfile"),
    ("Dockerfile", "container"),
    ("docker-compose.yml", "compose"),
    ("docker-compose.yaml", "compose"),
    ("CLAUDE.md", "agent-doc"),
    ("AGENTS.md", "agent-doc"),
    ("CONTRIBUTING.md", "contributing"),
];
const DOC_FOLDERS: [&str; 9] =
    ["docs", "doc", "content", "site", "book", "guide", "tutorials", "blog-posts", "examples"];
/// Endings of documents. Other texts, such as `CMakeLists.txt`, are documents only in their folders.
const DOC_ENDINGS: [&str; 3] = [".md", ".rst", ".adoc"];
/// Endings of documents in folders for documentation.
const DOC_FOLDER_ENDINGS: [&str; 5] = [".md", ".mdx", ".rst", ".adoc", ".txt"];
/// Endings of READMEs, the most likely first.
const README_ENDINGS: [&str; 5] = [".md", ".adoc", ".rst", ".txt", ""];
const CODE_FOLDERS: [&str; 6] = ["src", "cmd", "lib", "internal", "pkg", "app"];
const CODE_ENDINGS: [&str; 24] = [
    ".rs", ".go", ".py", ".js", ".jsx", ".ts", ".tsx", ".java", ".kt", ".c", ".h", ".cc", ".cpp",
    ".hpp", ".cs", ".rb", ".php", ".swift", ".scala", ".sh", ".lua", ".ex", ".hs", ".sql",
];

/// What a clone contains.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Overview {
    /// How many files.
    files: usize,
    /// The first 300 files, those near the root first.
    tree: Vec<String>,
    /// How many files there are in all.
    tree_total: usize,
    /// Whether `tree` is not complete.
    tree_truncated: bool,
    /// The README; null if there is none.
    readme: Option<Readme>,
    /// The beginning of the documentation; null if there is none.
    docs: Option<Docs>,
    /// Files that say how it is built or described.
    entrypoints: Vec<Entrypoint>,
    /// Patterns for `fs.list` that find documentation.
    doc_hints: Vec<String>,
    /// What kind of repository it is.
    signals: Signals,
}

/// The beginning of a README.
#[derive(Debug, Serialize, JsonSchema)]
struct Readme {
    /// The file.
    path: String,
    /// Its first 4 KiB.
    content: String,
    /// Whether it is longer.
    truncated: bool,
}

/// The beginning of the documentation.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RepoDocs")]
struct Docs {
    /// The documents of the folders for documentation, each after its path, up to 16 KiB.
    content: String,
    /// How many documents these folders have.
    file_count: usize,
    /// Whether they are longer.
    truncated: bool,
}

/// The beginning of a text, and whether it is longer.
fn beginning(text: &str, max: usize) -> (String, bool) {
    let end = text.floor_char_boundary(max);
    (text.get(..end).unwrap_or_default().to_owned(), end < text.len())
}

impl Readme {
    fn begins_with(path: &str, text: &str) -> Self {
        let (content, truncated) = beginning(text, MAX_README);
        Self { path: path.to_owned(), content, truncated }
    }
}

/// A file that says how a project is built or described.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
struct Entrypoint {
    /// The file.
    path: String,
    /// What it is, such as `rust` or `container`.
    kind: String,
}

/// What kind of repository it is.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
struct Signals {
    /// Whether it has a README.
    has_readme: bool,
    /// Whether it has a folder for documentation.
    has_docs_dir: bool,
    /// Whether it has source code, or a folder for it.
    has_code: bool,
    /// How many documents.
    doc_file_count: usize,
    /// How many source files.
    code_file_count: usize,
    /// Whether it has almost nothing.
    sparse: bool,
}

/// Describes a clone.
pub async fn overview(context: &Context, clone_path: &str) -> PackResult<Overview> {
    let run = |words: &[&str]| Exec {
        cwd: Some(clone_path.to_owned()),
        env: git_environment(),
        ..command(words.iter().copied())
    };
    let listed = context.output(run(&["git", "ls-files", "-z"])).await?;
    let mut files: Vec<&str> = listed.split('\0').filter(|name| !name.is_empty()).collect();
    files.sort_by_key(|name| (name.matches('/').count(), name.to_owned()));
    let path = readme_of(&files);
    let readme = match path {
        Some(path) => {
            let inner = format!("./{path}");
            let read = context.exec(run(&["head", "-c", "4100", "--", &inner])).await?;
            // It may be a link to nothing, or a submodule.
            let text = read.stdout.filter(|_| read.exit_code == Some(0));
            text.map(|text| Readme::begins_with(path, &text))
        }
        None => None,
    };
    let docs = docs(context, &files, run).await?;
    Ok(Overview { docs, ..describe(&files, readme) })
}

/// Quotes the documents in folders for documentation.
async fn docs(
    context: &Context,
    files: &[&str],
    run: impl Fn(&[&str]) -> Exec,
) -> PackResult<Option<Docs>> {
    let in_folder = |name: &&&str| {
        name.split_once('/').is_some_and(|(folder, _)| is_doc_folder(folder))
            && ends(name, &DOC_ENDINGS)
    };
    let file_count = files.iter().filter(in_folder).count();
    if file_count == 0 {
        return Ok(None);
    }
    let (max, most) = MAX_DOCS;
    // Documents may be links to nothing.
    let script = "for name; do echo \"==> $name <==\"; head -c 16400 -- \"./$name\"; echo; done \
                  2>/dev/null | head -c 16400";
    let mut words = vec!["bash", "-c", script, "docs"];
    words.extend(files.iter().filter(in_folder).take(most));
    let read = context.exec(run(&words)).await?;
    let (content, cut) = beginning(&read.stdout.unwrap_or_default(), max);
    Ok(Some(Docs { content, file_count, truncated: cut || file_count > most }))
}

fn ends(name: &str, endings: &[&str]) -> bool {
    endings.iter().any(|end| name.ends_with(end))
}

fn is_doc_folder(folder: &str) -> bool {
    DOC_FOLDERS.contains(&folder.to_ascii_lowercase().as_str())
}

/// Describes a list of files, those near the root first.
fn describe(files: &[&str], readme: Option<Readme>) -> Overview {
    let folders = files.iter().filter_map(|name| Some(name.split_once('/')?.0));
    let folders: BTreeSet<_> = folders.collect();
    let doc_folders: Vec<_> = folders.iter().filter(|folder| is_doc_folder(folder)).collect();
    let has_code_folder = folders.iter().any(|folder| CODE_FOLDERS.contains(folder));
    let doc_file_count = files.iter().filter(|name| ends(name, &DOC_ENDINGS)).count();
    let code_file_count = files.iter().filter(|name| ends(name, &CODE_ENDINGS)).count();
    let entrypoints =
        files.iter().filter(|name| name.matches('/').count() <= 1).filter_map(|path| {
            let name = path.rsplit('/').next()?;
            let (_, kind) = ENTRYPOINTS.iter().find(|(known, _)| *known == name)?;
            Some(Entrypoint { path: (*path).to_owned(), kind: (*kind).to_owned() })
        });
    // Only patterns that find something.
    let hints_in = |start: &str, endings: &[&str]| {
        let found =
            |end: &&&str| files.iter().any(|name| name.starts_with(start) && name.ends_with(**end));
        let found: Vec<_> = endings.iter().filter(found).collect();
        found.into_iter().map(|end| format!("{start}**/*{end}")).collect::<Vec<_>>()
    };
    let mut doc_hints: Vec<_> = doc_folders
        .iter()
        .flat_map(|folder| hints_in(&format!("{folder}/"), &DOC_FOLDER_ENDINGS))
        .collect();
    if doc_hints.is_empty() {
        doc_hints = hints_in("", &DOC_ENDINGS);
    }
    Overview {
        files: files.len(),
        tree: files.iter().take(MAX_TREE).map(|name| (*name).to_owned()).collect(),
        tree_total: files.len(),
        tree_truncated: files.len() > MAX_TREE,
        signals: Signals {
            has_readme: readme.is_some(),
            has_docs_dir: !doc_folders.is_empty(),
            has_code: code_file_count > 0 || has_code_folder,
            doc_file_count,
            code_file_count,
            sparse: doc_file_count + code_file_count < 3,
        },
        readme,
        docs: None,
        entrypoints: entrypoints.collect(),
        doc_hints,
    }
}

/// The README at the root: the one with the most likely ending.
fn readme_of<'a>(files: &[&'a str]) -> Option<&'a str> {
    let rank = |name: &str| {
        let lower = name.to_ascii_lowercase();
        let end = lower.strip_prefix("readme")?;
        README_ENDINGS.iter().position(|known| *known == end)
    };
    let found = files.iter().filter_map(|name| Some((rank(name)?, *name)));
    found.min_by_key(|(rank, _)| *rank).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_described_by_its_files() {
        let files = ["Cargo.toml", "README.md", "docs/a.md", "src/main.rs", "web/package.json"];
        let overview = describe(&files, None);
        let kinds: Vec<_> = overview.entrypoints.iter().map(|it| it.kind.as_str()).collect();
        assert_eq!(kinds, ["rust", "node"]);
        assert_eq!(overview.doc_hints, ["docs/**/*.md"]);
        let signals = &overview.signals;
        assert_eq!((signals.doc_file_count, signals.code_file_count), (2, 1));
        assert!(signals.has_docs_dir && signals.has_code && !signals.sparse && !signals.has_readme);
    }

    #[test]
    fn the_readme_is_a_text_at_the_root_and_not_a_translation_or_a_picture() {
        let files = ["README.cn.md", "README.md", "readme.png", "readme.txt", "docs/README.md"];
        assert_eq!(readme_of(&files), Some("README.md"));
        assert_eq!(readme_of(&["Readme.RST", "readme"]), Some("Readme.RST"));
        assert_eq!(readme_of(&["README"]), Some("README"));
        assert_eq!(readme_of(&["readme.png", "README.cn.md", "a/README.md"]), None);
    }

    #[test]
    fn lists_of_build_tools_are_no_documents_and_a_source_folder_is_code() {
        let signals = |files: &[&str]| describe(files, None).signals;
        let found = signals(&["CMakeLists.txt", "requirements.txt", "page.mdx", "notes.txt"]);
        assert_eq!((found.doc_file_count, found.sparse, found.has_code), (0, true, false));
        let found = signals(&["cmd/tool/README.md", "internal/x.zig"]);
        assert_eq!((found.doc_file_count, found.code_file_count), (1, 0));
        assert!(found.has_code && found.sparse);
        assert!(signals(&["a.rst", "b.adoc", "c.md"]).doc_file_count == 3);
    }

    #[test]
    fn hints_have_the_endings_that_occur_and_find_files() {
        let files = ["content/a/b.adoc", "content/c.rst", "Docs/x.md", "examples/main.rs", "n.txt"];
        let hints = describe(&files, None).doc_hints;
        assert_eq!(hints, ["Docs/**/*.md", "content/**/*.rst", "content/**/*.adoc"]);
        for hint in &hints {
            let glob = crate::glob::Glob::parse(hint).unwrap();
            assert!(files.iter().any(|file| glob.matches(file)), "{hint}");
        }
        assert_eq!(describe(&["src/a.rs", "a/b.rst"], None).doc_hints, ["**/*.rst"]);
    }

    #[test]
    fn an_empty_repository_is_sparse_and_long_lists_are_cut() {
        let overview = describe(&[], None);
        assert!(
            overview.signals.sparse && overview.readme.is_none() && overview.doc_hints.is_empty()
        );
        let many: Vec<_> = (0..400).map(|number| format!("f{number}.md")).collect();
        let many: Vec<_> = many.iter().map(String::as_str).collect();
        let overview = describe(&many, None);
        assert_eq!((overview.tree.len(), overview.tree_total), (300, 400));
        assert!(overview.tree_truncated);
        assert_eq!(overview.doc_hints, ["**/*.md"]);
    }
}
