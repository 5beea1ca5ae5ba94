//! Programs named in Rust, JavaScript, TypeScript and Python sources.

use super::shell;

/// What precedes the name of a program. Add new functions that start programs by name here.
const NAMES: [&str; 19] = [
    "Command::new(",
    "program: ",
    "let program = ",
    "PROGRAM: &str = ",
    "PROGRAMS: [&str; 2] = ",
    "managed_by(",
    "screen(",
    "made_by(",
    "available(&[",
    "\"command\": ",
    "spawn(",
    "execFile(",
    "execFile)(",
    "executablePath: ",
    "Popen(",
    "subprocess.run(",
    "subprocess.call(",
    "subprocess.check_call(",
    "subprocess.check_output(",
];
/// Calls that take a program's name if a list of arguments follows.
const NAMES_WITH_ARGUMENTS: [&str; 2] = [".run(", "start("];
/// What precedes a script.
const SCRIPTS: [&str; 5] = [".shell(", "\"-c\", ", "\"-ec\", ", ".shell(&format!(", "os.system("];

/// Line numbers, starting at one, and the programs started there.
pub(super) fn started(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, before, rest) in openings(text, &NAMES) {
        // Python takes a list.
        let first = rest.strip_prefix('[').unwrap_or(rest).trim_start();
        let Some((literal, _)) = read(first) else { continue };
        // A Chromium window or a whole command line is not a program name.
        if !literal.contains([' ', '\'']) && !is_comment(text, at) {
            found.push((line_of(text, at + before.len()), literal));
        }
    }
    for (at, before, rest) in openings(text, &NAMES_WITH_ARGUMENTS) {
        let Some((literal, rest)) = read(rest) else { continue };
        let has_arguments = [", &[", ", ["].iter().any(|list| rest.starts_with(list));
        if has_arguments && !is_comment(text, at) {
            found.push((line_of(text, at + before.len()), literal));
        }
    }
    for (at, before, rest) in openings(text, &SCRIPTS) {
        let Some((script, _)) = read(rest) else { continue };
        let first = line_of(text, at + before.len());
        let commands = shell::commands(&script).into_iter();
        found.extend(commands.map(|(_, word)| (first, word)));
    }
    found.sort();
    found.dedup();
    found
}

/// Each occurrence of one of `before`: its position, which one, and what follows.
fn openings<'a>(
    text: &'a str,
    before: &'a [&str],
) -> impl Iterator<Item = (usize, &'a str, &'a str)> {
    before.iter().flat_map(move |before| {
        text.match_indices(before).filter_map(move |(at, found)| {
            Some((at, found, text.get(at + found.len()..)?.trim_start()))
        })
    })
}

fn line_of(text: &str, at: usize) -> usize {
    text.get(..at).map_or(1, |before| before.matches('\n').count() + 1)
}

fn is_comment(text: &str, at: usize) -> bool {
    let line = text.get(..at).and_then(|before| before.rsplit('\n').next()).unwrap_or_default();
    ["//", "# "].iter().any(|comment| line.trim_start().starts_with(comment))
}

/// The string literal at the start of `text`, and what follows it.
fn read(text: &str) -> Option<(String, &str)> {
    let raw = text.strip_prefix("r#\"").map(|inner| (inner, "\"#"));
    if let Some((inner, end)) = raw.or_else(|| Some((text.strip_prefix("r\"")?, "\""))) {
        let (literal, rest) = inner.split_once(end)?;
        return Some((literal.to_owned(), rest));
    }
    let quote = text.chars().next().filter(|first| ['"', '\''].contains(first))?;
    let inner = text.strip_prefix(quote)?;
    let mut literal = String::new();
    let mut characters = inner.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            end if end == quote => return Some((literal, inner.get(at + 1..)?)),
            '\\' => match characters.next()?.1 {
                'n' => literal.push('\n'),
                // A continued line; the spaces before its next word do no harm.
                '\n' => literal.push(' '),
                other => literal.push(other),
            },
            other => literal.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    #[test]
    fn programs_in_variables_and_constants_are_found() {
        for (text, program) in [
            ("let program = \"chromium\";", "chromium"),
            ("const PROGRAM: &str = \"/usr/bin/tesseract\";", "/usr/bin/tesseract"),
            ("const PROGRAMS: [&str; 2] = [\"X0tigervnc\", \"x0vncserver\"];", "X0tigervnc"),
        ] {
            assert_eq!(super::started(text), [(1, program.to_owned())]);
        }
        assert!(super::started("const PROGRAM: &str = include_str!(\"a.py\");").is_empty());
    }
}
