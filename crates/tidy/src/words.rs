//! Words that prose does not use: comments, documentation, strings of Rust, and Markdown.
//!
//! Quotations are free: text in quotation marks or backticks, block quotes and code blocks. The
//! list is `words.toml`.

use crate::source::{STRING_END, SourceFile, line_of, words};
use toml::Table;

/// A phrase to avoid.
pub struct AvoidedPhrase {
    /// Its words, each with its alternatives, in lower case.
    words: Vec<Vec<String>>,
    /// A sentence that contains it.
    pub sample: String,
    /// The sentence as it should be.
    pub instead: String,
}

/// An identifier to avoid.
pub struct AvoidedName {
    /// The identifier.
    pub name: String,
    /// A better one.
    pub instead: String,
}

/// All that is to be avoided.
pub struct AvoidedWords {
    /// In prose.
    pub phrases: Vec<AvoidedPhrase>,
    /// In code.
    pub names: Vec<AvoidedName>,
}

/// A word of prose.
struct ProseWord {
    /// In lower case.
    word: String,
    /// Its line, from 1.
    line: usize,
    /// Whether it follows the one before with nothing but space between.
    follows: bool,
}

impl AvoidedWords {
    /// The list of this repository.
    pub fn of_the_house() -> AvoidedWords {
        let table: Table = include_str!("../words.toml").parse().expect("valid TOML");
        let rows = |kind: &str| table[kind].as_array().expect("rows").clone();
        let text = |row: &toml::Value, key: &str| row[key].as_str().expect("text").to_owned();
        let phrase = |row: toml::Value| AvoidedPhrase {
            words: alternatives(&text(&row, "phrase")),
            sample: text(&row, "sample"),
            instead: text(&row, "instead"),
        };
        let name = |row: toml::Value| AvoidedName {
            name: text(&row, "name"),
            instead: text(&row, "instead"),
        };
        AvoidedWords {
            phrases: rows("word").into_iter().map(phrase).collect(),
            names: rows("name").into_iter().map(name).collect(),
        }
    }

    /// Every offence of a file, in order of lines.
    pub fn offences(&self, source: &SourceFile) -> Vec<String> {
        let mut offences: Vec<(usize, String)> = Vec::new();
        for prose in prose(source) {
            let tokens = tokens(&prose);
            for index in 0..tokens.len() {
                for phrase in self
                    .phrases
                    .iter()
                    .filter(|p| p.stands_at(&tokens[index..]))
                {
                    let matched = &tokens[index..index + phrase.words.len()];
                    let matched_words: Vec<&str> =
                        matched.iter().map(|token| token.word.as_str()).collect();
                    let example = format!("not \"{}\" but \"{}\"", phrase.sample, phrase.instead);
                    offences.push((
                        tokens[index].line,
                        format!("`{}`: {example}", matched_words.join(" ")),
                    ));
                }
            }
        }
        if source.is_rust() {
            for name in &self.names {
                let hits = words(&source.code, &name.name);
                let message = format!("`{}` as a name: say `{}`", name.name, name.instead);
                offences.extend(hits.map(|byte| (line_of(&source.code, byte), message.clone())));
            }
        }
        offences.sort();
        let row = |(line, what)| format!("{}:{line}: {what}", source.path);
        offences.into_iter().map(row).collect()
    }
}

fn alternatives(phrase: &str) -> Vec<Vec<String>> {
    let words = phrase.split_whitespace();
    words
        .map(|word| word.split('|').map(str::to_owned).collect())
        .collect()
}

impl AvoidedPhrase {
    fn stands_at(&self, tokens: &[ProseWord]) -> bool {
        let mut pairs = self.words.iter().zip(tokens).enumerate();
        tokens.len() >= self.words.len()
            && pairs.all(|(n, (word, t))| word.contains(&t.word) && (n == 0 || t.follows))
    }
}

/// The parts of a file that are prose, with the file's lines.
fn prose(source: &SourceFile) -> Vec<String> {
    if source.is_rust() {
        let comments = source.comments.lines().map(without_marker);
        let comments = comments.collect::<Vec<_>>().join("\n");
        let strings = source.strings.replace("\\n", "  ").replace("\\\n", " \n");
        return vec![unquoted(&comments), unquoted(&strings)];
    }
    if source.path.ends_with(".md") {
        vec![unquoted(&source.text)]
    } else {
        Vec::new()
    }
}

/// A line of a comment without the signs that make it one.
fn without_marker(line: &str) -> &str {
    let line = line.trim_start();
    let line = line.trim_start_matches(['/', '!', '*']);
    line.trim_end_matches("*/")
}

/// `text` with code, block quotes and quoted words blanked, line by line the same.
fn unquoted(text: &str) -> String {
    let mut lines = Vec::new();
    let mut fence = None;
    for line in text.lines() {
        let start = line.trim_start();
        let mark = ["```", "~~~"]
            .into_iter()
            .find(|mark| start.starts_with(mark));
        let is_code = fence.is_some() || mark.is_some();
        fence = match (fence, mark) {
            (None, mark) => mark,
            (open, mark) if open == mark => None,
            (open, _) => open,
        };
        let is_quote = start.starts_with("> ") || start == ">";
        lines.push(if is_code || is_quote { "" } else { line });
    }
    let mut text = lines.join("\n");
    for (open, close) in [('`', '`'), ('"', '"'), ('“', '”')] {
        text = blanked_between(&text, open, close);
    }
    text
}

/// Blanks text between marks that stand in one paragraph or string.
fn blanked_between(text: &str, open: char, close: char) -> String {
    let mut output = String::new();
    let mut remaining = text;
    while let Some(position) = remaining.find(open) {
        let (before, quoted) = remaining.split_at(position);
        let inside = &quoted[open.len_utf8()..];
        let end = inside.find(close).filter(|&end| {
            let inside = &inside[..end];
            !inside.contains(STRING_END) && !inside.lines().skip(1).any(|l| l.trim().is_empty())
        });
        let length = open.len_utf8() + end.map_or(0, |end| end + close.len_utf8());
        let blank = |c: char| if c == '\n' { '\n' } else { STRING_END };
        output.push_str(before);
        output.extend(quoted[..length].chars().map(blank));
        remaining = &quoted[length..];
    }
    output.push_str(remaining);
    output
}

fn tokens(prose: &str) -> Vec<ProseWord> {
    let mut prose_words: Vec<ProseWord> = Vec::new();
    let mut follows = false;
    for (number, line) in prose.split('\n').enumerate() {
        follows &= !line.trim().is_empty();
        let part = |c: char| c.is_alphanumeric() || "-'’_".contains(c);
        let is_space = |text: &str| text.chars().all(|c| c.is_whitespace() || c == '*');
        let mut remaining = line;
        while let Some(start) = remaining.find(part) {
            let end = remaining[start..].find(|c| !part(c));
            let end = end.map_or(remaining.len(), |end| start + end);
            prose_words.push(ProseWord {
                word: remaining[start..end].to_lowercase(),
                line: number + 1,
                follows: follows && is_space(&remaining[..start]),
            });
            follows = true;
            remaining = &remaining[end..];
        }
        follows &= is_space(remaining);
    }
    prose_words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        AvoidedWords::of_the_house()
            .offences(&SourceFile::new(path, text))
            .len()
    }

    #[test]
    fn every_phrase_is_caught_and_its_replacement_is_not() {
        let list = AvoidedWords::of_the_house();
        assert!(list.phrases.len() >= 10);
        for phrase in &list.phrases {
            assert_eq!(count("a.md", &phrase.sample), 1, "{}", phrase.sample);
            assert_eq!(count("a.rs", &format!("/// {}", phrase.sample)), 1);
            assert_eq!(count("a.rs", &format!("f(\"{}\");", phrase.sample)), 1);
            assert_eq!(count("a.md", &phrase.instead), 0, "{}", phrase.instead);
        }
        for name in &list.names {
            assert_eq!(count("a.rs", &format!("struct {};", name.name)), 1);
            assert_eq!(count("a.rs", &format!("// I {}.", name.name)), 0);
            assert_eq!(count("a.rs", &format!("struct {};", name.instead)), 0);
        }
    }

    #[test]
    fn quotations_are_free() {
        let list = AvoidedWords::of_the_house();
        let sample = &list.phrases[0].sample;
        let free = [
            format!("He said: \"{sample}\""),
            format!("He said: “{sample}”"),
            format!("> {sample}"),
            format!("```console\n{sample}\n```"),
            format!("a `{sample}` b"),
            format!("\"It was\n{sample}\" he said"),
        ];
        for text in free {
            assert_eq!(count("a.md", &text), 0, "{text}");
            let comment = text.replace('\n', "\n// ");
            assert_eq!(count("a.rs", &format!("// {comment}")), 0, "{text}");
        }
        assert_eq!(count("a.md", &format!("5\" wide\n\n{sample} \"")), 1);
        assert_eq!(
            count("a.rs", &format!("f(\"a \\\" b\", \"{sample} \\\"\");")),
            1
        );
    }

    #[test]
    fn a_phrase_goes_over_lines_and_not_over_stops() {
        let [first, second] = ["so", "many"];
        assert_eq!(
            count("a.rs", &format!("    /// is {first}\n    /// {second} as")),
            1
        );
        assert_eq!(count("a.rs", &format!("f(\"{first} \\\n  {second}\")")), 1);
        assert_eq!(count("a.md", &format!("It is {first}. {second} say")), 0);
        assert_eq!(count("a.md", &format!("It is {first}\n\n{second} say")), 0);
        assert_eq!(count("a.md", &format!("It is {first},\n{second} say")), 0);
        assert_eq!(count("a.rs", &format!("f(\"{first}\", \"{second}\")")), 0);
        assert_eq!(count("a.rs", &format!("let {first} = {second};")), 0);
        assert_eq!(count("a.md", "a long-lived drive"), 0);
    }
}
