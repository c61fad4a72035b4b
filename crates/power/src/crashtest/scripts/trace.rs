//! Reading what strace writes of calls that make names and sync.
//!
//! A line is `PID SECONDS CALL(ARGUMENTS) = RESULT`; a call that others interrupt is on two lines,
//! `... <unfinished ...>` and `PID SECONDS <... CALL resumed>...`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// A directory, if the call names one, and a path in it.
pub type CallPath = (Option<PathBuf>, PathBuf);

/// A call that succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameCall {
    /// A name was made, or opened with the right to make it.
    Make(CallPath),
    Remove(CallPath),
    Rename(CallPath, CallPath),
    /// fsync or fdatasync of an open file or directory.
    Sync(PathBuf),
    /// sync, or syncfs of the file system of an open file.
    SyncAll(Option<PathBuf>),
    /// The process goes to a directory.
    Enter(CallPath),
    /// It has a new child.
    Fork(u64),
}

/// A call, by whom and when.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceEvent {
    pub process: u64,
    /// When it began, in seconds of the wall clock.
    pub begun_s: f64,
    pub call: NameCall,
}

/// The calls of a trace that succeeded, in the order in which they ended.
pub fn events(trace: &str) -> Vec<TraceEvent> {
    let mut open: BTreeMap<u64, (f64, String)> = BTreeMap::new();
    let mut events = Vec::new();
    for line in trace.lines() {
        let Some((process, seconds, text)) = split(line) else {
            continue;
        };
        let (begun_s, text) = if let Some(start) = text.strip_suffix("<unfinished ...>") {
            open.insert(process, (seconds, start.trim_end().to_owned()));
            continue;
        } else if let Some((_, rest)) = text
            .strip_prefix("<... ")
            .and_then(|rest| rest.split_once(" resumed>"))
        {
            let Some((begun_s, start)) = open.remove(&process) else {
                continue;
            };
            (begun_s, format!("{start}{rest}"))
        } else {
            (seconds, text.to_owned())
        };
        if let Some(call) = call(&text) {
            events.push(TraceEvent {
                process,
                begun_s,
                call,
            });
        }
    }
    events
}

fn split(line: &str) -> Option<(u64, f64, &str)> {
    let (process, rest) = line.split_once(' ')?;
    let (seconds, text) = rest.trim_start().split_once(' ')?;
    Some((process.parse().ok()?, seconds.parse().ok()?, text))
}

/// An argument as strace prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Argument {
    /// A string in quotes.
    Text(PathBuf),
    /// A descriptor, with the path that it stands for.
    Descriptor(PathBuf),
    Other(String),
}

fn call(text: &str) -> Option<NameCall> {
    let (name, rest) = text.split_once('(')?;
    let (arguments, result) = arguments(rest)?;
    let (number, path) = result_of(&result)?;
    if number < 0 {
        return None;
    }
    let mut words = arguments.iter();
    match name {
        "open" | "openat" | "openat2" | "creat" => {
            let has = |flag: &str| {
                let is_it =
                    |word: &Argument| matches!(word, Argument::Other(w) if w.contains(flag));
                arguments.iter().any(is_it)
            };
            // An unnamed file has no name to lose.
            let is_new = (name == "creat" || has("O_CREAT")) && !has("O_TMPFILE");
            is_new.then(|| path.map(|path| NameCall::Make((None, path))))?
        }
        "mkdir" | "mkdirat" => next_path(&mut words).map(NameCall::Make),
        "symlink" | "symlinkat" => {
            words.next();
            next_path(&mut words).map(NameCall::Make)
        }
        "link" | "linkat" => {
            next_path(&mut words)?;
            next_path(&mut words).map(NameCall::Make)
        }
        "unlink" | "unlinkat" | "rmdir" => next_path(&mut words).map(NameCall::Remove),
        "rename" | "renameat" | "renameat2" => {
            let from = next_path(&mut words)?;
            Some(NameCall::Rename(from, next_path(&mut words)?))
        }
        "fsync" | "fdatasync" => match words.next()? {
            Argument::Descriptor(path) => Some(NameCall::Sync(path.clone())),
            _ => None,
        },
        "sync" => Some(NameCall::SyncAll(None)),
        "syncfs" => match words.next()? {
            Argument::Descriptor(path) => Some(NameCall::SyncAll(Some(path.clone()))),
            _ => None,
        },
        "chdir" => next_path(&mut words).map(NameCall::Enter),
        "fchdir" => match words.next()? {
            Argument::Descriptor(path) => Some(NameCall::Enter((None, path.clone()))),
            _ => None,
        },
        "fork" | "vfork" | "clone" | "clone3" => {
            (number > 0).then(|| NameCall::Fork(number.unsigned_abs()))
        }
        _ => None,
    }
}

/// The next path of a call: a string, or a descriptor and a string.
fn next_path<'a>(words: &mut impl Iterator<Item = &'a Argument>) -> Option<CallPath> {
    match words.next()? {
        Argument::Text(path) => Some((None, path.clone())),
        Argument::Descriptor(base) => match words.next()? {
            Argument::Text(path) => Some((Some(base.clone()), path.clone())),
            _ => None,
        },
        Argument::Other(_) => match words.next()? {
            // A directory whose path strace does not know.
            Argument::Text(path) => Some((None, path.clone())),
            _ => None,
        },
    }
}

/// `3</path>`, `0` or `-1 ENOENT (...)`.
fn result_of(text: &str) -> Option<(i64, Option<PathBuf>)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '-')
        .unwrap_or(text.len());
    let number = text[..end].parse().ok()?;
    Some((number, described(&text[end..])))
}

/// The path in `</path>`, possibly followed by more.
fn described(text: &str) -> Option<PathBuf> {
    let inner = text.strip_prefix('<')?;
    let end = inner.rfind('>')?;
    inner.starts_with('/').then(|| plain(&inner[..end]))
}

/// The arguments of a call, and the text of its result.
fn arguments(text: &str) -> Option<(Vec<Argument>, String)> {
    let bytes = text.as_bytes();
    let (mut quoted, mut depth, mut start) = (false, 0_i32, 0);
    let mut words = Vec::new();
    let mut index = 0;
    while index < bytes.len() {
        match bytes[index] {
            b'\\' => index += 1,
            b'"' if depth == 0 || quoted => quoted = !quoted,
            _ if quoted => {}
            b'{' | b'[' | b'<' => depth += 1,
            b'}' | b']' | b'>' => depth -= 1,
            b',' if depth == 0 => {
                words.push(argument(text[start..index].trim()));
                start = index + 1;
            }
            b')' if depth == 0 => {
                words.push(argument(text[start..index].trim()));
                let result = text[index + 1..].trim_start().strip_prefix('=')?;
                return Some((words, result.trim().to_owned()));
            }
            _ => {}
        }
        index += 1;
    }
    None
}

fn argument(text: &str) -> Argument {
    if let Some(inner) = text.strip_prefix('"') {
        return Argument::Text(plain(inner.trim_end_matches('.').trim_end_matches('"')));
    }
    match text.find('<').and_then(|at| described(&text[at..])) {
        Some(path) => Argument::Descriptor(path),
        None => Argument::Other(text.to_owned()),
    }
}

/// A path without strace's backslashes.
fn plain(text: &str) -> PathBuf {
    let mut bytes = Vec::new();
    let mut rest = text.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(b'v') => bytes.push(11),
            Some(b'f') => bytes.push(12),
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    match rest.next_if(|next| (b'0'..=b'7').contains(next)) {
                        Some(next) => value = value * 8 + u32::from(next - b'0'),
                        None => break,
                    }
                }
                bytes.push(value as u8);
            }
            Some(plain) => bytes.push(plain),
            None => {}
        }
    }
    OsString::from_vec(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_strace_are_read() {
        let made = r#"7 10.5 openat(AT_FDCWD</data>, "a, b\"c\303\244", O_WRONLY|O_CREAT) = \
                      3</data/a, b"c\303\244>"#;
        let made = made.replace("\\\n                      ", "");
        let more = r#"
7 10.6 openat(AT_FDCWD</data>, "x", O_RDONLY) = 3</data/x>
7 10.7 fdatasync(3</data/x>) = 0
7 10.8 openat(AT_FDCWD</data>, "y", O_RDONLY|O_CREAT) = -1 ENOENT (No such file or directory)
7 11.0 rename("a", "sub/b") = 0
7 11.1 renameat2(AT_FDCWD</data>, "c", 5</data/d>, "e", RENAME_NOREPLACE) = 0
7 11.2 fsync(4</data> <unfinished ...>
8 11.3 mkdir("sub", 0777) = 0
7 11.4 <... fsync resumed>) = 0
7 11.5 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD, child_tidptr=0x7f) = 9
7 11.6 sync() = 0
7 11.7 chdir("/data/sub") = 0
"#;
        let found = events(&format!("{made}{more}"));
        let calls: Vec<&NameCall> = found.iter().map(|event| &event.call).collect();
        let here = |path: &str| (None, PathBuf::from(path));
        let at = |base: &str, path: &str| (Some(PathBuf::from(base)), PathBuf::from(path));
        let expected = [
            NameCall::Make(here("/data/a, b\"cä")),
            NameCall::Sync("/data/x".into()),
            NameCall::Rename(here("a"), here("sub/b")),
            NameCall::Rename(at("/data", "c"), at("/data/d", "e")),
            NameCall::Make(here("sub")),
            NameCall::Sync("/data".into()),
            NameCall::Fork(9),
            NameCall::SyncAll(None),
            NameCall::Enter(here("/data/sub")),
        ];
        assert_eq!(calls, expected.iter().collect::<Vec<_>>());
        // A call that was interrupted began when it began.
        assert_eq!(found[5].begun_s, 11.2);
    }
}
