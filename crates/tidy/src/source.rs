//! A source file split into code, comments and strings.
//!
//! Not a parser: it knows comments, strings, characters and braces, which is all that the rules
//! need. Every view has the same lines and byte offsets.

use std::ops::Range;

/// Stands in [`SourceFile::strings`] for the quotation marks around a string.
pub const STRING_END: char = '\u{1}';

/// One file of the repository.
pub struct SourceFile {
    /// Path from the repository's root, with `/`.
    pub path: String,
    /// As it is.
    pub text: String,
    /// Comments and the insides of strings and characters blanked.
    pub code: String,
    /// Everything but comments blanked.
    pub comments: String,
    /// Everything but the insides of strings blanked; between two, at least one [`STRING_END`].
    pub strings: String,
}

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub struct Function {
    /// Its identifier.
    pub name: String,
    /// Number of the line with `fn`, from 1.
    pub line: usize,
    /// From `fn` to the closing brace.
    pub length: usize,
}

impl SourceFile {
    /// The file at `path`, counted from the root, with its content.
    pub fn new(path: &str, text: &str) -> SourceFile {
        let mut source = SourceFile {
            path: path.to_owned(),
            text: text.to_owned(),
            code: text.to_owned(),
            comments: text.to_owned(),
            strings: String::new(),
        };
        if source.is_rust() {
            source.split();
        }
        source
    }

    /// Whether it is Rust, which alone has its views apart.
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Where `#[cfg(test)]` items stand, in bytes.
    pub fn test_items(&self) -> Vec<Range<usize>> {
        let mut ranges = Vec::new();
        let mut from = 0;
        while let Some(position) = self.code[from..].find("#[cfg(test)]") {
            let start = from + position;
            from = item_end(&self.code, start).unwrap_or(self.code.len());
            ranges.push(start..from);
        }
        ranges
    }

    /// The code without `#[cfg(test)]` items.
    pub fn shipped_code(&self) -> String {
        self.without_tests(&self.code)
    }

    /// Code and strings without `#[cfg(test)]` items and comments.
    pub fn shipped_text(&self) -> String {
        let view = |(text, comment): (u8, u8)| match comment {
            b' ' | b'\n' => text,
            _ => b' ',
        };
        let bytes = self.text.bytes().zip(self.comments.bytes());
        let bytes: Vec<u8> = bytes.map(view).collect();
        self.without_tests(&String::from_utf8_lossy(&bytes))
    }

    fn without_tests(&self, view: &str) -> String {
        let mut view = view.to_owned();
        for range in self.test_items() {
            let blank = blanked(&view[range.clone()]);
            view.replace_range(range, &blank);
        }
        view
    }

    /// Files that `#[cfg(test)] mod name;` of this file makes test code, without `.rs`.
    pub fn test_modules(&self) -> Vec<String> {
        let (folder, name) = self.path.rsplit_once('/').unwrap_or(("", &self.path));
        let below = match name {
            "mod.rs" | "lib.rs" | "main.rs" => folder,
            _ => self.path.trim_end_matches(".rs"),
        };
        let mut modules = Vec::new();
        for (at, _) in self.code.match_indices("#[cfg(test)]") {
            let Some(length) = self.code[at..].find(['{', ';']) else {
                continue;
            };
            let declared = &self.code[at..at + length];
            let module = declared.rsplit_once("mod ");
            let Some((_, module)) = module.filter(|_| self.code[at + length..].starts_with(';'))
            else {
                continue;
            };
            let path = self.text[at..at + length].split("#[path = \"").nth(1);
            modules.push(match path.and_then(|path| path.split(".rs\"").next()) {
                Some(path) => format!("{folder}/{path}"),
                None => format!("{below}/{}", module.trim()),
            });
        }
        modules
    }

    /// Fills the views.
    fn split(&mut self) {
        let (mut code, mut comments, mut strings) = (String::new(), String::new(), String::new());
        let mut kind = LexerState::Code;
        let mut remaining = self.text.as_str();
        while let Some(first) = remaining.chars().next() {
            let (next, taken) = step(kind, remaining, first);
            let piece = &remaining[..taken];
            let comment = |k| matches!(k, LexerState::LineComment | LexerState::BlockComment(_));
            let is_comment = comment(kind) || comment(next);
            let is_delimiter = kind != next && !is_comment;
            let is_code =
                kind == LexerState::Code && next == LexerState::Code && !piece.starts_with('\'');
            let is_string = kind != LexerState::Code && !is_comment && !is_delimiter;
            push(&mut code, piece, is_code || is_delimiter);
            push(&mut comments, piece, is_comment);
            if is_delimiter {
                strings.extend(std::iter::repeat_n(STRING_END, taken))
            } else {
                push(&mut strings, piece, is_string)
            }
            kind = next;
            remaining = &remaining[taken..];
        }
        (self.code, self.comments, self.strings) = (code, comments, strings);
    }

    /// Every function with a body.
    pub fn functions(&self) -> Vec<Function> {
        let mut functions = Vec::new();
        for at in words(&self.code, "fn") {
            let after_fn = self.code[at + 2..].trim_start();
            let name: String = after_fn
                .chars()
                .take_while(|&c| c.is_alphanumeric() || c == '_')
                .collect();
            // `fn(` is the type of a function.
            let Some(end) = item_end(&self.code, at).filter(|_| !name.is_empty()) else {
                continue;
            };
            if self.code[at..end].ends_with('}') {
                functions.push(Function {
                    name,
                    line: line_of(&self.code, at),
                    length: self.code[at..end].lines().count(),
                });
            }
        }
        functions
    }
}

/// Number of the line that holds `byte`, from 1.
pub fn line_of(text: &str, byte: usize) -> usize {
    text[..byte].matches('\n').count() + 1
}

/// Where `word` stands as a whole identifier.
pub fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word)
        .map(|(at, _)| at)
        .filter(move |&at| {
            !code[..at].ends_with(part) && !code[at + word.len()..].starts_with(part)
        })
}

/// End of the item that begins at `start`: behind its `;` or its closing brace.
fn item_end(code: &str, start: usize) -> Option<usize> {
    let mut depth = 0_i32;
    let mut inner = 0_i32;
    for (index, c) in code[start..].char_indices() {
        match c {
            '(' | '[' => inner += 1,
            ')' | ']' => inner -= 1,
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        let ends = (c == '}' && depth == 0) || (c == ';' && depth == 0 && inner == 0);
        if ends && inner == 0 {
            return Some(start + index + 1);
        }
    }
    None
}

/// Adds a piece to a view, as it is or blanked.
fn push(view: &mut String, piece: &str, is_kept: bool) {
    if is_kept {
        view.push_str(piece)
    } else {
        view.extend(piece.bytes().map(blank))
    }
}

fn blank(byte: u8) -> char {
    if byte == b'\n' { '\n' } else { ' ' }
}

/// As many bytes and lines of nothing, so that offsets hold in every view.
fn blanked(text: &str) -> String {
    text.bytes().map(blank).collect()
}

/// Kind of the next characters.
#[derive(Clone, Copy, PartialEq)]
enum LexerState {
    Code,
    LineComment,
    /// Depth of nesting.
    BlockComment(u32),
    Text,
    /// Number of `#`.
    RawText(usize),
}

/// The kind after the next piece, and the piece's length in bytes.
fn step(kind: LexerState, rest: &str, first: char) -> (LexerState, usize) {
    let width = first.len_utf8();
    match kind {
        LexerState::Code => from_code(rest, first),
        LexerState::LineComment if first == '\n' => (LexerState::Code, width),
        LexerState::LineComment => (kind, width),
        LexerState::BlockComment(depth) if rest.starts_with("/*") => {
            (LexerState::BlockComment(depth + 1), 2)
        }
        LexerState::BlockComment(1) if rest.starts_with("*/") => (LexerState::Code, 2),
        LexerState::BlockComment(depth) if rest.starts_with("*/") => {
            (LexerState::BlockComment(depth - 1), 2)
        }
        LexerState::BlockComment(_) => (kind, width),
        LexerState::Text if first == '\\' => (
            kind,
            width + rest[width..].chars().next().map_or(0, char::len_utf8),
        ),
        LexerState::Text if first == '"' => (LexerState::Code, width),
        LexerState::Text => (kind, width),
        LexerState::RawText(hashes) => {
            let end = format!("\"{}", "#".repeat(hashes));
            if rest.starts_with(&end) {
                (LexerState::Code, end.len())
            } else {
                (kind, width)
            }
        }
    }
}

fn from_code(rest: &str, first: char) -> (LexerState, usize) {
    if rest.starts_with("//") {
        return (LexerState::LineComment, 2);
    }
    if rest.starts_with("/*") {
        return (LexerState::BlockComment(1), 2);
    }
    if first == '"' {
        return (LexerState::Text, 1);
    }
    if let Some(raw) = rest.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            return (LexerState::RawText(hashes), hashes + 2);
        }
    }
    if first == '\'' {
        return (LexerState::Code, character(rest));
    }
    if first.is_alphanumeric() || first == '_' {
        // A whole word, so that the `r` of `for"` is no raw string.
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        return (LexerState::Code, end.unwrap_or(rest.len()));
    }
    (LexerState::Code, first.len_utf8())
}

/// Length of the character literal that `rest` begins with; 1 for the quote of a lifetime.
fn character(rest: &str) -> usize {
    let mut inside = rest[1..].char_indices();
    match inside.next() {
        Some((_, '\\')) => {
            inside.next();
            let close = inside.find(|&(_, c)| c == '\'');
            close.map_or(1, |(at, _)| at + 2)
        }
        Some((_, c)) if rest[1 + c.len_utf8()..].starts_with('\'') => c.len_utf8() + 2,
        _ => 1,
    }
}
