//! Finds the commands of a shell script: supports the parts of bash used here.

/// Words after which a command follows.
const KEYWORDS: [&str; 11] =
    ["if", "then", "elif", "else", "while", "until", "do", "time", "{", "!", "coproc"];
/// Commands that start the command in their arguments.
const RUNNERS: [&str; 12] = [
    "as_root", "command", "env", "exec", "flock", "nice", "nohup", "setpriv", "setsid", "sudo",
    "timeout", "xargs",
];
/// Shell builtins.
#[rustfmt::skip]
const BUILTINS: [&str; 52] = [
    ".", ":", "[", "[[", "]]", "}", "alias", "break", "builtin", "case", "cd", "command", "continue",
    "declare", "disown", "done", "echo", "esac", "eval", "exec", "exit", "export", "false", "fi", "for", "function",
    "getopts", "hash", "in", "jobs", "kill", "let", "local", "mapfile", "popd", "printf", "pushd", "read",
    "readonly", "return", "set", "shift", "shopt", "source", "test", "trap", "true", "type", "ulimit",
    "umask", "unset", "wait",
];

/// Names of the functions that a script defines.
pub(super) fn functions(text: &str) -> Vec<String> {
    let names = text.lines().filter_map(|line| line.trim_start().split_once("()"));
    let plain = |name: &&str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
    };
    names.map(|(name, _)| name).filter(plain).map(str::to_owned).collect()
}

/// Line numbers, starting at one, and the first word of each command, if it is plain text.
pub(super) fn commands(text: &str) -> Vec<(usize, String)> {
    let mut reader = Reader { text: text.chars().collect(), at: 0, line: 1, found: Vec::new() };
    while reader.at < reader.text.len() {
        reader.list();
        // A closing bracket without an opening one, as in a pattern.
        reader.take();
    }
    reader.found.retain(|(_, word)| !BUILTINS.contains(&word.as_str()));
    reader.found
}

struct Reader {
    text: Vec<char>,
    at: usize,
    line: usize,
    found: Vec<(usize, String)>,
}

/// The kind of the next word.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    Command,
    /// The command that a runner starts, after its options.
    Started,
    Argument,
    /// Inside `[[ ]]`.
    Test,
}

impl Reader {
    fn peek(&self, ahead: usize) -> char {
        self.text.get(self.at + ahead).copied().unwrap_or('\0')
    }

    fn take(&mut self) -> char {
        let c = self.peek(0);
        self.at += 1;
        if c == '\n' {
            self.line += 1;
        }
        c
    }

    fn starts(&self, what: &str) -> bool {
        what.chars().enumerate().all(|(ahead, c)| self.peek(ahead) == c)
    }

    /// Reads commands up to the closing bracket, which is not consumed.
    fn list(&mut self) {
        let mut next = Next::Command;
        // Here-documents that begin on this line.
        let mut heredocs: Vec<String> = Vec::new();
        // Between `case` and its `in`.
        let mut in_case = false;
        while self.at < self.text.len() {
            match self.peek(0) {
                ')' => return,
                '\n' => {
                    self.take();
                    for end in heredocs.drain(..) {
                        self.skip_heredoc(&end);
                    }
                    next = if next == Next::Test { next } else { Next::Command };
                }
                ' ' | '\t' => {
                    self.take();
                }
                '#' => self.skip_until("\n"),
                ';' if self.starts(";;") => {
                    self.at += 2;
                    self.skip_pattern();
                    next = Next::Command;
                }
                ';' | '&' | '|' => {
                    self.take();
                    next = if next == Next::Test { next } else { Next::Command };
                }
                '<' if self.starts("<<<") => self.at += 3,
                '<' if self.starts("<<") => {
                    self.at += 2;
                    heredocs.push(self.word().0.trim_start_matches('-').to_owned());
                }
                '<' | '>' if self.peek(1) == '(' => {
                    self.at += 1;
                    self.brackets();
                }
                '<' | '>' if next == Next::Test => {
                    self.take();
                }
                '<' | '>' => self.redirection(),
                '(' if self.starts("((") => self.skip_until("))"),
                '(' if next == Next::Test => {
                    self.take();
                }
                '(' => self.brackets(),
                _ => {
                    let line = self.line;
                    let (word, plain) = self.word();
                    if word == "in" && in_case {
                        in_case = false;
                        self.skip_pattern();
                        next = Next::Command;
                        continue;
                    }
                    in_case |= word == "case" && next == Next::Command;
                    next = self.after(next, line, word, plain);
                }
            }
        }
    }

    /// Records the word if it is a command, and returns the kind of the next word.
    fn after(&mut self, next: Next, line: usize, word: String, plain: bool) -> Next {
        match next {
            Next::Test if word == "]]" => return Next::Argument,
            Next::Test | Next::Argument => return next,
            Next::Command | Next::Started => {}
        }
        let name = word.split('=').next().unwrap_or_default();
        let is_assignment = word.contains('=')
            && name.trim_end_matches('+').chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_option = word.starts_with('-') || word.starts_with(|c: char| c.is_ascii_digit());
        if is_assignment || next == Next::Started && is_option {
            return next;
        }
        // A function definition: its body follows.
        if self.starts("()") {
            self.at += 2;
            return Next::Command;
        }
        if word == "[[" {
            return Next::Test;
        }
        if KEYWORDS.contains(&word.as_str()) {
            return Next::Command;
        }
        // A number before a redirection, as in `2>&1`.
        if plain && word.chars().all(|c| c.is_ascii_digit()) {
            return next;
        }
        let runs = RUNNERS.contains(&word.as_str());
        if plain {
            self.found.push((line, word));
        }
        if runs { Next::Started } else { Next::Argument }
    }

    /// Reads a word without its quotes, and whether it is plain text. Records commands inside it.
    fn word(&mut self) -> (String, bool) {
        let (mut word, mut plain) = (String::new(), true);
        while self.at < self.text.len() {
            match self.peek(0) {
                '\\' => {
                    self.take();
                    let escaped = self.take();
                    // A continued line.
                    if escaped != '\n' {
                        word.push(escaped);
                    }
                }
                '\'' => {
                    self.take();
                    while self.at < self.text.len() && self.peek(0) != '\'' {
                        word.push(self.take());
                    }
                    self.take();
                }
                '"' => {
                    self.take();
                    while self.at < self.text.len() && self.peek(0) != '"' {
                        match self.peek(0) {
                            '$' => plain &= self.expansion(),
                            '\\' => {
                                self.take();
                                word.push(self.take());
                            }
                            _ => word.push(self.take()),
                        }
                    }
                    self.take();
                }
                '$' => plain &= self.expansion(),
                '(' if word.ends_with('=') => {
                    // An array; its words are not commands, but may contain some.
                    self.take();
                    self.skip_array();
                }
                c if c.is_whitespace() || ";&|<>()".contains(c) => break,
                _ => word.push(self.take()),
            }
        }
        (word, plain)
    }

    /// Reads `$name`, `${…}`, `$(…)` or `$((…))`. Never plain text.
    fn expansion(&mut self) -> bool {
        self.take();
        if self.starts("((") {
            self.skip_until("))");
        } else if self.peek(0) == '(' {
            self.brackets();
        } else if self.peek(0) == '{' {
            self.skip_braces();
        } else if self.peek(0) == '\'' {
            self.word();
        }
        false
    }

    fn brackets(&mut self) {
        self.take();
        self.list();
        self.take();
    }

    fn redirection(&mut self) {
        while "<>&".contains(self.peek(0)) {
            self.take();
        }
        while self.peek(0) == ' ' {
            self.take();
        }
        self.word();
    }

    fn skip_array(&mut self) {
        while self.at < self.text.len() && self.peek(0) != ')' {
            if self.peek(0).is_whitespace() || ";&|<>(".contains(self.peek(0)) {
                self.take();
            } else {
                self.word();
            }
        }
        self.take();
    }

    fn skip_braces(&mut self) {
        let mut depth = 0;
        while self.at < self.text.len() {
            match self.peek(0) {
                '$' if self.peek(1) == '(' => {
                    self.expansion();
                    continue;
                }
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            self.take();
            if depth == 0 {
                return;
            }
        }
    }

    /// Skips the pattern of a `case` with its bracket; does nothing before `esac`.
    fn skip_pattern(&mut self) {
        while self.peek(0).is_whitespace() {
            self.take();
        }
        if self.starts("esac") {
            return;
        }
        self.skip_until(")");
    }

    /// Skips past the next `end`, or up to it if it is the end of a line.
    fn skip_until(&mut self, end: &str) {
        while self.at < self.text.len() && !self.starts(end) {
            self.take();
        }
        if end != "\n" {
            self.at += end.len();
        }
    }

    fn skip_heredoc(&mut self, end: &str) {
        while self.at < self.text.len() {
            let mut line = String::new();
            while self.at < self.text.len() && self.peek(0) != '\n' {
                line.push(self.take());
            }
            self.take();
            if line.trim_start_matches('\t') == end {
                return;
            }
        }
    }
}
