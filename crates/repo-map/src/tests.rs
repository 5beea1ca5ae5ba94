//! Maps of small repositories, and of garbage.

use std::{path::Path, process::Command};

use proptest::prelude::*;

use crate::{Kind, Options, language, languages, map, symbols};

fn repository(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    let made = Command::new("git").args(["init", "-q"]).current_dir(dir.path()).status();
    assert!(made.unwrap().success());
    dir
}

fn found(path: &str, source: &str) -> Vec<(String, Kind)> {
    let language = language::by_path(path).unwrap();
    let (symbols, _) = symbols(language, path, source.as_bytes()).unwrap();
    symbols.into_iter().filter(|it| it.kind.is_listed()).map(|it| (it.name, it.kind)).collect()
}

fn expect(path: &str, source: &str, expected: &[(&str, Kind)]) {
    let expected: Vec<_> =
        expected.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
    assert_eq!(found(path, source), expected, "{path}");
}

#[test]
fn functions_methods_and_types_of_every_language_are_found() {
    use Kind::{Constant, Function, Macro, Method, Type};
    expect(
        "a.rs",
        "const N: u8 = 1;\nstruct A<T>(T);\nimpl<T> A<T> {\n    fn a(&self) {}\n}\ntrait B { fn b(); }\n\
         mod m { pub fn c() { fn inner() {} } }\nmacro_rules! mac { () => {} }\n",
        &[
            ("N", Constant),
            ("A", Type),
            ("a", Method),
            ("B", Type),
            ("b", Method),
            ("c", Function),
            ("inner", Function),
            ("mac", Macro),
        ],
    );
    expect(
        "a.go",
        "package a\ntype A struct{ x int }\nfunc (a *A) Get() int { return a.x }\nfunc New() *A { return nil }\n\
         type G interface { Do(x int) error }\n",
        &[("A", Type), ("Get", Method), ("New", Function), ("G", Type), ("Do", Method)],
    );
    expect(
        "a.py",
        "class A:\n    def a(self):\n        pass\n\nasync def b(x: int) -> str:\n    def c(): pass\n",
        &[("A", Type), ("a", Method), ("b", Function), ("c", Function)],
    );
    expect(
        "a.ts",
        "export interface I { m(): void }\nexport type T = string;\nenum E { X }\nclass C { go(): void {} }\n\
         const f = (x: number) => x;\nfunction g<T>(x: T) { return x }\n",
        &[
            ("I", Type),
            ("m", Method),
            ("T", Type),
            ("E", Type),
            ("C", Type),
            ("go", Method),
            ("f", Function),
            ("g", Function),
        ],
    );
    expect(
        "a.js",
        "const f = function () { return <p>x</p> }\nclass C { static go() {} #hid() {} }\nfunction* g() {}\n",
        &[("f", Function), ("C", Type), ("go", Method), ("#hid", Method), ("g", Function)],
    );
    expect(
        "A.java",
        "package a;\npublic class A<T> extends B { A() {} int get() { return 1; } interface I { void m(); } }\n\
         enum E { X }\nrecord R(int x) {}\n",
        &[
            ("A", Type),
            ("A", Method),
            ("get", Method),
            ("I", Type),
            ("m", Method),
            ("E", Type),
            ("R", Type),
        ],
    );
    let c = "typedef struct point { int x; } point_t;\nstatic char *name(int a, int (*f)(void)) { return 0; }\n\
             enum color { RED };\nint later(void);\n#define MAX(a, b) ((a) > (b) ? (a) : (b))\nstruct point p;\n";
    let in_source =
        [("point_t", Type), ("point", Type), ("name", Function), ("color", Type), ("MAX", Macro)];
    expect("a.c", c, &in_source);
    let mut in_header = in_source.to_vec();
    in_header.insert(4, ("later", Function));
    expect("a.h", c, &in_header);
}

#[cfg(feature = "large-grammars")]
#[test]
fn functions_methods_and_types_of_the_large_grammars_are_found() {
    use Kind::{Function, Macro, Method, Type};
    expect(
        "a.cpp",
        "namespace n { class A { public: A(); ~A(); int get() const; int x; }; }\nint n::A::get() const { return x; }\n\
         template <typename T> T most(T a, T b) { return a; }\nusing B = n::A;\nint later();\n#define TWICE(x) (2 * (x))\n",
        &[
            ("A", Type),
            ("A", Method),
            ("~A", Method),
            ("get", Method),
            ("get", Function),
            ("most", Function),
            ("B", Type),
            ("TWICE", Macro),
        ],
    );
    expect(
        "a.hpp",
        "struct S { void go() {} };\nint later();\n",
        &[("S", Type), ("go", Method), ("later", Function)],
    );
    expect(
        "a.rb",
        "module M\n  class A < B\n    def get(x) = x\n    def self.make\n    end\n  end\nend\ndef free; end\n",
        &[("M", Type), ("A", Type), ("get", Method), ("make", Method), ("free", Function)],
    );
    expect(
        "A.cs",
        "namespace N { public class A<T> : B { public A() {} int Get() => 1; } interface I { void M(); } \
         record R(int X); enum E { X } delegate void D(); struct S {} }\n",
        &[
            ("A", Type),
            ("A", Method),
            ("Get", Method),
            ("I", Type),
            ("M", Method),
            ("R", Type),
            ("E", Type),
            ("D", Type),
            ("S", Type),
        ],
    );
    expect(
        "a.php",
        "<?php\nfinal class A implements I { public function get(): int { return 1; } }\ninterface I { function m(); }\n\
         trait T {}\nenum E { case X; }\nfunction free(int $x) { return $x; }\n",
        &[
            ("A", Type),
            ("get", Method),
            ("I", Type),
            ("m", Method),
            ("T", Type),
            ("E", Type),
            ("free", Function),
        ],
    );
}

#[test]
fn a_map_shows_signatures_with_what_they_are_in() {
    let repository = repository(&[
        (
            "src/shape.rs",
            "pub struct Shape {\n    sides: u8,\n}\n\nimpl Shape {\n    /// Area.\n    pub fn area(&self, scale: f64)\n        -> f64 {\n        0.0\n    }\n}\n",
        ),
        ("src/main.rs", "mod shape;\nfn main() { shape::Shape::area(); }\n"),
        ("vendor/x.rs", "fn vendored() {}"),
        ("README.md", "# x"),
    ]);
    let options = Options { token_budget: 1500, ..Options::default() };
    let mapped = map(repository.path(), &options).unwrap();
    assert_eq!(
        mapped.map,
        "src/shape.rs:\n  1 pub struct Shape\n  5 impl Shape\n    7 pub fn area(&self, scale: f64) -> f64\n\
         src/main.rs:\n  2 fn main()\n"
    );
    assert_eq!((mapped.files_covered, mapped.files_total), (2, 2));
    assert_eq!((mapped.symbols_covered, mapped.symbols_total), (3, 3));
    assert_eq!(mapped.languages["rust"], 2);
}

#[test]
fn the_budget_is_never_exceeded_and_the_best_symbols_are_in_it() {
    let mut files = vec![("a.rs".to_owned(), "pub fn everywhere() {}\n".to_owned())];
    for n in 0..40 {
        files.push((format!("f{n}.rs"), format!("fn only_{n}() {{ everywhere(); }}\n")));
    }
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let repository = repository(&files);
    for budget in [1, 8, 9, 15, 50, 200, 100_000] {
        let options = Options { token_budget: budget, ..Options::default() };
        let mapped = map(repository.path(), &options).unwrap();
        assert!(mapped.tokens_estimated <= budget, "{budget}: {}", mapped.tokens_estimated);
        assert!(mapped.map.len() <= budget * 4);
        if budget >= 9 {
            assert!(mapped.map.contains("fn everywhere()"), "{budget}: {}", mapped.map);
        }
    }
    let all = map(repository.path(), &Options::default()).unwrap();
    assert_eq!(all.symbols_covered, 41, "0 is no limit");
}

#[test]
fn patterns_and_languages_select_files_and_mistakes_are_named() {
    let repository = repository(&[
        ("a.rs", "fn a() {}"),
        ("web/b.ts", "function b() {}"),
        ("web/c.py", "def c(): pass"),
    ]);
    let total = |globs: &[&str], languages: &[&str]| {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let options =
            Options { include_globs: owned(globs), languages: owned(languages), token_budget: 0 };
        map(repository.path(), &options).map(|mapped| mapped.files_total)
    };
    assert_eq!(total(&["web/**"], &[]).unwrap(), 2);
    assert_eq!(total(&["*.ts"], &[]).unwrap(), 1);
    assert_eq!(total(&[], &["python", "rust"]).unwrap(), 2);
    assert!(total(&["a["], &[]).unwrap_err().to_string().starts_with("include_globs:"));
    assert!(total(&[], &["cobol"]).unwrap_err().to_string().contains("rust"));
    let error = map(Path::new("/proc"), &Options::default()).unwrap_err();
    assert!(error.to_string().contains("git"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn garbage_is_parsed_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        for language in languages() {
            let _ = symbols(language, "a.h", &bytes);
        }
    }

    #[test]
    fn broken_code_is_parsed_without_harm(parts in prop::collection::vec(
        prop::sample::select(vec!["{", "}", "(", ")", "fn ", "class ", "struct ", "def ", "\"", "'", "/*",
            "a", ":", ";", "\n", "  ", "=>", "<", ">", "impl ", "`", "${", "#", "\\", "é", "\u{0}"]), 0..400)) {
        let source = parts.concat();
        for language in languages() {
            let _ = symbols(language, "a.h", source.as_bytes());
        }
    }
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    for (path, open) in [("a.rs", "("), ("a.c", "{"), ("a.py", "["), ("a.ts", "(("), ("a.go", "[")]
    {
        let language = language::by_path(path).unwrap();
        let _ = symbols(language, path, open.repeat(100_000).as_bytes());
    }
}
